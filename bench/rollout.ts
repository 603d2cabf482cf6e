import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventually } from "../test/support/eventually.ts";
import { startGateway, type RunningGateway } from "../test/support/gateway.ts";
import { startIssuer } from "../test/support/providers/issuer.ts";
import { changeRollout } from "../test/support/rollout.ts";
import { effort, NODES, quick } from "./effort.ts";
import { fixedAnswer, startBenchEnvoy } from "./envoy.ts";
import { policySetOf, requestPath } from "./rules.ts";
import { median, percentile } from "./statistics.ts";

interface Row {
  readonly candidate: string;
  readonly requests: number;
  /** Of the loads without a rollout, each just before one with it. */
  readonly none_p50_ms: number;
  readonly none_p99_ms: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Medians of the ratios of the pairs. */
  readonly p50_ratio: number;
  readonly p99_ratio: number;
  readonly not_2xx: number;
  readonly compared: number;
  /** Decisions on which the candidate failed, or for which it had no time. */
  readonly lost: number;
}

const run = promisify(execFile);
const RULES = 1_000;
/** Well below what the gateway can do, so that the waiting of saturation hides nothing. */
const PER_SECOND = 200;
const SECONDS = effort(5);
const TURNS = quick ? 1 : 9;
const STEADY = fileURLToPath(new URL("steady.ts", import.meta.url));
/** Workers report what a shadow has decided each second; what comes later belongs to the load before. */
const REPORTED_MS = 1_500;
/** Conditions of the slow candidate's rule for the request that is sent: of about a thousand times the work. */
const SLOW_CONDITIONS = 5_000;

/** Candidates, by their folders. */
const CANDIDATES: Readonly<Record<string, () => string>> = {
  same: () => policySetOf(RULES).replace("version: v1", "version: same"),
  denies: () =>
    policySetOf(RULES).replaceAll("path.customer_id", "user.id").replace("version: v1", "version: denies"),
  slow: () => slowSet(),
  second: () => policySetOf(RULES).replace("version: v1", "version: second"),
  throws: () => policySetOf(RULES).replace("version: v1", "version: throws"),
};

/**
 * What a candidate costs the requests that the stable set decides: constant load on a gateway without a rollout, with a candidate in shadow
 * that decides the same, with one that denies all, with slow ones, and with one that throws, in turns: each just after none.
 */
export async function benchmarkRollout(): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-bench-"));
  const issuer = await startIssuer();
  const upstream = await startBenchEnvoy(directory, "upstream", fixedAnswer());
  const gateway = await startGateway({
    backend: upstream.url,
    issuer,
    nodes: NODES,
    policies: { "bench.yaml": policySetOf(RULES) },
    config: { policies: { directory: "policies", policy_set: "bench" } },
    nodeOptions: `--import=${new URL("../test/support/shadow-faults.ts", import.meta.url).href}`,
  });
  try {
    for (const [name, text] of Object.entries(CANDIDATES)) {
      await mkdir(join(gateway.directory, name));
      await writeFile(join(gateway.directory, name, "bench.yaml"), text());
    }
    const claims = { role: "viewer", customer_id: "c-1", permissions: ["items:read"] };
    const token = await issuer.token({ ...claims, exp: Math.floor(Date.now() / 1000) + 3_600 });
    const url = `${gateway.url}${requestPath(RULES, "c-1")}`;
    await load(url, token);
    const pairs: Pair[] = [];
    for (let turn = 0; turn < TURNS; turn += 1)
      for (const candidate of Object.keys(CANDIDATES)) {
        const none = await measure("none");
        pairs.push({ candidate, none, with: await measure(candidate) });
      }
    process.stdout.write(
      `${PER_SECOND} requests a second, ${SECONDS} s each, ${TURNS} turns; medians of the turns\n`,
    );
    return Object.keys(CANDIDATES).map((name) => {
      const turns = pairs.filter(({ candidate }) => candidate === name);
      const loads = turns.map((turn) => turn.with);
      const [p50, p99] = (["p50", "p99"] as const).map((key) =>
        median(turns.map((turn) => turn.with[key] / turn.none[key])),
      );
      return {
        candidate: NAMES[name] ?? name,
        requests: sum(loads.map(({ requests }) => requests)),
        none_p50_ms: median(turns.map(({ none }) => none.p50)),
        none_p99_ms: median(turns.map(({ none }) => none.p99)),
        p50_ms: median(loads.map((load) => load.p50)),
        p99_ms: median(loads.map((load) => load.p99)),
        p50_ratio: p50!,
        p99_ratio: p99!,
        not_2xx: sum(loads.map(({ not2xx }) => not2xx)),
        compared: sum(loads.map(({ compared }) => compared)),
        lost: sum(loads.map(({ lost }) => lost)),
      };
    });

    async function measure(name: string): Promise<Turn> {
      await turnTo(gateway, name);
      await delay(REPORTED_MS);
      const before = await shadowed(gateway);
      const loaded = await load(url, token);
      await delay(REPORTED_MS);
      const after = await shadowed(gateway);
      return { ...loaded, compared: after.compared - before.compared, lost: after.lost - before.lost };
    }
  } finally {
    await gateway.stop();
    await upstream.stop();
    await issuer.close();
    await rm(directory, { recursive: true, force: true });
  }
}

