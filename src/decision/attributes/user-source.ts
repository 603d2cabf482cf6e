import { LRUCache } from "lru-cache";
import type { ValueObject } from "../../policy/index.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { AttributeSource } from "./sources.ts";

export interface UserSourceOptions {
  /** Maximum number of cached users. Default: 10,000. */
  readonly size?: number;
  /** How long a user is cached, ms. Default: 60,000. */
  readonly ttlMs?: number;
}

export interface UserSourceDependencies {
  /** Asks the directory. @returns `undefined` if there is no such user; rejects if the directory fails */
  readonly fetchUser: (id: string) => Promise<ValueObject | undefined>;
  readonly metrics: Pick<Metrics, "cacheHits" | "cacheMisses" | "cacheEvictions" | "userLookupFailures">;
  readonly log: { warn(fields: object, message: string): void };
  /** Unix ms. */
  readonly clock?: () => number;
}

const SIZE = 10_000;
const TTL_MS = 60_000;

/**
 * Ids that were not found. Cached separately, so that invented ids evict no user, and briefly, because the user may be
 * created.
 */
const ABSENT_SIZE = 1_000;
const ABSENT_TTL_MS = 5_000;

/** Longer keys are not cached, so that clients cannot fill the memory with long ids. */
const MAX_KEY = 256;
/** Maximum number of concurrent calls. Further look-ups fail at once instead of queueing. */
const MAX_CALLS = 200;

/**
 * Circuit breaker: after this many failures in a row the directory is not called for a while, then tried with a single
 * call.
 */
const FAILURES_TO_OPEN = 5;
const OPEN_MS = 1_000;

/** A call in progress. It is discarded when the user changes, because its answer may be out of date. */
interface Flight {
  readonly ticket: symbol;
  readonly answer: Promise<ValueObject | undefined>;
}

/**
 * The control plane's directory of users as an attribute source, by user id. Answers are cached for a while, and
 * dropped when the control plane reports a change of the user. If the directory fails, the attribute is unavailable.
 */
export class UserSource implements AttributeSource {
  readonly #users: LRUCache<string, ValueObject>;
  readonly #absent: LRUCache<string, true>;
  readonly #flights = new Map<string, Flight>();
  readonly #dependencies: UserSourceDependencies;
  readonly #clock: () => number;
  #calls = 0;
  #failures = 0;
  #openUntil = 0;
  #probing = false;

  constructor(options: UserSourceOptions, dependencies: UserSourceDependencies) {
    this.#dependencies = dependencies;
    this.#clock = dependencies.clock ?? Date.now;
    // expiry is checked at every read, by our clock
    const timing = { perf: { now: this.#clock }, ttlResolution: 0 };
    const evictions = dependencies.metrics.cacheEvictions.labels({ cache: "attributes" });
    this.#users = new LRUCache({
      max: options.size ?? SIZE,
      ttl: options.ttlMs ?? TTL_MS,
      ...timing,
      dispose: (_user, _id, reason) => {
        if (reason === "evict") evictions.inc();
      },
    });
    this.#absent = new LRUCache({ max: ABSENT_SIZE, ttl: ABSENT_TTL_MS, ...timing });
  }

  lookup(id: string): ValueObject | undefined | Promise<ValueObject | undefined> {
    const { metrics } = this.#dependencies;
    const user = this.#users.get(id);
    if (user !== undefined || this.#absent.has(id)) {
      metrics.cacheHits.inc({ cache: "attributes" });
      return user;
    }
    metrics.cacheMisses.inc({ cache: "attributes" });
    return this.#flights.get(id)?.answer ?? this.#ask(id);
  }

  /** Drops what is cached or being fetched for these users, because they have changed. */
  invalidate(ids: Iterable<string>): void {
    for (const id of ids) {
      this.#users.delete(id);
      this.#absent.delete(id);
      this.#flights.delete(id);
    }
  }

  /** Drops everything, because any user may have changed. */
  invalidateAll(): void {
    this.#users.clear();
    this.#absent.clear();
    this.#flights.clear();
  }

  /** @throws if the directory must not be called now */
  #ask(id: string): Promise<ValueObject | undefined> {
    if (this.#calls >= MAX_CALLS) throw this.#refusal("overload");
    const isProbe = this.#failures >= FAILURES_TO_OPEN;
    if (isProbe && (this.#probing || this.#clock() < this.#openUntil)) throw this.#refusal("circuit");
    if (isProbe) this.#probing = true;
    const ticket = Symbol(id);
    const answer = this.#call(id, ticket);
    this.#flights.set(id, { ticket, answer });
    return answer;
  }

  async #call(id: string, ticket: symbol): Promise<ValueObject | undefined> {
    this.#calls += 1;
    try {
      const user = await this.#dependencies.fetchUser(id);
      this.#failures = 0;
      if (this.#isUnderWay(id, ticket)) this.#keep(id, user);
      return user;
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      if (this.#isUnderWay(id, ticket)) this.#flights.delete(id);
      this.#calls -= 1;
      this.#probing = false;
    }
  }

  #isUnderWay(id: string, ticket: symbol): boolean {
    return this.#flights.get(id)?.ticket === ticket;
  }

  #keep(id: string, user: ValueObject | undefined): void {
    if (id.length > MAX_KEY) return;
    if (user === undefined) this.#absent.set(id, true);
    else this.#users.set(id, user);
  }

  #failed(error: unknown): void {
    const { metrics, log } = this.#dependencies;
    metrics.userLookupFailures.inc({ cause: "failed" });
    this.#failures += 1;
    this.#openUntil = this.#clock() + OPEN_MS;
    // once per outage
    if (this.#failures === 1 || this.#failures === FAILURES_TO_OPEN)
      log.warn(
        { err: error, failures: this.#failures },
        "cannot look up users; their attributes are unavailable",
      );
  }

  #refusal(cause: "circuit" | "overload"): Error {
    this.#dependencies.metrics.userLookupFailures.inc({ cause });
    return new Error(
      cause === "circuit" ? "the user directory does not respond" : "too many concurrent user look-ups",
    );
  }
}
