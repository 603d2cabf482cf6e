import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Decide } from "../../../src/decision/decide/decide.ts";
import { createSnapshot, digestOf } from "../../../src/decision/policies/snapshot.ts";
import { accessOf, compileText, deciderOf, outcome, UNUSED_VERIFIER } from "../../decision/support.ts";
import {
  apiClient,
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type AuditLine, type RunningGateway } from "../../support/gateway.ts";
import { networkTo, type Network } from "../../support/partition.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";

const SET = "main";
const VERSIONS = 100;
/** Each version permits one of these paths. */
const PATHS = 5;
const permits = (version: number, path: number) => version % PATHS === path;
const textOf = (version: number) => `policy_set: ${SET}
version: v${version}
policies:
  - resource: GET /only/{n}
    condition: path.n == "${version % PATHS}"
`;

describe("end to end: three gateways, and a hundred versions under load", function () {
  // a hundred versions are compiled four times each, beside the load
  this.timeout(1_800_000);
  let plane: ControlPlaneProcess;
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let network: Network;
  const started: RunningGateway[] = [];
  const versionOf = new Map(
    Array.from({ length: VERSIONS + 1 }, (_, version) => [
      digestOf(compileText(textOf(version), SET)),
      version,
    ]),
  );

  before(async () => {
    plane = await startControlPlaneProcess({
      config: { api: { ...PRODUCTION_ONLY, rate_limits: { management: 10_000 } } },
    });
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    network = await networkTo(plane.url.production);
  });
  after(async () => {
    for (const gateway of started) gateway.process.kill("SIGKILL");
    await network.close();
    await Promise.all([upstream.close(), issuer.close()]);
    await plane.stop();
  });

  it("one is cut off, one is killed: each record names the digest that explains its verdict, and all converge", async () => {
    const api = apiClient(plane.url.production, await plane.createKey("production", "full_access"));
    const key = await plane.createKey("production", "gateway");
    const publish = async (version: number) => {
      const files = [{ name: "main.yaml", text: textOf(version) }];
      const { status, body } = await api("POST", "/policy-sets", { name: SET, files, activate: true });
      assert.equal(status, 201, JSON.stringify(body));
    };
    const start = async (id: string, url: string) => {
      const gateway = await startGateway({
        backend: upstream.url,
        issuer,
        policies: {},
        nodes: id === "one" ? 2 : 1,
        config: {
          gateway: { cluster: { id, nodes: id === "one" ? 2 : 1 } },
          policies: { source: "control_plane", policy_set: SET, refresh_interval: "1s" },
          control_plane: { url, api_key: key },
        },
      });
      started.push(gateway);
      return gateway;
    };
    await publish(0);
    const [one, two, three] = await Promise.all([
      start("one", plane.url.production),
      start("two", network.url),
      start("three", plane.url.production),
    ]);

    const load = startLoad();
    for (const gateway of [one, two, three]) load.on(gateway);
    let cut = 0;
    for (let version = 1; version <= VERSIONS; version += 1) {
      await publish(version);
      // however fast versions are published, some of them decide at every gateway
      if (version % 5 === 0 && version <= 30) {
        const digest = digestOf(compileText(textOf(version), SET));
        for (const gateway of [one, two, three])
          await eventually("it has this version", async () => (await digestInForce(gateway)) === digest);
        await load.answeredByAll();
      }
      if (version === 30) {
        network.cut("silent");
        cut = version;
      }
      if (version === 60) {
        load.off(three);
        await killWhole(three);
      }
    }
    // the one that is cut off has gone on with what it knew
    const heard = versionOf.get(await digestInForce(two)) ?? -1;
    assert.ok(heard <= cut, `${heard} of ${cut}`);
    network.mend();
    const again = await start("three", plane.url.production);
    load.on(again);
    const last = digestOf(compileText(textOf(VERSIONS), SET));
    for (const gateway of [one, two, again])
      await eventually("it has the last version", async () => (await digestInForce(gateway)) === last);
    const { answers, failures } = await load.end();
    assert.deepEqual(failures, []);

    for (const gateway of [one, two, three, again]) {
      const mine = answers.filter((answer) => answer.gateway === gateway);
      assert.ok(mine.length > 0);
      const records = await eventually("each answer has its record", async () => {
        const found = new Map((await recordsOf(gateway)).map((record) => [record["request_id"], record]));
        return mine.every(({ requestId }) => found.has(requestId)) && found;
      });
      // also of requests that got no answer because the gateway was killed: each is decided again by the set that it names
      for (const record of records.values())
        assert.equal(
          `${record.decision} ${record.reason}`,
          await replayed(record),
          `${record.resource} by ${String(record["policy_set"])}`,
        );
      const seen = new Set<number>();
      for (const { requestId, path, status } of mine) {
        const record = records.get(requestId);
        const version = versionOf.get(String(record?.["policy_digest"]));
        assert.ok(version !== undefined, `no version has the digest ${String(record?.["policy_digest"])}`);
        seen.add(version);
        const expected = permits(version, path);
        assert.deepEqual(
          [record?.decision, status],
          expected ? ["ALLOW", 200] : ["DENY", 403],
          `/only/${path} by version ${version}`,
        );
      }
      if (gateway !== again) assert.ok(seen.size > 5, `only ${seen.size} versions decided`);
    }
  });

  const deciders = new Map<string, Decide>();
  async function replayed({ resource, policy_digest: digest }: AuditLine): Promise<string> {
    const version = versionOf.get(String(digest));
    assert.ok(version !== undefined, `no version has the digest ${String(digest)}`);
    let decide = deciders.get(String(digest));
    if (decide === undefined) {
      decide = deciderOf(createSnapshot(compileText(textOf(version), SET), { caseSensitive: false }), {
        verifier: UNUSED_VERIFIER,
      });
      deciders.set(String(digest), decide);
    }
    return outcome(await decide(accessOf({ path: resource })));
  }

  async function digestInForce({ adminUrl }: RunningGateway): Promise<string> {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    return /^gatehouse_policy_set_info\{[^}]*digest="(\w+)"/m.exec(text)?.[1] ?? "";
  }
});

