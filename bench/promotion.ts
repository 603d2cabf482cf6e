import { Agent } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { answerOf } from "../test/support/answer-of.ts";
import { apiClient, PRODUCTION_ONLY, startControlPlaneProcess } from "../test/support/control-plane.ts";
import { eventually } from "../test/support/eventually.ts";
import { startGateway, type RunningGateway } from "../test/support/gateway.ts";
import { startIssuer } from "../test/support/providers/issuer.ts";
import { effort, NODES } from "./effort.ts";
import { fixedAnswer, startBenchEnvoy } from "./envoy.ts";
import { policySetOf, requestPath } from "./rules.ts";
import { median } from "./statistics.ts";

interface Row {
  readonly change: string;
  readonly times: number;
  /** Until the first and the last of the gateways decides by it, from when the API is asked; medians, and the longest of all. */
  readonly first_ms: number;
  readonly last_ms: number;
  readonly longest_ms: number;
  /** Requests to the gateways meanwhile. */
  readonly requests: number;
  readonly failed: number;
  /** Answers by the former version after one by the later, at the same gateway. */
  readonly moved_back: number;
}

type Change = Omit<Row, "change" | "times" | "longest_ms">;

const SET = "bench";
const RULES = 1_000;
const GATEWAYS = 3;
const ROUNDS = effort(20);
/** Callers of each gateway: each asks again when it is answered, and pauses. */
const CALLERS = 2;
const PAUSE_MS = 10;
/** How long callers go on after the last gateway has followed. */
const AFTER_MS = 300;

/**
 * How soon a change of a rollout is in force everywhere: three gateways, with two workers each, follow a control plane that they share
 * the machine with. The candidate denies what callers ask for, so each answer tells which version gave it.
 */
export async function benchmarkPromotion(): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-bench-"));
  const plane = await startControlPlaneProcess({
    config: { api: { ...PRODUCTION_ONLY, rate_limits: { management: 100_000 } } },
  });
  const issuer = await startIssuer();
  const upstream = await startBenchEnvoy(directory, "upstream", fixedAnswer());
  const api = apiClient(plane.url.production, await plane.createKey("production", "full_access"));
  const gateways: RunningGateway[] = [];
  const changes = new Map<string, Change[]>();
  try {
    await publish("stable-0", policySetOf(RULES), true);
    const apiKey = await plane.createKey("production", "gateway");
    for (let n = 0; n < GATEWAYS; n += 1)
      gateways.push(
        await startGateway({
          ...{ backend: upstream.url, issuer, nodes: NODES, policies: {} },
          config: {
            gateway: { cluster: { id: `gateway-${n}`, nodes: GATEWAYS } },
            policies: { source: "control_plane", policy_set: SET },
            control_plane: { url: plane.url.production, api_key: apiKey },
          },
        }),
      );
    const claims = { role: "viewer", customer_id: "c-1", permissions: ["items:read"] };
    const token = await issuer.token({ ...claims, exp: Math.floor(Date.now() / 1000) + 3_600 });
    const headers = { authorization: `Bearer ${token}` };
    const ask = (gateway: RunningGateway, agent: Agent) =>
      answerOf(gateway.port, agent, headers, requestPath(RULES, "c-1"));

    const measure = async (change: string, to: 200 | 403, path: string) => {
      const agent = new Agent({ keepAlive: true });
      let asking = true;
      let [requests, failed, movedBack] = [0, 0, 0];
      const followed = new Map<RunningGateway, number>();
      const begin = performance.now();
      const callers = gateways.flatMap((gateway) =>
        Array.from({ length: CALLERS }, async () => {
          while (asking) {
            const sent = performance.now();
            const status = await ask(gateway, agent);
            requests += 1;
            if (status !== 200 && status !== 403) failed += 1;
            else if (status === to) followed.set(gateway, followed.get(gateway) ?? performance.now() - begin);
            else if (begin + (followed.get(gateway) ?? Infinity) < sent) movedBack += 1;
            await delay(PAUSE_MS);
          }
        }),
      );
      await post(path);
      await eventually(`${change} everywhere`, () => Promise.resolve(followed.size === GATEWAYS));
      await delay(AFTER_MS);
      asking = false;
      await Promise.all(callers);
      agent.destroy();
      const times = [...followed.values()];
      const row = { first_ms: Math.min(...times), last_ms: Math.max(...times), requests, failed };
      changes.set(change, [...(changes.get(change) ?? []), { ...row, moved_back: movedBack }]);
    };

    for (let round = 1; round <= ROUNDS; round += 1) {
      await publish(`candidate-${round}`, denying(), false);
      await start(`candidate-${round}`, 100, 403);
      await measure("abort of a rollout to all callers", 200, `/policy-sets/${SET}/rollout/abort`);
      await start(`candidate-${round}`, 0, 200);
      await measure("promotion from 0 %", 403, `/policy-sets/${SET}/rollout/promote`);
      await measure("rollback to the version before", 200, `/policy-sets/${SET}/rollback`);
    }

    async function start(version: string, percentage: number, decided: 200 | 403): Promise<void> {
      await post(`/policy-sets/${SET}/rollout`, { version, mode: "enforce", percentage, guard: null });
      const agent = new Agent({ keepAlive: true });
      await eventually(`${version} at ${percentage} %`, async () => {
        const { data } = (await api("GET", `/policy-sets/${SET}/rollout`)).body as {
          data: { gateways: readonly unknown[] };
        };
        const answers = await Promise.all(gateways.map((gateway) => ask(gateway, agent)));
        return data.gateways.length === GATEWAYS && answers.every((status) => status === decided);
      });
      agent.destroy();
    }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await upstream.stop();
    await issuer.close();
    await plane.stop();
    await rm(directory, { recursive: true, force: true });
  }
  return [...changes].map(([change, all]) => ({
    change,
    times: all.length,
    first_ms: median(all.map(({ first_ms }) => first_ms)),
    last_ms: median(all.map(({ last_ms }) => last_ms)),
    longest_ms: Math.max(...all.map(({ last_ms }) => last_ms)),
    requests: sum(all.map(({ requests }) => requests)),
    failed: sum(all.map(({ failed }) => failed)),
    moved_back: sum(all.map(({ moved_back }) => moved_back)),
  }));

  async function post(path: string, body?: object): Promise<void> {
    const answer = await api("POST", path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  }

  function publish(version: string, text: string, activate: boolean): Promise<void> {
    const files = [{ name: "bench.yaml", text: text.replace("version: v1", `version: ${version}`) }];
    return post("/policy-sets", { name: SET, files, activate });
  }
}

function denying(): string {
  return policySetOf(RULES).replaceAll("path.customer_id", "user.id");
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
