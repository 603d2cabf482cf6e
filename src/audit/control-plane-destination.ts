import { Backoff } from "../runtime/backoff.ts";
import { inTime } from "../runtime/in-time.ts";
import { sleep } from "../runtime/sleep.ts";
import { path, setting, size } from "../setting-types.ts";
import { assertFolderIsWritable } from "../startup/index.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { AuditLogger } from "./types.ts";
import { RecordDelivery, type Away, type RecordIntake } from "./delivery.ts";
import {
  destinationKind,
  writeError,
  type Destination,
  type WriteError,
  type WriteResult,
} from "./destination.ts";
import { abandonedFolders, spoolFolder } from "./spool-folders.ts";
import { Spool } from "./spool.ts";

export type { IntakeAnswer, RecordIntake } from "./delivery.ts";

export const controlPlaneDestination = destinationKind({
  description: "the control plane",
  keys: {
    spool_directory: setting(
      path(),
      "audit-spool",
      "Folder in which records are spooled while the control plane is unavailable, if it is the destination.",
    ),
    spool_size: setting(size(1_000_000, 1e13), "1GB", "Maximum size of the spool, per worker."),
  },
  needs: ["control_plane.url"],
  assertStartable: (settings) => assertFolderIsWritable("audit.spool_directory", settings.spool_directory),
  open({ spool_directory: root, spool_size: spoolBytes }, { intake, worker, workers, ...dependencies }) {
    if (intake === undefined) throw new Error("no control plane is configured");
    const options = {
      spoolDirectory: spoolFolder(root, worker),
      spoolBytes,
      // the first worker takes over the spools of workers that no longer exist
      ...(worker === 0 && { abandoned: () => abandonedFolders(root, workers) }),
    };
    return new ControlPlaneDestination(options, { ...dependencies, intake });
  },
});

export interface ControlPlaneDestinationOptions {
  /** The spool folder; no other live process uses it. */
  readonly spoolDirectory: string;
  /** Maximum size of the spool, in bytes. */
  readonly spoolBytes: number;
  /** Spool folders of processes that will not come back, if any: their records are delivered, too. */
  readonly abandoned?: () => Promise<readonly string[]>;
}

export interface ControlPlaneDestinationDependencies {
  readonly intake: RecordIntake;
  readonly metrics: Pick<
    Metrics,
    "auditSpooled" | "auditSpoolBytes" | "auditRejected" | "auditRejectedForTime" | "auditDeliveryFailures"
  >;
  readonly log: AuditLogger;
}

/** Timeout for a batch from the queue: short, because the queue fills meanwhile and the batch can be spooled. */
const DIRECT_TIMEOUT_MS = 2_000;
/** Timeout for a batch from the spool. */
const SPOOLED_TIMEOUT_MS = 10_000;
/** Batch size from the spool; the control plane accepts 5,000 records and 16 MB. */
const BATCH_LINES = 2_000;
const BATCH_BYTES = 1024 * 1024;

const RETRIES = { firstMs: 100, longestMs: 5_000 };

/** When no more than this is left in the spool, new records wait until it is empty; otherwise it might never be. */
const NEARLY_EMPTY_BYTES = 1024 * 1024;
const CATCH_UP_MS = 1_000;

/** How often opening the spool is retried. */
const REOPEN_MS = 1_000;

/**
 * The control plane. While it is unavailable, slow or refuses us, records go to a spool on disk. New ones go there, too,
 * until it has been emptied, so that records arrive in order.
 */
export class ControlPlaneDestination implements Destination {
  readonly #options: ControlPlaneDestinationOptions;
  readonly #dependencies: ControlPlaneDestinationDependencies;
  readonly #delivery: RecordDelivery;
  readonly #closing = new AbortController();
  #spool: Spool | undefined;
  #spoolError: WriteError | undefined;
  #opening: Promise<void> | undefined;
  #openedAt = Number.NEGATIVE_INFINITY;
  #draining: Promise<void> | undefined;
  #clearing: Promise<void> = Promise.resolve();
  /** Set while the control plane does not accept records. */
  #away: Away | undefined;
  readonly #backoff = new Backoff(RETRIES);
  /** How long to wait before the next attempt. */
  #pauseMs = 0;
  /** Called when the spool is empty, or cannot be emptied at the moment. */
  #waiting: (() => void)[] = [];

