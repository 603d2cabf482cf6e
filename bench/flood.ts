import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway, type RunningGateway } from "../test/support/gateway.ts";
import { startIssuer } from "../test/support/providers/issuer.ts";
import { effort, NODES } from "./effort.ts";
import { fixedAnswer, startBenchEnvoy } from "./envoy.ts";
import { policySetOf, requestPath } from "./rules.ts";
import { percentile } from "./statistics.ts";

const SECONDS = effort(10);
const RULES = 10;
/** Of the caller with a token, each with one request after the other. */
const CALLERS = 8;
/** Of the flood, per second: more than a machine of two cores can answer. */
const FLOOD = 20_000;
const ANONYMOUS_PER_SECOND = 500;

/** One row of the table: what a caller with a token gets, beside a flood of requests without one. */
interface Row {
  readonly flood: string;
  readonly anonymous_limit: string;
  readonly flood_answered_per_second: number;
  readonly caller_per_second: number;
  readonly caller_success: string;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Of the processor, in cores. */
  readonly envoy_cores: number;
  readonly worker_cores: number;
}

/** A caller with a token and a flood without one, on a gateway with and without a limit for anonymous requests, in turns. */
export async function benchmarkFlood(): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-bench-"));
  const issuer = await startIssuer();
  const upstream = await startBenchEnvoy(directory, "upstream", fixedAnswer());
  const start = (limit: number) =>
    startGateway({
      backend: upstream.url,
      issuer,
      nodes: NODES,
      policies: { "bench.yaml": policySetOf(RULES) },
      config: {
        policies: { directory: "policies", policy_set: "bench" },
        gateway: { security: { rate_limiting: { anonymous_requests_per_second: limit } } },
      },
    });
  const token = await issuer.token({
    role: "viewer",
    customer_id: "c-1",
    permissions: ["items:read"],
    exp: Math.floor(Date.now() / 1000) + 3600,
  });
  const rows: Row[] = [];
  try {
    for (const limit of [0, ANONYMOUS_PER_SECOND]) {
      const gateway = await start(limit);
      try {
        const url = `${gateway.url}${requestPath(RULES, "c-1")}`;
        await callersOf(url, token, effort(2)); // not counted: the processes compile their hot paths
        for (const flooded of [false, true]) {
          const flood = flooded ? await startFlood(url) : undefined;
          const before = await processorTimes(gateway);
          const found = await callersOf(url, token, SECONDS);
          const after = await processorTimes(gateway);
          rows.push({
            flood: flooded ? `${FLOOD} per second` : "none",
            anonymous_limit: limit === 0 ? "none" : String(limit),
            flood_answered_per_second: Math.round(((await flood?.stop()) ?? 0) / SECONDS),
            ...found,
            envoy_cores: (after.envoy - before.envoy) / SECONDS,
            worker_cores: (after.workers - before.workers) / SECONDS,
          });
        }
      } finally {
        await gateway.stop();
      }
    }
  } finally {
    await upstream.stop();
    await issuer.close();
    await rm(directory, { recursive: true, force: true });
  }
  return rows;
}

/** Seconds of the processor that Envoy and the workers have taken. */
async function processorTimes(gateway: RunningGateway): Promise<{ envoy: number; workers: number }> {
  const { envoy, workers } = await gateway.children();
  const taken = (pids: readonly number[]) =>
    pids.reduce((sum, pid) => {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    }, 0);
  return { envoy: taken(envoy), workers: taken(workers) };
}

/** Clock ticks per second, which are the same on every Linux machine. */
const TICKS_PER_SECOND = 100;

async function callersOf(url: string, token: string, seconds: number) {
  const agent = new Agent({ keepAlive: true });
  const latencies: number[] = [];
  let succeeded = 0;
  const end = performance.now() + seconds * 1000;
  const caller = async () => {
    while (performance.now() < end) {
      const started = performance.now();
      if ((await ask(url, token, agent)) === 200) succeeded += 1;
      latencies.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  agent.destroy();
  return {
    caller_per_second: Math.round(succeeded / seconds),
    caller_success: `${((100 * succeeded) / latencies.length).toFixed(2)} %`,
    p50_ms: percentile(latencies, 0.5),
    p99_ms: percentile(latencies, 0.99),
  };
}

function ask(url: string, token: string, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const call = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume();
      response.on("close", () => {
        resolve(response.statusCode ?? 0);
      });
    });
    call.on("error", () => {
      resolve(0);
    });
    call.end();
  });
}

async function startFlood(url: string) {
  const flooder = fork(fileURLToPath(new URL("./flooder.ts", import.meta.url)), [url, String(FLOOD)]);
  await once(flooder, "message"); // it has its first answer
  return {
    /** @returns how many answers it got */
    async stop(): Promise<number> {
      const answered = once(flooder, "message");
      flooder.send("stop");
      const [counts] = (await answered) as [Readonly<Record<string, number>>];
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
  };
}
