import type { RateGroup } from "./route.ts";

/** A caller's usage of its limit. */
export interface RateLimitResult {
  readonly allowed: boolean;
  /** Requests in the window. */
  readonly limit: number;
  readonly remaining: number;
  /** The end of the window, in Unix seconds. */
  readonly resetAt: number;
}

/** Counts requests. */
export interface RateLimiter {
  /**
   * Counts one request. Never rejects: while the shared counter is unavailable, this instance counts locally.
   *
   * @param subject - the caller: a key, a dashboard user, or an address if the caller is not known
   */
  take(group: RateGroup, subject: string): Promise<RateLimitResult>;
  close(): Promise<void>;
}