const NAMES: Readonly<Record<string, string>> = {
  same: "in shadow: decides the same",
  denies: "in shadow: denies every request",
  slow: `in shadow: ${SLOW_CONDITIONS} conditions for each request`,
  second: "in shadow: its thread is busy for a second with each batch",
  throws: "in shadow: its thread throws with each batch, and dies",
};

interface Pair {
  readonly candidate: string;
  /** Without a rollout. */
  readonly none: Turn;
  readonly with: Turn;
}

interface Turn {
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
  readonly not2xx: number;
  readonly compared: number;
  /** Decisions on which the candidate failed, or for which it had no time. */
  readonly lost: number;
}

function slowSet(): string {
  const parts = Array.from({ length: SLOW_CONDITIONS }, (_, n) => `user.permissions.includes("p-${n}")`).join(
    " or ",
  );
  const path = "/api/service-{n}/items".replace("{n}", String(Math.floor(RULES / 10)));
  return `policy_set: bench
version: slow
policies:
  - resource: GET ${path}/{item_id}/owners/{customer_id}
    condition: ${JSON.stringify(parts)}
`;
}

async function turnTo(gateway: RunningGateway, name: string): Promise<void> {
  await changeRollout(gateway, name === "none" ? undefined : { candidate: name, mode: "shadow" });
  await eventually(`the rollout of ${name}`, async () => {
    const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    const inForce = /^gatehouse_rollout_percentage\{.*policy_set="bench@(\w+)"/m.exec(text)?.[1];
    return (inForce ?? "none") === name;
  });
}

async function shadowed(gateway: RunningGateway): Promise<Pick<Turn, "compared" | "lost">> {
  const [same = 0, different = 0, failed = 0, dropped = 0] = await Promise.all(
    ["same", "different", "failed", "dropped"].map((result) =>
      gateway.metric("gatehouse_shadow_decisions_total", { result }),
    ),
  );
  return { compared: same + different, lost: failed + dropped };
}

/** A constant rate, which wrk does not have; autocannon sends what is due in a second at its beginning. */
async function load(url: string, token: string): Promise<Omit<Turn, "compared" | "lost">> {
  const args = [STEADY, url, String(PER_SECOND), String(SECONDS)];
  const { stdout } = await run(process.execPath, args, {
    env: { ...process.env, TOKEN: token },
    maxBuffer: 1e8,
  });
  const { statuses, took } = JSON.parse(stdout) as { statuses: Record<string, number>; took: number[] };
  return {
    requests: took.length,
    p50: percentile(took, 0.5),
    p99: percentile(took, 0.99),
    not2xx: took.length - (statuses["200"] ?? 0),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
