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
    this.#accepted = new LRUCache({ max: size, dispose });
    this.#refused = new LRUCache({ max: Math.min(size, MAX_REFUSED), dispose });
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
