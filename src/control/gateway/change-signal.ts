import type { Knex } from "knex";
import { every, type Job } from "../../runtime/every.ts";
import { listen, type Listening } from "../../storage/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { ASK_AGAIN, CHANNEL } from "../platform/gateway-signal.ts";

/** Polling interval for changes and revoked keys without a notification. */
const POLL_MS = 1_000;
/**
 * After waking requests, the next change waits this long for each of them, so that further changes are sent together.
 * Every gateway that gets a response polls again at once: without the pause, a process with constant changes would do
 * nothing else.
 */
const GAP_PER_REQUEST_MS = 0.25;
const LONGEST_GAP_MS = 250;

/**
 * Wakes requests that wait for a change: by PostgreSQL's notifications over a single connection, and by polling once
 * per second in case that connection is lost or silent. It may wake without a change, but never misses one, provided
 * that waiters read {@link generation} before they query.
 */
export class ChangeSignal {
  readonly #db: Knex;
  readonly #log: Log;
  readonly #waiting = new Set<() => void>();
  #closed = false;
  #generation = 0;
  #interruptions = 0;
  #listening: Listening | undefined;
  /** Runs while requests wait. */
  #polling: Job | undefined;
  #lastPoll: Promise<void> | undefined;
  /** Number and tag of the newest change. */
  #newest: string | undefined;
  #revoked: unknown;
  /** When waiting requests may be woken again; time of `performance.now()`. */
  #gapUntil = 0;
  #delayed: NodeJS.Timeout | undefined;

  constructor(db: Knex, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** Increases each time there may be a change. */
  get generation(): number {
    return this.#generation;
  }

  /** Increases each time gateways must poll again (`haveGatewaysAskAgain`). */
  get interruptions(): number {
    return this.#interruptions;
  }

  /** Whether notifications arrive at the moment. If so, the generation increases with every commit at once. */
  get isListening(): boolean {
    return this.#listening?.isListening === true;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Waits until the generation differs from `since`, `ms` have passed, `signal` is aborted, or this is closed. */
  async wait(since: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#generation !== since || this.closed || signal.aborted) return;
    this.#listening ??= this.#listen();
    const what = "check for gateway changes";
    this.#polling ??= every(POLL_MS, () => this.#poll(), { what, log: this.#log });
    // poll now, so that keys revoked before the first interval has passed are noticed
    if (this.#revoked === undefined) void this.#polling.run();
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal.addEventListener("abort", wake);
      this.#waiting.add(wake);
    });
    if (this.#waiting.size === 0) this.#stopPolling();
  }

  /** Wakes all waiting requests, and ends the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    const polled = this.#polling?.close();
    this.#wakeAll();
    clearTimeout(this.#delayed);
    await Promise.all([this.#listening?.close(), polled, this.#lastPoll]);
  }

  /** Called when nothing waits any more, possibly by several requests that were woken together. */
  #stopPolling(): void {
    const polling = this.#polling;
    if (polling === undefined) return;
    this.#polling = undefined;
    this.#lastPoll = polling.close();
  }

  #wakeAll(): void {
    const now = performance.now();
    if (now < this.#gapUntil && !this.closed) {
      this.#delayed ??= setTimeout(() => {
        this.#delayed = undefined;
        this.#wakeAll();
      }, this.#gapUntil - now);
      return;
    }
    this.#gapUntil = now + Math.min(this.#waiting.size * GAP_PER_REQUEST_MS, LONGEST_GAP_MS);
    this.#generation += 1;
    for (const wake of [...this.#waiting]) wake();
  }

  #listen(): Listening {
    return listen(this.#db, CHANNEL, {
      onNotification: (payload) => {
        if (payload === ASK_AGAIN) this.#interruptions += 1;
        this.#wakeAll();
      },
      // there may have been commits before the connection listened
      onListening: () => {
        this.#wakeAll();
      },
      onLost: (error) => {
        this.#log.warn({ err: error }, "change notifications for gateways are unavailable; polling instead");
      },
    });
  }

  async #poll(): Promise<void> {
    const { newest, tag, revoked } = await this.#db
      .select({
        newest: this.#db("gateway_changes").max("seq"),
        // it changes by itself when gateways are to get the complete state (`numbers.ts`)
        tag: this.#db("gateway_changes").select("tag").orderBy("seq", "desc").limit(1),
        // a digest of the set: a count stays the same if one key is revoked while the row of another is removed
        revoked: this.#db("api_keys")
          .whereNotNull("revoked_at")
          .select(this.#db.raw("coalesce(sum(hashtextextended(id, 0)), 0)::text")),
      })
      .first<{ newest: unknown; tag: unknown; revoked: unknown }>();
    // the first poll only notes the earlier revocations
    const isRevoked = this.#revoked !== undefined && revoked !== this.#revoked;
    if (isRevoked) this.#interruptions += 1;
    const place = `${String(newest)}.${String(tag)}`;
    if (isRevoked || place !== this.#newest) this.#wakeAll();
    this.#newest = place;
    this.#revoked = revoked;
  }
}
