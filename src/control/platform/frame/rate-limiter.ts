import type { RateGroup } from "./route.ts";

/** A caller's usage of its limit. */
export interface RateLimitResult {
  readonly allowed: boolean;
  /** Requests in a window. */
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds: when the window ends. */
  readonly resetAt: number;
}

/** Counts requests. */
export interface RateLimiter {
  /**
   * Counts one request. Never rejects: where the shared count cannot be reached, this instance counts alone.
   *
   * @param subject - who is counted: a key, a dashboard user, or an address where nobody is known
   */
  take(group: RateGroup, subject: string): Promise<RateLimitResult>;
  close(): Promise<void>;
}
