import { LRUCache } from "lru-cache";
import type { Metrics } from "../telemetry/metrics.ts";
import type { IdentityResult } from "./types.ts";

/** A result and its validity: for the keys of `generation`, from `from` until `until` (Unix ms). */
export interface CachedResult {
  readonly result: IdentityResult;
  readonly generation: number;
  readonly from: number;
  readonly until: number;
}

/**
 * Caches results by the whole token, because a shorter key could be made to collide. Rejected tokens are cached separately, so
 * that made-up ones never evict good ones.
 */
export class TokenCache {
  readonly #accepted: LRUCache<string, CachedResult>;
  readonly #refused: LRUCache<string, CachedResult>;
  readonly #hits: { inc(): void };

  constructor(size: number, metrics: Metrics) {
    const evictions = metrics.cacheEvictions.labels({ cache: "tokens" });
    const dispose = (_entry: CachedResult, _token: string, reason: LRUCache.DisposeReason) => {
      if (reason === "evict") evictions.inc();
    };
    const space = (max: number) =>
      new LRUCache<string, CachedResult>({
        max,
        maxSize: Math.max(max * BYTES_PER_TOKEN, MIN_BYTES),
        sizeCalculation: weigh,
        dispose,
      });
    this.#accepted = space(size);
    this.#refused = space(Math.min(size, MAX_REFUSED));
    this.#hits = metrics.cacheHits.labels({ cache: "tokens" });
  }

  /** @returns the cached result if it is still valid; counts a hit. */
  get(token: string, generation: number, now: number): IdentityResult | undefined {
    const entry = this.#accepted.get(token) ?? this.#refused.get(token);
    if (entry?.generation !== generation || now < entry.from || now >= entry.until) return undefined;
    this.#hits.inc();
    return entry.result;
  }

  set(token: string, entry: CachedResult): void {
    const [home, other] = entry.result.ok ? [this.#accepted, this.#refused] : [this.#refused, this.#accepted];
    other.delete(token);
    home.set(token, entry);
  }
}

/** A rejected token may be as long as the limit allows, and is cheap to reject again. */
const MAX_REFUSED = 1000;

/** Budget per token that the cache may hold, in bytes: most tokens need less, and many of maximum length must not fill the memory. */
const BYTES_PER_TOKEN = 4_096;
/** The smallest cache has room for one token of maximum length. */
const MIN_BYTES = 128 * 1024;

/** Overhead of an entry besides the token and its claims. */
const OVERHEAD = 500;

/** Estimate in bytes: a token is ASCII, and the objects of an identity take about twice the length of its claims. */
function weigh({ result }: CachedResult, token: string): number {
  return OVERHEAD + token.length * (result.ok ? 3 : 1);
}
