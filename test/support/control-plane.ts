import { execFile, spawn, type ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { dump } from "js-yaml";
import type { Scope } from "../../src/control/platform/actor.ts";
import type { Environment } from "../../src/control/platform/environment.ts";
import { assertDataAreIn, databaseDirectory, makeDataDirectory } from "./temporary-directory.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";

const CLI = fileURLToPath(new URL("../../bin/gatehouse.js", import.meta.url));
const run = promisify(execFile);

const running = new Set<ChildProcess>();
// a test that fails may leave some behind
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A `gatehouse control-plane` as a user starts it: a process, a configuration file, a data directory. */
export interface ControlPlaneProcess {
  /** `""` for an environment that is not served. */
  readonly url: Readonly<Record<Environment, string>>;
  readonly directory: string;
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** `gatehouse keys create` on the same data. */
  createKey(environment: Environment, scope: Scope): Promise<string>;
  /** Runs the command line in the directory. */
  cli(...args: string[]): Promise<string>;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL; PostgreSQL goes on. */
  kill(): Promise<void>;
}

/** Configuration without the sandbox, which takes most of the time of a first start. */
export const PRODUCTION_ONLY = { environments: ["production"] } as const;

export interface ControlPlaneOptions {
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** A directory that another process has used or uses. */
  readonly directory?: string;
  /** `bin/gatehouse.js` of another checkout. */
  readonly program?: string;
}

/** Starts a control plane on free ports (those of the process before it, where it takes over a directory). */
export async function startControlPlaneProcess(
  options: ControlPlaneOptions & { readonly ports?: readonly [production: string, sandbox: string] } = {},
): Promise<ControlPlaneProcess> {
  const directory = options.directory ?? (await databaseDirectory());
  const data = join(directory, "data");
  await makeDataDirectory(data);
  const [production, sandbox] =
    options.ports?.map((url) => (url === "" ? 0 : Number(new URL(url).port))) ??
    (await Promise.all([freePort(), freePort()]));
  const base: Record<string, Record<string, unknown>> = {
    api: { port: production, sandbox_port: sandbox, data_directory: data },
    sign_in: { allow_insecure_issuers: true },
    webhooks: { allow_private_targets: true },
    // an earlier version does not know the port
    telemetry: { log_level: "warn", ...(options.program === undefined && { control_plane_port: 0 }) },
  };
  for (const [section, keys] of Object.entries(options.config ?? {}))
    base[section] = { ...base[section], ...keys };
  await writeFile(join(directory, "gateway.yaml"), dump(base));
  const program = options.program ?? CLI;
  const child = spawn(process.execPath, [program, "control-plane"], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  // with all that it said
  let closed = false;
  child.once("close", () => (closed = true));
  const pattern = /^gatehouse control plane ready on (\S+) \(production\)(?:, (\S+) \(sandbox\))?$/m;
  const ready = await eventually(
    "the ready line, or the end",
    () => pattern.exec(stdout) ?? (closed ? "ended" : undefined),
    150_000,
  );
  if (ready === "ended") throw new Error(`the control plane ended with ${String(await ended)}: ${stderr}`);
  await assertDataAreIn(data);
  const cli = async (...args: string[]) =>
    (await run(process.execPath, [program, ...args], { cwd: directory })).stdout;
  return {
    url: { production: ready[1] ?? "", sandbox: ready[2] ?? "" },
    directory,
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    cli,
    async createKey(environment, scope) {
      const printed = await cli(
        "keys",
        "create",
        "--environment",
        environment,
        "--scope",
        scope,
        "--name",
        `test ${scope}`,
      );
      return printed.trim();
    },
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The session of somebody who is signed in to the dashboard. */
interface DashboardSession {
  readonly cookie: string;
  readonly csrf_token: string;
}

/** Makes the first owner of an environment, and signs in. */
export async function signInOwner(
  control: ControlPlaneProcess,
  environment: Environment,
): Promise<DashboardSession> {
  const link = await control.cli("owner-link", "--environment", environment);
  const token = new URL(/https?:\S+/.exec(link)?.[0] ?? "").searchParams.get("token");
  const send = async (path: string, body: object) => {
    const answer = await fetch(`${control.url[environment]}/v1/dashboard${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer;
  };
  const credentials = { email: "owner@example.com", password: "Tr0mpete & Nebel" };
  await send("/setup", { token, name: "Olga", ...credentials });
  const answer = await send("/login", credentials);
  const { data } = (await answer.json()) as { data: { csrf_token: string } };
  const cookie = (answer.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
  return { cookie, csrf_token: data.csrf_token };
}

/** Calls of the API with one key. */
export function apiClient(url: string, key: string) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const answer = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an answer holds is what tests find out
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
  };
}
