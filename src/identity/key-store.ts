import type { JobLog } from "../runtime/every.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { importKeySet, type KeySet } from "./key-set.ts";
import type { KeySource } from "./key-source.ts";
import type { ResolvedOptions } from "./options.ts";

/** One state of the issuer's keys; what was concluded from it holds while it is the current one. */
export interface KeySnapshot {
  /** Grows with every change of the usable keys. */
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
  /** ISO 8601: when the keys go out of use unless they are loaded again. */
  readonly staleAt?: string;
  /** Why the last attempt failed; absent when it did not. */
  readonly lastError?: string;
}

type Timing = Pick<ResolvedOptions, "algorithms" | "cooldownMs" | "refreshIntervalMs" | "maxStaleMs">;

/** A file that is being written changes several times at once. */
const SETTLE_MS = 50;

/**
 * Keeps the issuer's keys: loads them, refreshes them, and decides how long they may be used without news. The next
 * set is built aside and put in force by one assignment; one that is broken, empty or without a usable key counts as
 * a failed load, and the last good one stays until it is too old.
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
  /** Until when unknown keys cause no further load, in Unix ms. */
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

  /** The keys to verify with; `undefined` when there are none, or none fresh enough. */
  get current(): KeySnapshot | undefined {
    return this.#clock() < this.#staleAt ? this.#snapshot : undefined;
  }

  /** Until when a look-up that found no key would find none again, in Unix ms, unless the generation changes. */
  get blockedUntil(): number {
    return this.#blockedUntil;
  }

  /** Loads the keys for the first time and goes on refreshing them. Never rejects; look at {@link current}. */
  async start(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#stopWatching ??= this.#source.watch(() => {
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => void this.#loadAfterCurrent(), SETTLE_MS).unref();
    });
    await this.#load();
  }

  /**
   * Loads the keys because a token names one that is not there (RFC 7517 leaves rotation to such look-ups; anybody
   * can make up a name). At most one load a cooldown, whatever the number of calls; calls during a load share it.
   */
  async reloadForUnknownKey(): Promise<void> {
    if (this.#loading !== undefined) return this.#loading;
    const now = this.#clock();
    const { cooldownMs } = this.#timing;
    // the second half keeps a clock that was set back from blocking for longer than a cooldown
    if (now < this.#blockedUntil && this.#blockedUntil - now <= cooldownMs) return;
    this.#blockedUntil = now + cooldownMs;
    await this.#load();
  }

  /** Calls `listener` whenever {@link current} appears or disappears. @returns how to stop. */
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

  /** Ends refreshing. The keys that are there stay usable until they are stale. */
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

  /** A load that is under way may have read what was there before the change. */
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
      this.#log.info(
        { source: this.#source.location, keys: keySet.keys.length },
        "the issuer's keys were loaded",
      );
      if (keySet.suspicious.length > 0) {
        this.#log.warn(
          { source: this.#source.location, ignored: keySet.suspicious },
          "the issuer publishes keys that cannot be used",
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
    this.#log.warn({ source, keys, staleAt, problem: this.#lastError }, "the issuer's keys cannot be loaded");
  }

  /** After a failure the next attempt comes sooner. */
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
    if (!ready) this.#log.error(this.status(), "the issuer's keys are too old to be used");
    for (const listener of this.#listeners) {
      try {
        listener(ready);
      } catch (error) {
        this.#log.error({ err: error }, "a listener to the readiness of keys failed");
      }
    }
  }

  /** Looked at again after each wait; a method, so that the compiler does not take the first answer for the last. */
  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }
}
