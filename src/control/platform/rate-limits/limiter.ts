import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { inTime } from "../../../runtime/in-time.ts";
import type { Database } from "../../../storage/index.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { ControlSettings } from "../context.ts";
import type { RateLimiter, RateLimitResult } from "../frame/rate-limiter.ts";
import { RATE_GROUPS, type RateGroup } from "../frame/route.ts";
import { postgresCounts, redisCounts, type Counter, type SharedCounts } from "./shared-counts.ts";
import { countedSubject } from "./subject.ts";

/**
 * Gateways report in batches; their limit only stops a misbehaving one, so each instance counts them locally. A change
 * brings all gateways back at once, and counting them in the database would delay other requests.
 */
const GATEWAY_LIMIT = 60_000;
/** The length of a window, and how long a request waits for the shared counter. */
const TIMING = { windowSeconds: 60, patienceMs: 1_000 };
/** How long the shared counter is not used after a failure. */
const PAUSE_MS = 1_000;

type Settings = Pick<ControlSettings, "environment" | "rateLimits" | "redisUrl">;

interface Counted {
  readonly allowed: boolean;
  readonly result: RateLimiterRes;
}

/**
 * Counts requests in fixed windows that begin with a caller's first request, with one counter for all instances: in
 * PostgreSQL, or in Redis if it is configured. While it is unavailable, each instance counts locally; requests of
 * gateways are always counted locally.
 *
 * @param timing - for tests, which do not wait a minute, and on busy machines wait longer for the count
 */
export function createRateLimiter(
  settings: Settings,
  db: Database,
  log: Log,
  timing: Partial<typeof TIMING> = {},
): RateLimiter {
  const { windowSeconds, patienceMs } = { ...TIMING, ...timing };
  const { environment, redisUrl, rateLimits } = settings;
  const limits: Readonly<Record<RateGroup, number>> = { ...rateLimits, gateway: GATEWAY_LIMIT };
  const counts: SharedCounts =
    redisUrl === undefined ? postgresCounts(db, log) : redisCounts(redisUrl, environment, patienceMs / 2);
  const shared = forGroups((group) => counts.counter(group, limits[group], windowSeconds));
  const alone = forGroups(
    (group) => new RateLimiterMemory({ keyPrefix: group, points: limits[group], duration: windowSeconds }),
  );
  let away = false;
  let pausedUntil = 0;

  async function count(group: RateGroup, key: string): Promise<Counted> {
    const now = performance.now();
    if (now < pausedUntil) return consume(alone[group], key);
    // while it is unavailable, one request per second checks whether it is back
    if (away) pausedUntil = now + PAUSE_MS;
    try {
      const counted = await inTime(consume(shared[group], key), patienceMs, undefined);
      if (counted === undefined) throw new Error(`no answer within ${patienceMs} ms`);
      if (away) log.info("shared rate limiter available again");
      away = false;
      pausedUntil = 0;
      return counted;
    } catch (error) {
      if (!away) log.warn({ err: error }, "shared rate limiter unavailable; counting locally");
      away = true;
      pausedUntil = performance.now() + PAUSE_MS;
      return consume(alone[group], key);
    }
  }

  return {
    async take(group, subject) {
      const key = countedSubject(subject);
      const counted = group === "gateway" ? await consume(alone.gateway, key) : await count(group, key);
      return resultOf(counted, limits[group]);
    },
    close: () => counts.close(),
  };
}

function resultOf({ allowed, result }: Counted, limit: number): RateLimitResult {
  return {
    allowed,
    limit,
    // for a caller that is refused from memory, the library returns no count
    remaining: allowed ? Math.max(0, result.remainingPoints) : 0,
    resetAt: Math.ceil((Date.now() + Math.max(0, result.msBeforeNext)) / 1000),
  };
}

/** The library rejects with the count if a limit is exceeded, and with an error if it could not count. */
async function consume(counter: Counter, key: string): Promise<Counted> {
  try {
    return { allowed: true, result: await counter.consume(key) };
  } catch (error) {
    if (error instanceof RateLimiterRes) return { allowed: false, result: error };
    throw error;
  }
}

function forGroups<T>(make: (group: RateGroup) => T): Readonly<Record<RateGroup, T>> {
  return Object.fromEntries(RATE_GROUPS.map((group) => [group, make(group)])) as Record<RateGroup, T>;
}
