import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { positionOf } from "../../../src/decision/decide/rollout-arm.ts";
import { answerOf } from "../../support/answer-of.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { sendHttp2 } from "../../support/http2-request.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";

const setOf = (version: string, condition: string) =>
  `version: ${version}\npolicies:\n  - { resource: GET /arm, condition: "${condition}" }\n`;
const ADDRESSES = Array.from({ length: 24 }, (_, n) => `198.51.100.${n + 1}`);
const isNew = (address: string, percentage: number) =>
  positionOf("default", ["client_ip", address]) < percentage;

describe("end to end: a rollout that is attacked", function () {
  this.timeout(240_000);
  let directory: string;
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  const left: number[] = [];

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-attacked-"));
    await writeFile(join(directory, "default.yaml"), setOf("candidate", "false"));
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
  });
  afterEach(async () => {
    await gateway.stop();
    endAll();
    await rm(join(directory, "state.json"), { force: true });
  });
  after(async () => {
    await Promise.all([upstream.close(), issuer.close()]);
    await rm(directory, { recursive: true });
  });

  /** What a gateway that was killed may have left running. */
  function endAll(): void {
    for (const pid of left.splice(0))
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // it has ended by itself
      }
  }
  async function start(rollout: object, security: Readonly<Record<string, unknown>> = {}): Promise<void> {
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": setOf("stable", "true") },
      nodes: 2,
      config: {
        gateway: { listen_port: 0, backend: upstream.url, cluster: { nodes: 2 }, ...security },
        rollout: {
          ...{ candidate: directory, mode: "enforce", sticky_by: "client_ip", guard: { enabled: false } },
          ...rollout,
        },
      },
    });
  }
  const TRUSTING = { trusted_proxies: ["127.0.0.1/32"] };
  /** Whether the candidate decides, over HTTP/1.1 and HTTP/2. */
  async function decides(headers: Readonly<Record<string, string>>): Promise<boolean> {
    const agent = new Agent();
    const one = await answerOf(gateway.port, agent, headers, "/arm");
    const pseudo = { ":method": "GET", ":path": "/arm", ":authority": "app.test", ":scheme": "http" };
    const two = (await sendHttp2(gateway.url, { ...pseudo, ...headers })).status;
    assert.equal(one, two, JSON.stringify(headers));
    assert.ok(one === 200 || one === 403, String(one));
    return one === 403;
  }

  it("lets nobody choose the set by what only proxies may say", async () => {
    await start({ percentage: 50 });
    const own = isNew("127.0.0.1", 50);
    for (const address of ADDRESSES.slice(0, 6))
      for (const headers of [
        { "x-forwarded-for": address },
        { "x-forwarded-for": `${address}, ${address}` },
        { "x-real-ip": address },
        { forwarded: `for=${address}` },
        { "x-envoy-external-address": address },
      ])
        assert.equal(await decides(headers), own, JSON.stringify(headers));
  });

  it("goes by the client's address behind a trusted proxy, whatever the client wrote in front", async () => {
    await start({ percentage: 50 }, TRUSTING);
    const seen = new Set<boolean>();
    for (const address of ADDRESSES.slice(0, 12)) {
      const expected = isNew(address, 50);
      seen.add(expected);
      assert.equal(await decides({ "x-forwarded-for": address }), expected, address);
      for (const forged of ["198.51.100.1", "198.51.100.2", "127.0.0.1, 198.51.100.3"])
        assert.equal(await decides({ "x-forwarded-for": `${forged}, ${address}` }), expected, address);
      assert.equal(await decides({ "x-forwarded-for": `::ffff:${address}` }), expected, address);
    }
    assert.equal(seen.size, 2);
  });

  it("moves nobody when workers are killed", async () => {
    await start({ percentage: 50 }, TRUSTING);
    let running = true;
    const wrong: string[] = [];
    let answered = 0;
    const load = ADDRESSES.slice(0, 8).map(async (address) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (running) {
        const answer = await answerOf(gateway.port, agent, { "x-forwarded-for": address }, "/arm");
        // a worker that is killed takes what it was deciding with it
        if (answer === 503) continue;
        answered += 1;
        if (answer !== (isNew(address, 50) ? 403 : 200)) wrong.push(`${address}: ${answer}`);
      }
      agent.destroy();
    });
    try {
      for (let round = 0; round < 3; round += 1) {
        const { workers } = await gateway.children();
        const [victim] = workers;
        assert.ok(victim !== undefined);
        process.kill(victim, "SIGKILL");
        const before = answered;
        await eventually("another worker, and answers", async () => {
          const now = (await gateway.children()).workers;
          return now.length === 2 && !now.includes(victim) && answered > before + 50;
        });
      }
    } finally {
      running = false;
      await Promise.all(load);
    }
    assert.deepEqual(wrong, []);
  });

  it("takes nobody back when the gateway is killed in the middle of a step", async () => {
    const rollout = { steps: [30, 60], step_pause: "1s", state_file: join(directory, "state.json") };
    await start(rollout, TRUSTING);
    const seen = new Set<string>();
    let running = true;
    const agent = new Agent({ keepAlive: true });
    const load = ADDRESSES.map(async (address) => {
      while (running)
        if ((await answerOf(gateway.port, agent, { "x-forwarded-for": address }, "/arm")) === 403)
          seen.add(address);
    });
    try {
      // it says so before the workers change
      await eventually("the next step", async () =>
        (await readFile(join(directory, "state.json"), "utf8")).includes('"step":1'),
      );
      const { envoy, workers } = await gateway.children();
      left.push(...envoy, ...workers);
      gateway.process.kill("SIGKILL");
    } finally {
      running = false;
      await Promise.all(load);
      agent.destroy();
    }
    endAll();
    await gateway.stop();
    await start({ ...rollout, step_pause: "1h" }, TRUSTING);
    for (const address of ADDRESSES) {
      const isCandidate = await decides({ "x-forwarded-for": address });
      assert.equal(isCandidate, isNew(address, 60), address);
      assert.ok(isCandidate || !seen.has(address), `${address} was taken back`);
    }
  });
});