/** Records of decisions; the last line of a gateway that was killed may be half. */
async function recordsOf({ directory }: RunningGateway): Promise<AuditLine[]> {
  const text = await readFile(join(directory, "audit.log"), "utf8");
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AuditLine)
    .filter((record) => record["event"] === undefined);
}

/** As when its machine loses power. */
async function killWhole(gateway: RunningGateway): Promise<void> {
  const { envoy, workers } = await gateway.children();
  gateway.process.kill("SIGKILL");
  for (const pid of [...envoy, ...workers])
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended with its supervisor
    }
}

interface Answered {
  readonly gateway: RunningGateway;
  readonly requestId: string;
  readonly path: number;
  readonly status: number;
}

/** Requests at once at each gateway. */
const LOOPS = 3;

/** Asks each gateway for one path after the other, over three connections. */
function startLoad() {
  const answers: Answered[] = [];
  const failures: string[] = [];
  const running = new Map<RunningGateway, { readonly tasks: Promise<void>[]; stopped: boolean }>();
  const ask = (gateway: RunningGateway, agent: Agent, path: number) =>
    new Promise<Answered>((resolve, reject) => {
      get(`${gateway.url}/only/${path}`, { agent }, (response) => {
        response.resume();
        const requestId = String(response.headers["x-request-id"]);
        resolve({ gateway, requestId, path, status: response.statusCode ?? 0 });
      }).on("error", reject);
    });
  return {
    on(gateway: RunningGateway) {
      const state = { tasks: [] as Promise<void>[], stopped: false };
      const agent = new Agent({ keepAlive: true });
      const isOver = () => state.stopped;
      const loop = async (from: number) => {
        for (let n = from; !isOver(); n += 1) {
          try {
            answers.push(await ask(gateway, agent, n % PATHS));
          } catch (error) {
            // the one that is killed may have a request under way
            if (!isOver()) failures.push(String(error));
          }
          await delay(10);
        }
        agent.destroy();
      };
      for (let n = 0; n < LOOPS; n += 1) state.tasks.push(loop(n));
      running.set(gateway, state);
    },
    off(gateway: RunningGateway) {
      const state = running.get(gateway);
      if (state) state.stopped = true;
    },
    /** Waits until each gateway has answered a request that was sent after this call. */
    async answeredByAll() {
      const count = (gateway: RunningGateway) =>
        answers.filter((answer) => answer.gateway === gateway).length;
      // those under way do not count
      const enough = [...running.keys()].map((gateway) => [gateway, count(gateway) + LOOPS] as const);
      for (const [gateway, before] of enough)
        await eventually("it has answered", () => count(gateway) > before);
    },
    async end() {
      for (const state of running.values()) state.stopped = true;
      await Promise.all([...running.values()].flatMap(({ tasks }) => tasks));
      return { answers, failures };
    },
  };
}
