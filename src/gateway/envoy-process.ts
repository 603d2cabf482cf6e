import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { inTime } from "../runtime/in-time.ts";
import { sleep } from "../runtime/sleep.ts";
import { activeRequests, askAdmin, isLive, listenerPort } from "./envoy-admin.ts";
import type { AdminAddress } from "./envoy-admin.ts";
import type { EnvoyJson } from "./envoy-json.ts";
import { LISTENER_NAME } from "./listener.ts";
import type { MessageLog } from "./log.ts";
import { watch } from "./watchdog.ts";

export interface StartEnvoyOptions {
  /** From `envoyBootstrap`. If it has no admin address, a Unix socket in `runtimeDirectory` is added. */
  readonly bootstrap: EnvoyJson;
  readonly binary: string;
  /** Folder for the files of this run; created if missing. Its path must be short, because it contains sockets. */
  readonly runtimeDirectory: string;
  /** Receives Envoy's own warnings. */
  readonly log: MessageLog;
  /** Receives access-log lines, if they go to stderr; Envoy's own lines do not start with a brace. */
  readonly accessLog?: (line: string) => void;
  /** Called once when a running Envoy exits for any reason. */
  readonly onExit?: (exit: EnvoyExit) => void;
  /** Worker threads. Default: one per core. */
  readonly concurrency?: number;
  /** Time that Envoy has to start serving; ms. Default: 30 s. */
  readonly startTimeout?: number;
}

export interface EnvoyExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It was asked to stop. */
  readonly expected: boolean;
}

export interface EnvoyProcess {
  readonly pid: number;
  /** The actual port, also if 0 is configured. */
  readonly listenPort: number;
  readonly admin: AdminAddress;
  readonly exited: Promise<EnvoyExit>;
  /**
   * Lets current requests finish for up to `graceMs` milliseconds (clients are asked to close), then stops Envoy.
   * Resolves when the process has exited; a second call waits for the first.
   */
  stop(graceMs: number): Promise<void>;
}

const LAST_LINES = 20;
const POLL_MS = 20;
/** How long Envoy may take to exit after SIGTERM. */
const TERM_MS = 3000;

/**
 * Starts Envoy and waits until it serves. It exits with this process, even if that is killed.
 *
 * @throws Error with Envoy's last log lines if it exits or does not become ready; then nothing is left running.
 */
export async function startEnvoy(options: StartEnvoyOptions): Promise<EnvoyProcess> {
  const { bootstrap, runtimeDirectory, startTimeout = 30_000 } = options;
  mkdirSync(runtimeDirectory, { recursive: true, mode: 0o700 });
  const socketPath = join(runtimeDirectory, "admin.sock");
  rmSync(socketPath, { force: true });
  const complete = { admin: { address: { pipe: { path: socketPath, mode: 0o600 } } }, ...bootstrap };
  const file = join(runtimeDirectory, "envoy.json");
  writeFileSync(file, JSON.stringify(complete), { mode: 0o600 });

  const { child, exited, lastLines } = launch(options, file);
  const admin = adminAddress(complete);
  const state: { exit?: EnvoyExit; stopping?: Promise<void> } = {};
  void exited.then((exit) => (state.exit = exit));
  const giveUp = Date.now() + startTimeout;
  while (!(await isLive(admin))) {
    if (state.exit === undefined && Date.now() < giveUp) {
      await sleep(POLL_MS);
      continue;
    }
    child.kill("SIGKILL");
    const { code, signal } = await exited;
    const how = Date.now() < giveUp ? `exited (${signal ?? `code ${String(code)}`})` : "did not become ready";
    throw new Error(`envoy ${how}${lastLines.length === 0 ? "" : `:\n${lastLines.join("\n")}`}`);
  }
  const listenPort = (await listenerPort(admin, LISTENER_NAME)) ?? 0;
  const told = () => state.stopping !== undefined;
  const ended = exited.then((exit) => ({ ...exit, expected: told() }));
  void ended.then((exit) => options.onExit?.(exit));
  return {
    pid: child.pid ?? 0,
    listenPort,
    admin,
    exited: ended,
    stop: (graceMs) => (state.stopping ??= stop(child, admin, exited, graceMs)),
  };
}

/**
 * Envoy warns about interfaces that may still change. These are used knowingly (http-filters.ts): the version is pinned, and a
 * response that they fail to replace is replaced by the guard.
 */
const KNOWN_UNSTABLE =
  /message 'envoy\.extensions\.(filters\.http|http)\.custom_response\.[A-Za-z0-9._]+' is contained in proto file .* work-in-progress/;

function launch({ binary, concurrency, log, accessLog }: StartEnvoyOptions, file: string) {
  const parameters = [
    ...["--config-path", file, "--disable-hot-restart", "--log-level", "warn"],
    ...["--log-format", "[%l] [%n] %v", "--drain-strategy", "immediate"],
    // of access logs: with the default of ten seconds, lines would be too late to explain what happens now
    ...["--file-flush-interval-msec", "500"],
    ...(concurrency === undefined ? [] : ["--concurrency", String(concurrency)]),
  ];
  // its own session: Ctrl-C reaches only us, and we stop Envoy in order
  const child = spawn(binary, parameters, { stdio: ["ignore", "ignore", "pipe"], detached: true });
  const watchdog = child.pid === undefined ? undefined : watch(child.pid);
  const lastLines: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (accessLog !== undefined && line.startsWith("{")) {
      accessLog(line);
      return;
    }
    if (KNOWN_UNSTABLE.test(line)) return;
    lastLines.push(line);
    if (lastLines.length > LAST_LINES) lastLines.shift();
    log.warn(`envoy: ${line}`);
  });
  const exited = new Promise<EnvoyExit>((resolve) => {
    child.once("exit", () => watchdog?.dismiss());
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      resolve({ code, signal, expected: false });
    };
    child.once("error", (error) => {
      lastLines.push(error.message);
      end(null, null);
    });
    child.once("close", end);
  });
  return { child, exited, lastLines };
}

async function stop(
  child: ChildProcess,
  admin: AdminAddress,
  exited: Promise<EnvoyExit>,
  graceMs: number,
): Promise<void> {
  const gone = { yet: false };
  void exited.then(() => (gone.yet = true));
  const end = Date.now() + graceMs;
  await askAdmin(admin, "POST", "/drain_listeners?graceful&skip_exit").catch(() => undefined);
  while (!gone.yet && Date.now() < end) {
    // if the admin interface does not respond, there is nothing to wait for
    if ((await activeRequests(admin).catch(() => 0)) === 0) break;
    await sleep(Math.min(POLL_MS, Math.max(0, end - Date.now())));
  }
  child.kill("SIGTERM");
  if ((await inTime(exited, TERM_MS, undefined)) === undefined) child.kill("SIGKILL");
  await exited;
}

function adminAddress(bootstrap: EnvoyJson): AdminAddress {
  const { address } = bootstrap["admin"] as {
    address: { pipe?: { path: string }; socket_address?: { address: string; port_value: number } };
  };
  if (address.socket_address !== undefined) {
    return { host: address.socket_address.address, port: address.socket_address.port_value };
  }
  return { socketPath: address.pipe?.path ?? "" };
}
