import { LRUCache } from "lru-cache";
import type { Metrics } from "../telemetry/metrics.ts";
import type { IdentityResult } from "./types.ts";

/** A result and how long it holds: while the keys are those of `generation`, from `from` until `until` (Unix ms). */
export interface CachedResult {
  readonly result: IdentityResult;
  readonly generation: number;
  readonly from: number;
  readonly until: number;
}

/**
 * Results by the whole token: any shorter key could be made to collide. Refused tokens are remembered apart, so that
 * made-up ones never push out good ones.
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

  /** @returns what is known of the token and still holds; counts a hit. */
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

/** A refused token may be as long as the limit allows, and is cheap to refuse again. */
const MAX_REFUSED = 1000;

/** Of a space, per token that it may hold: most weigh less, and many that are as long as the limit allows may not fill the memory. */
const BYTES_PER_TOKEN = 4_096;
/** One of the longest tokens has room in the smallest cache. */
const MIN_BYTES = 128 * 1024;

/** What an entry takes besides the token and what was read from it. */
const OVERHEAD = 500;

/** Roughly, in bytes: a token is ASCII, and an identity holds no more than its claims say, in objects of twice the length. */
function weigh({ result }: CachedResult, token: string): number {
  return OVERHEAD + token.length * (result.ok ? 3 : 1);
}
