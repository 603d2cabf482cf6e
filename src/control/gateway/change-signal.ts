import { setTimeout as delay } from "node:timers/promises";
import type { Knex } from "knex";
import type pg from "pg";
import type { Log } from "../../telemetry/log.ts";
import { ASK_AGAIN, CHANNEL } from "./append.ts";

/** How often it is looked for changes and revoked keys that no notification told of. */
const POLL_MS = 1_000;
/**
 * So long, for each follower that was woken, the next change waits for further ones: who is answered comes back, and where changes
 * never end, the process would do nothing else.
 */
const GAP_PER_FOLLOWER_MS = 0.25;
const LONGEST_GAP_MS = 250;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2_000;

/**
 * Wakes those who wait for a change: by PostgreSQL's notifications over one connection of its own, however many wait,
 * and by a look once a second where that connection is lost or says nothing. It may wake without a change; it never
 * lets one pass, as long as those who wait take {@link generation} before they look.
 */
export class ChangeSignal {
  readonly #db: Knex;
  readonly #log: Log;
  readonly #waiting = new Set<() => void>();
  readonly #ended = new AbortController();
  #generation = 0;
  #interruptions = 0;
  #listening: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  #newest: unknown;
  #revoked: unknown;
  #isListening = false;
  /** When those who wait may be woken again; of `performance.now()`. */
  #gapUntil = 0;
  #delayed: NodeJS.Timeout | undefined;

  constructor(db: Knex, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** Another number each time there may be a change. */
  get generation(): number {
    return this.#generation;
  }

  /** Another number each time those who wait are to ask again. */
  get interruptions(): number {
    return this.#interruptions;
  }

  /** Whether commits are notified at the moment: the generation then says at once that there may be something new. */
  get isListening(): boolean {
    return this.#isListening;
  }

  get closed(): boolean {
    return this.#ended.signal.aborted;
  }

  /** Waits until the generation is another than `since`, `ms` have passed, `signal` is aborted, or this is closed. */
  async wait(since: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#generation !== since || this.closed || signal.aborted) return;
    this.#listening ??= this.#listen();
    const look = () => {
      this.#polling ??= this.#poll();
    };
    this.#timer ??= setInterval(look, POLL_MS);
    // what is revoked from now on, not from the first poll on
    if (this.#revoked === undefined) look();
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
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  /** Wakes all who wait, and ends the connection. */
  async close(): Promise<void> {
    this.#ended.abort();
    this.#wakeAll();
    clearTimeout(this.#delayed);
    clearInterval(this.#timer);
    await Promise.all([this.#listening, this.#polling]);
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
    this.#gapUntil = now + Math.min(this.#waiting.size * GAP_PER_FOLLOWER_MS, LONGEST_GAP_MS);
    this.#generation += 1;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Keeps a connection that listens, until this is closed. Never rejects. */
  async #listen(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!this.closed) {
      try {
        await this.#listenOnce(() => (retryMs = FIRST_RETRY_MS));
      } catch (error) {
        this.#log.warn({ err: error }, "changes for gateways are not notified at the moment; polling");
      }
      await delay(retryMs, undefined, { signal: this.#ended.signal }).catch(() => undefined);
      retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
    }
  }

  /** Listens until the connection ends. */
  async #listenOnce(onListening: () => void): Promise<void> {
    const { signal } = this.#ended;
    // a connection like those of the pool, and not one of them: it would be missing there
    const client = await (
      this.#db.client as { acquireRawConnection(): Promise<pg.Client> }
    ).acquireRawConnection();
    const end = () => void client.end().catch(() => undefined);
    const lost = new Promise<void>((resolve, reject) => {
      client.once("end", resolve);
      client.on("error", reject);
    });
    // it may be lost before anybody looks
    lost.catch(() => undefined);
    client.on("notification", ({ payload }) => {
      if (payload === ASK_AGAIN) this.#interruptions += 1;
      this.#wakeAll();
    });
    signal.addEventListener("abort", end);
    try {
      if (signal.aborted) return;
      await client.query(`listen ${CHANNEL}`);
      onListening();
      this.#isListening = true;
      // what was committed while nobody listened
      this.#wakeAll();
      await lost;
    } finally {
      this.#isListening = false;
      signal.removeEventListener("abort", end);
      end();
    }
  }

  async #poll(): Promise<void> {
    try {
      const { newest, revoked } = await this.#db
        .select({
          newest: this.#db("gateway_changes").max("seq"),
          revoked: this.#db("api_keys").count("revoked_at"),
        })
        .first<{ newest: unknown; revoked: unknown }>();
      // what stood when it looks for the first time was not revoked meanwhile
      const isRevoked = this.#revoked !== undefined && revoked !== this.#revoked;
      if (isRevoked) this.#interruptions += 1;
      if (isRevoked || newest !== this.#newest) this.#wakeAll();
      this.#newest = newest;
      this.#revoked = revoked;
    } catch {
      // whoever waits finds out by itself, and says so
    } finally {
      this.#polling = undefined;
    }
  }
}
