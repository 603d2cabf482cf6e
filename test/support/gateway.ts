import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { dump } from "js-yaml";
import { envoyBinary } from "./envoy.ts";
import { eventually, Hopeless } from "./eventually.ts";

const CLI = fileURLToPath(new URL("../../bin/gatehouse.js", import.meta.url));

/** One record as the audit file has it. */
export type AuditLine = Record<string, unknown> & { decision: string; reason: string; resource: string };

/** A `gatehouse gateway` as a user starts it: a process, a configuration file, a folder of policies. */
export interface RunningGateway {
  readonly url: string;
  readonly port: number;
  readonly adminUrl: string;
  readonly directory: string;
  readonly process: ChildProcess;
  /** Everything written to stderr so far. */
  stderr(): string;
  /** Replaces or adds policy files by atomic rename, or plainly where a test wants the race. */
  writePolicies(files: Readonly<Record<string, string>>): Promise<void>;
  audit(): Promise<AuditLine[]>;
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Process ids: supervisor's children, by what they are. */
  children(): Promise<{ readonly envoy: number[]; readonly workers: number[] }>;
  stop(): Promise<void>;
}

export interface GatewayOptions {
  readonly backend: string;
  readonly issuer: { readonly url: string; readonly audience: string };
  readonly policies: Readonly<Record<string, string>>;
  /** Merged over the test's own `gateway.yaml`, section by section. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The very text of `gateway.yaml`, in place of the test's own. Free ports, and where the rest is, are its business. */
  readonly yaml?: string;
  /** Files beside `gateway.yaml`. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Processes that decide. One, where nothing of the test is about several. */
  readonly nodes?: number;
  /** Do not wait for the ready line. */
  readonly unready?: boolean;
  /** NODE_OPTIONS of all its processes. */
  readonly nodeOptions?: string;
}

/** Starts a gateway on free ports and waits for its ready line. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-e2e-"));
  const policyDirectory = join(directory, "policies");
  const writePolicies = async (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) {
      const path = join(policyDirectory, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(`${path}.new`, text);
      await rename(`${path}.new`, path);
    }
  };
  await writePolicies(options.policies);
  const auditPath = join(directory, "audit.log");
  const base: Record<string, Record<string, unknown>> = {
    gateway: { listen_port: 0, backend: options.backend, cluster: { nodes: options.nodes ?? 1 } },
    identity: { issuer: options.issuer.url, audience: options.issuer.audience },
    policies: { directory: policyDirectory, refresh_interval: "1s" },
    audit: { destination: "file", path: auditPath },
    telemetry: { port: 0 },
    // the machine may be busy: only tests of lateness shall see it
    authz: { decision_timeout: "15s" },
  };
  for (const [section, keys] of Object.entries(options.config ?? {}))
    base[section] = { ...base[section], ...keys };
  const file = join(directory, "gateway.yaml");
  await writeFile(file, options.yaml ?? dump(base));
  for (const [name, text] of Object.entries(options.beside ?? {}))
    await writeFile(join(directory, name), text);

  const child = spawn(process.execPath, [CLI, "gateway", "--config", file], {
    cwd: directory,
    env: {
      ...process.env,
      ENVOY_BIN: await envoyBinary(),
      ...(options.nodeOptions !== undefined && { NODE_OPTIONS: options.nodeOptions }),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const running = () => {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Hopeless(`the gateway ended: ${stderr}`);
  };
  const find = (pattern: RegExp, text: () => string) => () => {
    const found = pattern.exec(text());
    if (found === null) running();
    return found?.[1];
  };
  const adminUrl = await eventually(
    "the admin address",
    find(/"admin":"(http:[^"]+)"/, () => stderr),
    90_000,
  );
  const url = options.unready
    ? ""
    : await eventually(
        "the ready line",
        find(/^gatehouse gateway ready on (http\S+)$/m, () => stdout),
        90_000,
      );

  return {
    url,
    port: url === "" ? 0 : Number(new URL(url).port),
    adminUrl,
    directory,
    process: child,
    stderr: () => stderr,
    writePolicies,
    async audit() {
      const text = await readFile(auditPath, "utf8").catch(() => "");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as AuditLine);
    },
    async metric(name, labels = {}) {
      return (await scrape(adminUrl))
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`)))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
    },
    children: () => childrenOf(child.pid ?? 0),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGTERM");
        await ended;
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A worker that does not answer within a second is left out, as it must be; these are asked so often. */
const SCRAPES = 8;

/** @returns the metrics of all workers that are ready, unless one does not answer time and again, because it is stopped */
async function scrape(adminUrl: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const ready = Number(/^gatehouse_workers\{[^}]*state="ready"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0);
    const answered = new Set(Array.from(text.matchAll(/[{,]worker="(\d+)"/g), ([, worker]) => worker)).size;
    if (answered >= ready || attempt === SCRAPES) return text;
  }
}

/** Descendants of a process, from /proc. */
async function childrenOf(pid: number): Promise<{ envoy: number[]; workers: number[] }> {
  const processes = await Promise.all(
    (await readdir("/proc"))
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const [stat, command] = await Promise.all([
          readFile(`/proc/${name}/stat`, "utf8").catch(() => ""),
          readFile(`/proc/${name}/cmdline`, "utf8").catch(() => ""),
        ]);
        const afterName = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return { pid: Number(name), state: afterName[0], parent: Number(afterName[1]), command };
      }),
  );
  const family = new Set([pid]);
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const one of processes) if (family.has(one.parent)) family.add(one.pid);
  }
  family.delete(pid);
  const alive = processes.filter((one) => family.has(one.pid) && one.state !== "Z");
  return {
    envoy: alive.filter((one) => /(^|\/)envoy\0/.test(one.command)).map((one) => one.pid),
    workers: alive.filter((one) => /worker\.(ts|js)/.test(one.command)).map((one) => one.pid),
  };
}
