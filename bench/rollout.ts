import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "../test/support/eventually.ts";
import { startGateway, type RunningGateway } from "../test/support/gateway.ts";
import { startIssuer } from "../test/support/providers/issuer.ts";
import { changeRollout } from "../test/support/rollout.ts";
import { effort, NODES, quick } from "./effort.ts";
import { fixedAnswer, startBenchEnvoy } from "./envoy.ts";
import { policySetOf, requestPath } from "./rules.ts";
import { percentile } from "./statistics.ts";

interface Row {
  readonly candidate: string;
  readonly requests: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly p99_ratio_to_none: number;
  readonly not_2xx: number;
  readonly compared: number;
  /** Decisions on which the candidate failed, or for which it had no time. */
  readonly lost: number;
}

const run = promisify(execFile);
const RULES = 1_000;
/** Well below what the gateway can do, so that the waiting of saturation hides nothing. */
const PER_SECOND = 200;
const CONNECTIONS = 16;
const SECONDS = effort(10);
const TURNS = quick ? 1 : 5;
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
 * that decides the same, with one that denies all, with slow ones, and with one that throws, in turns.
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
    const found = new Map<string, Turn[]>();
    for (let turn = 0; turn < TURNS; turn += 1)
      for (const name of ["none", ...Object.keys(CANDIDATES)]) {
        await turnTo(gateway, name);
        const before = await shadowed(gateway);
        const loaded = await load(url, token);
        const after = await shadowed(gateway);
        const counted = {
          compared: after.compared - before.compared,
          lost: after.lost - before.lost,
        };
        found.set(name, [...(found.get(name) ?? []), { ...loaded, ...counted }]);
      }
    const none = medianOf(found.get("none") ?? [], "p99");
    process.stdout.write(
      `${PER_SECOND} requests a second, ${SECONDS} s each, ${TURNS} turns; medians of the turns\n`,
    );
    return [...found].map(([candidate, turns]) => ({
      candidate: NAMES[candidate] ?? candidate,
      requests: sumOf(turns, "requests"),
      p50_ms: medianOf(turns, "p50"),
      p99_ms: medianOf(turns, "p99"),
      p99_ratio_to_none: medianOf(turns, "p99") / none,
      not_2xx: sumOf(turns, "not2xx"),
      compared: sumOf(turns, "compared"),
      lost: sumOf(turns, "lost"),
    }));
  } finally {
    await gateway.stop();
    await upstream.stop();
    await issuer.close();
    await rm(directory, { recursive: true, force: true });
  }
}

const NAMES: Readonly<Record<string, string>> = {
  none: "none",
  same: "in shadow: decides the same",
  denies: "in shadow: denies every request",
  slow: `in shadow: ${SLOW_CONDITIONS} conditions for each request`,
  second: "in shadow: its thread is busy for a second with each batch",
  throws: "in shadow: its thread throws with each batch, and dies",
};

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

/** A constant rate, which wrk does not have. */
async function load(url: string, token: string): Promise<Omit<Turn, "compared" | "lost">> {
  const { stdout } = await run(
    "autocannon",
    [
      ...["-c", String(CONNECTIONS), "-R", String(PER_SECOND), "-d", String(SECONDS)],
      ...["-H", `Authorization: Bearer ${token}`, "-j", url],
    ],
    { maxBuffer: 1e8 },
  );
  const found = JSON.parse(stdout) as {
    requests: { total: number };
    latency: { p50: number; p99: number };
    non2xx: number;
  };
  const { latency, non2xx: not2xx, requests } = found;
  return { requests: requests.total, p50: latency.p50, p99: latency.p99, not2xx };
}

function medianOf(turns: readonly Turn[], key: keyof Turn): number {
  return percentile(
    turns.map((turn) => turn[key]),
    0.5,
  );
}

function sumOf(turns: readonly Turn[], key: keyof Turn): number {
  return turns.reduce((sum, turn) => sum + turn[key], 0);
}
