import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KEY, lineOf } from "../test/decision/replay/support.ts";
import { snapshotOf } from "../test/decision/support.ts";
import { quick } from "./effort.ts";
import { policySetOf } from "./rules.ts";

interface Row {
  readonly records: number;
  readonly gigabytes: number;
  readonly inputs: string;
  readonly sets: string;
  readonly records_per_second: number;
  /** Garbage collection runs beside it, so this says what one core does. */
  readonly records_per_cpu_second: number;
  readonly most_memory_mb: number;
}

const CLI = fileURLToPath(new URL("../bin/gatehouse.js", import.meta.url));
const RULES = 100;
const PATH = `/api/service-${RULES / 10}/items`;
/** Different records; the file repeats them. */
const DIFFERENT = 20_000;
/** `--gigabytes=10` for a file of another size. */
const GIGABYTES = quick
  ? 0.05
  : Number(process.argv.find((arg) => arg.startsWith("--gigabytes="))?.slice(12) ?? 1);

/** Decides the records of a file again, by the command itself; a twentieth of the users would lose their access. */
export async function benchmarkReplay(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), "gatehouse-replay-"));
  try {
    for (const name of ["stable", "candidate"]) await mkdir(join(folder, name));
    const stable = policySetOf(RULES);
    await writeFile(join(folder, "stable/bench.yaml"), stable);
    await writeFile(join(folder, "candidate/bench.yaml"), stable.replaceAll('"viewer\\"]', '"auditor\\"]'));
    await writeFile(join(folder, "inputs.key"), KEY);
    const rows: Row[] = [];
    for (const inputs of ["values", "hashes"] as const) {
      const records = await writeRecords(join(folder, "audit.log"), stable, inputs);
      for (const stableToo of [false, true]) rows.push(await measure(folder, records, { inputs, stableToo }));
    }
    return rows;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @returns the number of records */
async function writeRecords(path: string, set: string, inputs: "values" | "hashes"): Promise<number> {
  const snapshot = snapshotOf(set);
  const keeping = inputs === "values" ? { keep: ["user"] } : ({ hashed: true } as const);
  const lines: string[] = [];
  for (let index = 0; index < DIFFERENT; index += 1) {
    const user = {
      ...{ id: `usr_${index}`, customer_id: `cus_${index % 500}`, department: `d-${index % 20}` },
      ...{ role: index % 20 === 0 ? "viewer" : "manager", permissions: ["items:read", "items:list"] },
    };
    lines.push(await lineOf(snapshot, { path: PATH, user }, keeping));
  }
  const block = Buffer.from(lines.join(""));
  const file = createWriteStream(path);
  let blocks = 0;
  for (; blocks * block.length < GIGABYTES * 1e9; blocks += 1)
    if (!file.write(block)) await once(file, "drain");
  file.end();
  await once(file, "close");
  return blocks * DIFFERENT;
}

async function measure(
  folder: string,
  records: number,
  { inputs, stableToo }: { readonly inputs: "values" | "hashes"; readonly stableToo: boolean },
): Promise<Row> {
  const sets = ["--candidate", "candidate", ...(stableToo ? ["--stable", "stable"] : [])];
  const args = [CLI, "replay", "--records", "audit.log", "--key-file", "inputs.key", ...sets, "--json"];
  const started = performance.now();
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const closed = once(child, "close");
  let most = { kilobytes: 0, cpuSeconds: 0 };
  const look = setInterval(() => {
    const now = usageOf(child.pid ?? 0);
    // of a process that has just ended, the memory is no longer told
    most = {
      kilobytes: Math.max(most.kilobytes, now?.kilobytes ?? 0),
      cpuSeconds: Math.max(most.cpuSeconds, now?.cpuSeconds ?? 0),
    };
  }, 50);
  const [code] = (await closed) as [number];
  clearInterval(look);
  const seconds = (performance.now() - started) / 1000;
  const report = JSON.parse(output) as { decisions: number; loses: number; coverage: number };
  if (code !== 1 || report.decisions !== records || report.loses !== records / 20)
    throw new Error(`the replay was not what it should be: ${code} ${output.slice(0, 400)}`);
  return {
    records,
    gigabytes: (await stat(join(folder, "audit.log"))).size / 1e9,
    inputs,
    sets: stableToo ? "candidate, stable" : "candidate",
    records_per_second: Math.round(records / seconds),
    records_per_cpu_second: Math.round(records / most.cpuSeconds),
    most_memory_mb: Math.round(most.kilobytes / 1024),
  };
}

const TICKS_PER_SECOND = 100;

/** From /proc, the most resident memory and the CPU time so far; `undefined` once the process has ended. */
function usageOf(pid: number) {
  try {
    const [, kilobytes = "0"] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    // the name in the second field may have blanks
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    return { kilobytes: Number(kilobytes), cpuSeconds };
  } catch {
    return undefined;
  }
}
