import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const POLICIES = `
policies:
  - resource: "GET /things/{id}"
    condition: user.role == "reader"
  - resource: "GET /kept/{id}"
    condition: user.role == "reader"
    audit: required
`;

describe("end to end: processes that are killed under load", () => {
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let good: string;
  let bad: string;

  beforeEach(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": POLICIES },
      nodes: 2,
      // shorter than `ask` waits
      config: { authz: { decision_timeout: "5s" } },
    });
    [good, bad] = await Promise.all([issuer.token({ role: "reader" }), issuer.token({ role: "other" })]);
  });
  afterEach(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const ask = async (token: string | undefined, path: string): Promise<number> => {
    try {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const answer = await fetch(`${gateway.url}${path}`, { headers, signal: AbortSignal.timeout(30_000) });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 0; // no answer at all: the connection broke
    }
  };

  /** Requests of three kinds, four at a time, for as long as `during` takes; then what was answered. */
  const underLoad = async (during: () => Promise<void>) => {
    const statuses = { good: new Set<number>(), denied: new Set<number>() };
    let running = true;
    const client = async () => {
      while (running) {
        statuses.good.add(await ask(good, "/things/good"));
        statuses.denied.add(await ask(bad, "/things/denied"));
        statuses.denied.add(await ask(undefined, "/things/denied"));
        statuses.denied.add(await ask(good, "/nowhere/denied"));
      }
    };
    const clients = Array.from({ length: 4 }, client);
    try {
      await during();
    } finally {
      running = false;
      await Promise.all(clients);
    }
    // an allow, an outage, or no answer at all; a denial, an outage, or no answer at all
    for (const status of statuses.good) assert.ok([200, 503, 0].includes(status), `allowed: ${status}`);
    for (const status of statuses.denied) assert.ok([401, 403, 503, 0].includes(status), `denied: ${status}`);
    assert.equal(upstream.seen.filter(({ url }) => url.includes("denied")).length, 0);
    return statuses;
  };
  const recovered = () =>
    eventually("the gateway's recovery", async () => (await ask(good, "/things/good")) === 200);

  it("a worker: nothing gets through, and it comes back", async () => {
    await underLoad(async () => {
      for (let round = 0; round < 3; round += 1) {
        await delay(150);
        const { workers } = await gateway.children();
        for (const pid of workers) process.kill(pid, "SIGKILL");
        await eventually("new workers", async () => {
          const now = (await gateway.children()).workers;
          return now.length === workers.length && now.every((pid) => !workers.includes(pid));
        });
        await recovered();
      }
    });
    assert.ok((await gateway.metric("gatehouse_process_restarts_total", { process: "worker" })) >= 3);
  });

  it("one worker at a time: what was forwarded has the record that it requires", async () => {
    const statuses = new Map<number, number>();
    let running = true;
    let sent = 0;
    const client = async () => {
      while (running) {
        const status = await ask(good, `/kept/${(sent += 1)}`);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const decided = (worker: string) =>
      gateway.metric("gatehouse_decisions_total", { worker, decision: "ALLOW" });
    const clients = Array.from({ length: 4 }, client);
    try {
      for (let round = 0; round < 4; round += 1) {
        await eventually(
          "checks on both workers",
          async () => (await decided("0")) > 0 && (await decided("1")) > 0,
        );
        const { workers } = await gateway.children();
        const victim = workers[round % workers.length] ?? 0;
        process.kill(victim, "SIGKILL");
        await eventually("a new worker", async () => {
          const now = (await gateway.children()).workers;
          return now.length === workers.length && !now.includes(victim);
        });
      }
      await eventually(
        "checks on both workers",
        async () => (await decided("0")) > 0 && (await decided("1")) > 0,
      );
    } finally {
      running = false;
      await Promise.all(clients);
    }
    const allowed = new Set(
      (await gateway.audit())
        .filter(({ decision }) => decision === "ALLOW")
        .map(({ request_id }) => request_id),
    );
    const forwarded = upstream.seen.map(({ headers }) => headers["x-request-id"]);
    assert.deepEqual(
      forwarded.filter((id) => !allowed.has(id)),
      [],
      "forwarded without a record",
    );
    for (const status of statuses.keys())
      assert.ok([200, 503].includes(status), JSON.stringify([...statuses]));
    // no successor took anything before it was ready
    const reasons = new Set((await gateway.audit()).map(({ reason }) => reason));
    assert.ok(!reasons.has("POLICY_NOT_READY"), [...reasons].join(" "));
  });

  it("Envoy: it comes back on the same port", async () => {
    const { envoy } = await gateway.children();
    assert.ok(envoy.length > 0);
    await underLoad(async () => {
      await delay(150);
      for (const pid of envoy) process.kill(pid, "SIGKILL");
      await eventually("a new Envoy", async () => {
        const now = (await gateway.children()).envoy;
        return now.length > 0 && now.every((pid) => !envoy.includes(pid));
      });
      await recovered();
    });
    assert.equal(await gateway.metric("gatehouse_process_restarts_total", { process: "envoy" }), 1);
  });

  it("workers that hang: 503 in time, never an allow", async () => {
    const { workers } = await gateway.children();
    for (const pid of workers) process.kill(pid, "SIGSTOP");
    try {
      assert.equal(await ask(good, "/things/good"), 503);
      assert.equal(upstream.seen.length, 0);
    } finally {
      for (const pid of workers) process.kill(pid, "SIGCONT");
    }
    await recovered();
  });

  it("the supervisor: nothing is left behind", async () => {
    const { envoy, workers } = await gateway.children();
    await underLoad(async () => {
      await delay(150);
      process.kill(gateway.process.pid!, "SIGKILL");
      await eventually("the end of all its processes", () =>
        [...envoy, ...workers].every((pid) => !alive(pid)),
      );
    });
    assert.equal(await ask(good, "/things/good"), 0);
  });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
