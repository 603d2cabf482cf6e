import type { JobLog } from "../runtime/every.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { importKeySet, type KeySet } from "./key-set.ts";
import type { KeySource } from "./key-source.ts";
import type { ResolvedOptions } from "./options.ts";

/** One state of the issuer's keys; results based on it are valid while it is the current one. */
export interface KeySnapshot {
  /** Incremented with every change of the usable keys. */
  readonly generation: number;
  readonly keySet: KeySet;
}

/** For the readiness page. */
export interface KeyStoreStatus {
  readonly ready: boolean;
  readonly source: string;
  readonly keys: number;
  readonly generation: number;
  /** ISO 8601; absent before the first success. */
  readonly loadedAt?: string;
  /** ISO 8601: when the keys can no longer be used unless they are fetched again. */
  readonly staleAt?: string;
  /** Why the last attempt failed; absent if it succeeded. */
  readonly lastError?: string;
}

type Timing = Pick<ResolvedOptions, "algorithms" | "cooldownMs" | "refreshIntervalMs" | "maxStaleMs">;

/** Writing a file causes several change events at once. */
const SETTLE_MS = 50;

/**
 * Keeps the issuer's keys: fetches them, refreshes them, and decides how long they may be used without a successful
 * fetch. The next set is built separately and put in force by one assignment. A set that is malformed, empty or without
 * a usable key counts as a failed fetch, and the last good one stays in use until it is too old.
 */
export class KeyStore {
  readonly #source: KeySource;
  readonly #timing: Timing;
  readonly #clock: () => number;
  readonly #log: JobLog;
  readonly #metrics: Metrics;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<(ready: boolean) => void>();
  #snapshot: KeySnapshot | undefined;
  #loadedAt = 0;
  #lastError: string | undefined;
  #wasReady = false;
  #loading: Promise<void> | undefined;
  /** Until when unknown keys cause no further fetch, in Unix ms. */
  #blockedUntil = 0;
  #nextLoad: NodeJS.Timeout | undefined;
  #staleness: NodeJS.Timeout | undefined;
  #settling: NodeJS.Timeout | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(
    source: KeySource,
    timing: Timing,
    dependencies: { readonly clock: () => number; readonly log: JobLog; readonly metrics: Metrics },
  ) {
    this.#source = source;
    this.#timing = timing;
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
    this.#metrics = dependencies.metrics;
  }

  /** The keys for verification; `undefined` if there are none, or none that are fresh enough. */
  get current(): KeySnapshot | undefined {
    return this.#clock() < this.#staleAt ? this.#snapshot : undefined;
  }

  /** Until when a repeated look-up of a missing key would fail again, in Unix ms, unless the generation changes. */
  get blockedUntil(): number {
    return this.#blockedUntil;
  }

  /** Fetches the keys for the first time and keeps refreshing them. Never rejects; see {@link current}. */
  async start(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#stopWatching ??= this.#source.watch(() => {
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => void this.#loadAfterCurrent(), SETTLE_MS).unref();
    });
    await this.#load();
  }

  /**
   * Fetches the keys because a token names an unknown one (RFC 7517 leaves rotation to such look-ups, but anybody can
   * make up a name). At most one fetch per cooldown, whatever the number of calls; calls during a fetch share it.
   */
  async reloadForUnknownKey(): Promise<void> {
    if (this.#loading !== undefined) return this.#loading;
    const now = this.#clock();
    const { cooldownMs } = this.#timing;
    // the second condition keeps a clock that was set back from blocking for longer than a cooldown
    if (now < this.#blockedUntil && this.#blockedUntil - now <= cooldownMs) return;
    this.#blockedUntil = now + cooldownMs;
    await this.#load();
  }

  /**
   * Calls `listener` whenever {@link current} appears or disappears.
   * @returns a function that removes it.
   */
  onReadyChange(listener: (ready: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  status(): KeyStoreStatus {
    const snapshot = this.#snapshot;
    return {
      ready: this.current !== undefined,
      source: this.#source.location,
      keys: snapshot?.keySet.keys.length ?? 0,
      generation: snapshot?.generation ?? 0,
      ...(snapshot !== undefined && {
        loadedAt: new Date(this.#loadedAt).toISOString(),
        staleAt: new Date(this.#staleAt).toISOString(),
      }),
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
    };
  }

  /** Stops refreshing. The current keys stay usable until they are stale. */
  close(): void {
    this.#closing.abort();
    this.#stopWatching?.();
    clearTimeout(this.#settling);
    clearTimeout(this.#nextLoad);
    clearTimeout(this.#staleness);
    this.#listeners.clear();
  }

  get #staleAt(): number {
    return this.#loadedAt + this.#timing.maxStaleMs;
  }

  #load(): Promise<void> {
    this.#loading ??= this.#attempt().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** A fetch in progress may have read the state before the change. */
  async #loadAfterCurrent(): Promise<void> {
    await this.#loading;
    await this.#load();
  }

  async #attempt(): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    try {
      const keySet = await importKeySet(await this.#source.load(signal), this.#timing.algorithms);
      if (!this.#isClosed()) this.#succeeded(keySet);
    } catch (error) {
      if (!this.#isClosed()) this.#failed(error);
    }
    if (!this.#isClosed()) this.#schedule();
  }

  #succeeded(keySet: KeySet): void {
    const { generation = 0, keySet: previous } = this.#snapshot ?? {};
    this.#loadedAt = this.#clock();
    this.#lastError = undefined;
    if (keySet.fingerprint !== previous?.fingerprint) {
      this.#snapshot = { generation: generation + 1, keySet };
      this.#log.info({ source: this.#source.location, keys: keySet.keys.length }, "loaded the issuer's keys");
      if (keySet.suspicious.length > 0) {
        this.#log.warn(
          { source: this.#source.location, ignored: keySet.suspicious },
          "ignored unusable keys of the issuer",
        );
      }
    }
    this.#metrics.jwksRefreshes.inc({ result: "loaded" });
    this.#metrics.jwksTime.set(this.#loadedAt / 1000);
  }

  #failed(error: unknown): void {
    this.#lastError = error instanceof Error ? error.message : "failed";
    this.#metrics.jwksRefreshes.inc({ result: "failed" });
    const { source, keys, staleAt } = this.status();
    this.#log.warn({ source, keys, staleAt, problem: this.#lastError }, "could not load the issuer's keys");
  }

  /** After a failure, the next attempt follows sooner. */
  #schedule(): void {
    const { cooldownMs, refreshIntervalMs } = this.#timing;
    const delay = this.#lastError === undefined ? refreshIntervalMs : Math.min(cooldownMs, refreshIntervalMs);
    clearTimeout(this.#nextLoad);
    this.#nextLoad = setTimeout(() => void this.#load(), delay).unref();
    this.#noticeReadiness();
  }

  #noticeReadiness(): void {
    const ready = this.current !== undefined;
    clearTimeout(this.#staleness);
    if (ready) {
      const left = this.#staleAt - this.#clock();
      this.#staleness = setTimeout(() => {
        this.#noticeReadiness();
      }, left).unref();
    }
    if (ready === this.#wasReady) return;
    this.#wasReady = ready;
    if (!ready) this.#log.error(this.status(), "the issuer's keys are too old; tokens are refused");
    for (const listener of this.#listeners) {
      try {
        listener(ready);
      } catch (error) {
        this.#log.error({ err: error }, "a listener for the readiness of keys failed");
      }
    }
  }

  /** Checked again after each wait; a method, so that the compiler does not assume that the value stays the same. */
  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }
}