  constructor(options: ControlPlaneDestinationOptions, dependencies: ControlPlaneDestinationDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#delivery = new RecordDelivery({
      ...dependencies,
      signal: this.#closing.signal,
      onRejected: async (line) => this.#spool?.setAside(line),
    });
    // deliver what an earlier process left without waiting for the first record
    void this.#open().then(() => {
      this.#clearing = this.#clearAbandoned();
    });
  }

  /** Records that decisions wait for are spooled first: the control plane may take longer than the decisions' deadline. */
  async write(lines: readonly string[], urgent = false): Promise<WriteResult> {
    await this.#open();
    if (!urgent) await this.#catchUp();
    if (this.#spool !== undefined && (urgent || !this.#spool.isEmpty)) return this.#append(lines);
    const { count, away } = await this.#delivery.deliver(lines, DIRECT_TIMEOUT_MS);
    this.#note(away);
    if (away === undefined) return { written: count };
    const rest = await this.#append(lines.slice(count));
    return { ...rest, written: count + rest.written };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake();
    await Promise.all([this.#opening, this.#draining, this.#clearing]);
    await this.#spool?.close();
    this.#spool = undefined;
  }

  /** Opens the spool, and retries periodically if that fails. Never rejects. */
  #open(): Promise<void> {
    const isDue = performance.now() - this.#openedAt >= REOPEN_MS;
    if (this.#spool === undefined && this.#opening === undefined && isDue && !this.#isClosed()) {
      this.#openedAt = performance.now();
      this.#opening = this.#tryOpen().finally(() => {
        this.#opening = undefined;
      });
    }
    return this.#opening ?? Promise.resolve();
  }

  async #tryOpen(): Promise<void> {
    const { spoolDirectory: directory, spoolBytes: maxBytes } = this.#options;
    const { log } = this.#dependencies;
    try {
      this.#spool = await Spool.open({ directory, maxBytes });
      const { bytes } = this.#spool;
      this.#dependencies.metrics.auditSpoolBytes.set(bytes);
      if (bytes > 0) log.info({ directory, bytes }, "delivering audit records of an earlier process");
      this.#spoolError = undefined;
      this.#drain();
    } catch (error) {
      const { code, message } = writeError(error);
      if (this.#spoolError?.code !== code)
        log.error({ code, directory, reason: message }, "could not open the audit spool; will retry");
      this.#spoolError = { busy: false, code, message };
    }
  }

  async #append(lines: readonly string[]): Promise<WriteResult> {
    const spool = this.#spool;
    if (spool === undefined) return { written: 0, error: this.#spoolError ?? this.#unreachable() };
    const result = await spool.append(lines);
    const { metrics } = this.#dependencies;
    metrics.auditSpooled.inc(result.written);
    metrics.auditSpoolBytes.set(spool.bytes);
    this.#drain();
    return result;
  }

  #unreachable(): WriteError {
    const { code, message } = this.#away ?? {
      code: "UNREACHABLE",
      message: "the control plane is unavailable",
    };
    return { busy: false, code, message };
  }

  /** Waits until the last lines have left the spool. */
  async #catchUp(): Promise<void> {
    const spool = this.#spool;
    if (spool === undefined || spool.isEmpty || this.#away !== undefined) return;
    if (spool.bytes > NEARLY_EMPTY_BYTES || this.#isClosed()) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#waiting.push(() => {
      resolve(undefined);
    });
    await inTime(promise, CATCH_UP_MS, undefined);
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }

  /** Starts emptying the spool, as soon as the control plane accepts records. */
  #drain(): void {
    const spool = this.#spool;
    if (this.#draining !== undefined || spool === undefined || spool.isEmpty || this.#isClosed()) return;
    this.#draining = this.#empty(spool).finally(() => {
      this.#draining = undefined;
      this.#wake();
      // for lines appended at the last moment
      this.#drain();
    });
  }

  /** Delivers the lines of a spool, oldest first, until it is empty or this destination is closed. Never rejects. */
  async #empty(spool: Spool): Promise<void> {
    while (!this.#isClosed()) {
      if (this.#away !== undefined) await this.#sleep(this.#pauseMs);
      try {
        const oldest = await spool.oldest();
        if (oldest === undefined) return;
        if (!(await this.#handOver(oldest.lines))) return;
        await spool.remove(oldest.segment);
        this.#dependencies.metrics.auditSpoolBytes.set(this.#spool?.bytes ?? 0);
      } catch (error) {
        this.#dependencies.log.error({ err: error }, "could not read the audit spool; will retry");
        await this.#sleep(RETRIES.longestMs);
      }
    }
  }

  /** @returns whether all of them were delivered; false if this destination was closed first */
  async #handOver(lines: readonly string[]): Promise<boolean> {
    for (let from = 0; from < lines.length;) {
      if (this.#isClosed()) return false;
      const { count, away } = await this.#delivery.deliver(batchOf(lines, from), SPOOLED_TIMEOUT_MS);
      from += count;
      this.#note(away);
      if (away !== undefined) await this.#sleep(this.#pauseMs);
    }
    return true;
  }

  /** Delivers the spools of processes that will not come back. Never rejects. */
  async #clearAbandoned(): Promise<void> {
    const { abandoned, spoolBytes: maxBytes } = this.#options;
    for (const directory of (await abandoned?.()) ?? []) {
      if (this.#isClosed()) return;
      try {
        const spool = await Spool.open({ directory, maxBytes });
        await this.#empty(spool);
        await spool.close();
      } catch (error) {
        const { code, message } = writeError(error);
        this.#dependencies.log.info({ code, directory, reason: message }, "skipped an audit spool");
      }
    }
  }

  /** Notes whether the control plane accepts records, and logs changes. */
  #note(away: Away | undefined): void {
    const { log } = this.#dependencies;
    if (away === undefined) {
      if (this.#away !== undefined) log.info({}, "the control plane accepts audit records again");
      this.#backoff.succeeded();
      this.#away = undefined;
      return;
    }
    if (this.#isClosed()) return;
    if (this.#away?.code !== away.code)
      log.error(
        { code: away.code, reason: away.message },
        this.#spool === undefined
          ? "the control plane does not accept audit records, and no spool is available"
          : "the control plane does not accept audit records; spooling them",
      );
    this.#pauseMs = Math.max(away.retryAfterMs ?? 0, this.#backoff.failed());
    this.#away = away;
    this.#wake();
  }

  async #sleep(ms: number): Promise<void> {
    await sleep(ms, { signal: this.#closing.signal });
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }
}

function batchOf(lines: readonly string[], from: number): readonly string[] {
  let bytes = 0;
  let to = from;
  for (; to < lines.length && to - from < BATCH_LINES; to += 1) {
    bytes += lines[to]?.length ?? 0;
    if (to > from && bytes > BATCH_BYTES) break;
  }
  return lines.slice(from, to);
}
