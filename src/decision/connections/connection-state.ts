import { randomUUID } from "node:crypto";
import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { STATE_FILE } from "../../envoy-contract.ts";
import { every, type Job, type JobLog } from "../../runtime/every.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { SlotTable } from "./connection-slots.ts";
import type { ConnectionDirectives } from "./connection-registry.ts";

export interface ConnectionStateOptions {
  /** Made where it is missing; a folder that others may look into is not used. */
  readonly directory: string;
  /** Index of the process. */
  readonly worker: number;
  readonly directives: () => ConnectionDirectives & Partial<SlotTable>;
  readonly metrics: Pick<Metrics, "connectionStateFailures">;
  readonly log: JobLog;
  /** Changes that come so close together are written at once; ms. */
  readonly collectFor?: number;
  /** How often the file is written without a change, far below what Lua takes for a dead service; ms. */
  readonly heartbeat?: number;
  /** Unix ms. */
  readonly clock?: () => number;
}

/** By the names under which Lua looks for it. */
type StateFile = { readonly [Name in keyof typeof STATE_FILE]?: unknown } & ConnectionDirectives;

/** For the owner alone: plans and decisions are about people. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const OTHERS = 0o077;

/**
 * Tells Envoy what became of open connections, in one small file that its Lua looks at once a second: who is to be closed,
 * who has a new plan, and that somebody is still looking after them all - which is why it is written every few seconds,
 * and why failing to write it is no error for anybody here: Lua closes the connections of a service that it does not see.
 */
export class ConnectionState {
  /** Where Lua finds the file, and which life of the process it is from: a later one knows nothing of the connections. */
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

  /** Writes the file for the first time, and goes on. Never rejects. */
  async start(): Promise<void> {
    const { heartbeat = 2_000, log } = this.#options;
    this.#heartbeat = every(heartbeat, () => this.#write(), { what: "write connection state", log });
    await this.#write();
  }

  /** The directives have changed. */
  changed(): void {
    if (this.#closed) return;
    this.#collecting ??= setTimeout(() => {
      this.#collecting = undefined;
      void this.#write();
    }, this.#options.collectFor ?? 100).unref();
  }

  /** Takes the file away: nobody looks after the connections any more. Never rejects. */
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

  /** One write at a time; what changes meanwhile is in the next. */
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
      throw new Error(`${directory} is no folder that only its owner can look into`);
    }
    const state: StateFile = { epoch, at: Math.floor(this.#clock() / 1000), ...directives() };
    const text = JSON.stringify(state);
    // Lua reads the old file or the new one, never a part
    await writeFile(this.#next, text, { mode: FILE_MODE });
    await rename(this.#next, file);
  }

  /** Says once that it fails, and with what. */
  #failed(error: unknown): void {
    this.#options.metrics.connectionStateFailures.inc();
    const cause = error instanceof Error ? error.message : "error";
    if (cause === this.#failing) return;
    this.#failing = cause;
    this.#options.log.error(
      { err: error },
      "connection state cannot be written; Envoy will close WebSocket connections",
    );
  }
}
