import { randomUUID } from "node:crypto";
import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { STATE_FILE } from "../../envoy-contract.ts";
import { every, type Job, type JobLog } from "../../runtime/every.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { SlotTable } from "./connection-slots.ts";
import type { ConnectionDirectives } from "./connection-registry.ts";

export interface ConnectionStateOptions {
  /** Created if missing. A folder that others may read is not used. */
  readonly directory: string;
  /** Index of the process. */
  readonly worker: number;
  readonly directives: () => ConnectionDirectives & Partial<SlotTable>;
  readonly metrics: Pick<Metrics, "connectionStateFailures">;
  readonly log: JobLog;
  /** Changes within this time are written together; ms. */
  readonly collectFor?: number;
  /** How often the file is written without a change, far below the age at which Lua considers the service dead; ms. */
  readonly heartbeat?: number;
  /** Unix ms. */
  readonly clock?: () => number;
}

/** Uses the member names that Lua expects. */
type StateFile = { readonly [Name in keyof typeof STATE_FILE]?: unknown } & ConnectionDirectives;

/** Readable only by the owner: plans and decisions contain data about people. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const OTHERS = 0o077;

/**
 * Tells Envoy the state of open connections, in one small file that its Lua reads once per second: which to close,
 * which have a new plan, and that the service is still alive. It is therefore written every few seconds. A failed write
 * is safe: Lua closes the connections of a service whose file is out of date.
 */
export class ConnectionState {
  /** The path of the file, and the process's epoch: after a restart, the process does not know earlier connections. */
  readonly place: { readonly file: string; readonly epoch: string };
  readonly #options: ConnectionStateOptions;
  readonly #clock: () => number;
  readonly #next: string;
  #collecting: NodeJS.Timeout | undefined;
  #heartbeat: Job | undefined;
  #writing: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #failing: string | undefined;

  constructor(options: ConnectionStateOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    this.place = { file: join(options.directory, `${options.worker}.json`), epoch: randomUUID() };
    this.#next = `${this.place.file}.next`;
  }

  /** Writes the file for the first time, then periodically. Never rejects. */
  async start(): Promise<void> {
    const { heartbeat = 2_000, log } = this.#options;
    this.#heartbeat = every(heartbeat, () => this.#write(), { what: "write connection state", log });
    await this.#write();
  }

  /** Call when the state of connections has changed. */
  changed(): void {
    if (this.#closed) return;
    this.#collecting ??= setTimeout(() => {
      this.#collecting = undefined;
      void this.#write();
    }, this.#options.collectFor ?? 100).unref();
  }

  /** Removes the file, because this process no longer manages the connections. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#collecting);
    await this.#heartbeat?.close();
    await this.#writing;
    await rm(this.place.file, { force: true }).catch(() => undefined);
    await rm(this.#next, { force: true }).catch(() => undefined);
  }

  #write(): Promise<void> {
    this.#again = true;
    return (this.#writing ??= this.#writeAll());
  }

  /** One write at a time. Later changes go into the next write. */
  async #writeAll(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      try {
        await this.#writeOnce();
        if (this.#failing !== undefined)
          this.#options.log.info({}, "connection state is being written again");
        this.#failing = undefined;
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#writing = undefined;
  }

  async #writeOnce(): Promise<void> {
    const { file, epoch } = this.place;
    const { directory, directives } = this.#options;
    await mkdir(directory, { recursive: true, mode: FOLDER_MODE });
    const status = await lstat(directory);
    if (!status.isDirectory() || (status.mode & OTHERS) !== 0) {
      throw new Error(`${directory} must be a folder that only its owner can access`);
    }
    const state: StateFile = { epoch, at: Math.floor(this.#clock() / 1000), ...directives() };
    const text = JSON.stringify(state);
    // Lua reads either the old file or the new one, never part of one
    await writeFile(this.#next, text, { mode: FILE_MODE });
    await rename(this.#next, file);
  }

  /** Logs the failure once, with its cause. */
  #failed(error: unknown): void {
    this.#options.metrics.connectionStateFailures.inc();
    const cause = error instanceof Error ? error.message : "error";
    if (cause === this.#failing) return;
    this.#failing = cause;
    this.#options.log.error(
      { err: error },
      "cannot write connection state; Envoy will close WebSocket connections",
    );
  }
}
