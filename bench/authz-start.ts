import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { dump } from "js-yaml";
import { installedApp } from "../test/deploy/support/image.ts";
import { freePort } from "../test/support/free-port.ts";
import { startIssuer, type TestIssuer } from "../test/support/providers/issuer.ts";
import { temporaryDirectory } from "../test/support/temporary-directory.ts";
import { effort } from "./effort.ts";
import { policySetOf } from "./rules.ts";
import { median } from "./statistics.ts";

interface StartRow {
  readonly workers: number;
  readonly rules: number;
  /** From the start of the process to the first request that is permitted, with a token. */
  readonly first_permit_ms: number;
  readonly longest_ms: number;
  /** Processor time of all its processes until then; the same on a busy machine. */
  readonly cpu_ms: number;
  /** To the line that says that every worker is ready. */
  readonly all_ready_ms: number;
}

/** How soon `gatehouse authz`, as the images have it, decides on requests: a node of a mesh has just this process. */
export async function benchmarkAuthzStart(): Promise<readonly StartRow[]> {
  const cli = join(await installedApp(), "gatehouse.js");
  const issuer = await startIssuer();
  try {
    const rows: StartRow[] = [];
    for (const [workers, rules] of [
      [1, 20],
      [2, 20],
      [1, 1000],
    ] as const) {
      const times: Times[] = [];
      for (let round = 0; round < effort(20); round += 1)
        times.push(await startOnce(cli, { issuer, workers, rules }));
      const permits = times.map(({ permit }) => permit);
      rows.push({
        ...{ workers, rules },
        first_permit_ms: Math.round(median(permits)),
        longest_ms: Math.round(Math.max(...permits)),
        cpu_ms: Math.round(median(times.map(({ cpu }) => cpu))),
        all_ready_ms: Math.round(median(times.map(({ ready }) => ready))),
      });
    }
    return rows;
  } finally {
    await issuer.close();
  }
}

interface Times {
  readonly permit: number;
  readonly cpu: number;
  readonly ready: number;
}

async function startOnce(
  cli: string,
  { issuer, workers, rules }: { issuer: TestIssuer; workers: number; rules: number },
): Promise<Times> {
  const folder = await temporaryDirectory();
  const [http, grpc, telemetry] = [await portsFor(workers), await portsFor(workers), await freePort()];
  await mkdir(join(folder, "policies"));
  const open = 'policies:\n  - { resource: "GET /mine", condition: user.id == "ada" }\n';
  await writeFile(join(folder, "policies/default.yaml"), policySetOf(rules).replace("policies:\n", open));
  const config = {
    gateway: { cluster: { nodes: workers } },
    authz: { listen: `127.0.0.1:${grpc}`, http_listen: `127.0.0.1:${http}`, http_callers: ["127.0.0.1"] },
    identity: { issuer: issuer.url, audience: issuer.audience },
    policies: { directory: "policies" },
    audit: { destination: "file", path: "audit.log" },
    telemetry: { port: telemetry },
  };
  await writeFile(join(folder, "gateway.yaml"), dump(config));
  const headers = {
    authorization: `Bearer ${await issuer.token({ sub: "ada" })}`,
    "x-original-request": "GET /mine HTTP/1.1",
    "x-original-host": "app.test",
    "x-original-scheme": "http",
    "x-original-address": "192.0.2.1",
    "x-original-connection": "=",
    "x-original-upgrade": "=",
  };

  const started = performance.now();
  const child = spawn(process.execPath, [cli, "authz"], {
    cwd: folder,
    env: { PATH: "/nonexistent" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ready = readyTime(child.stdout, started);
  try {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
      const answer = await fetch(`http://127.0.0.1:${http}/nginx`, { headers }).catch(() => undefined);
      if (answer?.status === 200) break;
      await delay(5);
    }
    const permit = performance.now() - started;
    return { permit, cpu: cpuTime(child.pid ?? 0), ready: await ready };
  } finally {
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    await exit;
  }
}

/** Milliseconds that a process and its children have used: proc_pid_stat(5), with the usual 100 ticks per second. */
function cpuTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const own = (Number(fields[11]) + Number(fields[12])) * 10;
  return children.filter((child) => child !== "").reduce((sum, child) => sum + cpuTime(Number(child)), own);
}

/** A port that is free, and the next ones for the other workers, most probably. */
async function portsFor(workers: number): Promise<number> {
  const port = await freePort();
  return port + workers > 65_535 ? portsFor(workers) : port;
}

async function readyTime(stdout: AsyncIterable<Buffer>, started: number): Promise<number> {
  let text = "";
  for await (const chunk of stdout) {
    text += chunk.toString();
    if (text.includes("authz ready")) return performance.now() - started;
  }
  throw new Error(`it ended before it was ready: ${text}`);
}
