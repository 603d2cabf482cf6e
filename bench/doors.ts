import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dump } from "js-yaml";
import { eventually, Hopeless } from "../test/support/eventually.ts";
import { freePort } from "../test/support/free-port.ts";
import { startIssuer } from "../test/support/providers/issuer.ts";
import { temporaryDirectory } from "../test/support/temporary-directory.ts";
import { openDoors, type DoorPorts } from "./door-clients.ts";
import { effort } from "./effort.ts";
import { policySetOf, requestPath } from "./rules.ts";
import { median } from "./statistics.ts";

const CLI = fileURLToPath(new URL("../bin/gatehouse.js", import.meta.url));
const RULES = 1000;
const ROUNDS = 15;
/** Of each door in a round. */
const CHECKS = effort(3000);
/** Checks that wait for their answers at once. */
const IN_FLIGHT = 16;

interface DoorRow {
  readonly door: string;
  /** Processor time of the worker. */
  readonly service_us: number;
  readonly ratio_to_grpc: number;
  /** Time between two answers, the benchmark's own client included. */
  readonly elapsed_us: number;
  readonly elapsed_ratio: number;
}

/**
 * What one check costs by each door: the same request, asked in the words of each, of one worker. The doors take turns, and a
 * round is compared with the round of gRPC beside it.
 */
export async function benchmarkDoors(): Promise<readonly DoorRow[]> {
  const issuer = await startIssuer();
  const folder = await temporaryDirectory();
  const ports: DoorPorts = { grpc: await freePort(), http: await freePort(), spop: await freePort() };
  await mkdir(join(folder, "policies"));
  await writeFile(join(folder, "policies/bench.yaml"), policySetOf(RULES));
  const config = {
    gateway: { cluster: { nodes: 1 } },
    authz: {
      listen: `127.0.0.1:${ports.grpc}`,
      http_listen: `127.0.0.1:${ports.http}`,
      spop_listen: `127.0.0.1:${ports.spop}`,
      http_callers: ["127.0.0.1"],
      aws: { uncached: true },
    },
    identity: { issuer: issuer.url, audience: issuer.audience },
    policies: { directory: "policies", policy_set: "bench" },
    audit: { destination: "file", path: "audit.log", queue_size: 1_000_000 },
    telemetry: { port: 0 },
  };
  await writeFile(join(folder, "gateway.yaml"), dump(config));
  const authz = spawn(process.execPath, [CLI, "authz"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [authz.stdout, authz.stderr])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  try {
    await eventually("gatehouse authz", () => {
      if (authz.exitCode !== null) throw new Hopeless(printed);
      return printed.includes("authz ready");
    });
    const user = { role: "viewer", customer_id: "c-1", permissions: ["items:read"] };
    const token = await issuer.token({ ...user, exp: Math.floor(Date.now() / 1000) + 3600 });
    const clients = await openDoors(ports, { path: requestPath(RULES, "c-1"), token, user });
    try {
      return await measure(Object.entries(clients.doors), workerOf(authz.pid ?? 0));
    } finally {
      clients.close();
    }
  } finally {
    if (authz.exitCode === null) {
      const exit = once(authz, "exit");
      authz.kill("SIGTERM");
      await exit;
    }
    await issuer.close();
  }
}

type Ask = () => Promise<void>;

async function measure(doors: readonly (readonly [string, Ask])[], worker: number): Promise<DoorRow[]> {
  const found = new Map(doors.map(([door]) => [door, { service: [] as number[], elapsed: [] as number[] }]));
  for (let round = 0; round <= effort(ROUNDS); round += 1) {
    // each is first in turn: none always follows the same one
    const turn = round % doors.length;
    for (const [door, ask] of [...doors.slice(turn), ...doors.slice(0, turn)]) {
      const [cpu, started] = [cpuTime(worker), performance.now()];
      await manyOf(ask);
      // the first round only warms up
      if (round === 0) continue;
      found.get(door)?.service.push((cpuTime(worker) - cpu) / CHECKS);
      found.get(door)?.elapsed.push(((performance.now() - started) * 1000) / CHECKS);
    }
  }
  const [first] = found.values();
  const ratio = (one: readonly number[], base: readonly number[] = []) =>
    median(one.map((value, round) => value / (base[round] ?? Number.NaN)));
  return [...found].map(([door, { service, elapsed }]) => ({
    door,
    service_us: Math.round(median(service)),
    ratio_to_grpc: ratio(service, first?.service),
    elapsed_us: Math.round(median(elapsed)),
    elapsed_ratio: ratio(elapsed, first?.elapsed),
  }));
}

async function manyOf(ask: Ask): Promise<void> {
  let left = CHECKS;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await ask();
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}

/** The only child of a `gatehouse authz` with one worker. */
function workerOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  if (children.length !== 1) throw new Error(`there are ${children.length} workers`);
  return Number(children[0]);
}

/** Microseconds that all threads of a process have run: the first number of schedstat, in nanoseconds. */
function cpuTime(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8"));
  return times.reduce((sum, text) => sum + Number(text.split(" ")[0]) / 1000, 0);
}
