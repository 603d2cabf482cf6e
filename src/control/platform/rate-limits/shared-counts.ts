import { Redis } from "ioredis";
import { RateLimiterPostgres, RateLimiterRedis, type RateLimiterRes } from "rate-limiter-flexible";
import { every, type JobLog } from "../../../runtime/every.ts";
import type { Database } from "../../../storage/index.ts";
import type { Environment } from "../environment.ts";
import type { RateGroup } from "../frame/route.ts";

/** Counts the requests of one group. */
export interface Counter {
  consume(key: string): Promise<RateLimiterRes>;
}

/** A count shared by all instances of an environment. */
export interface SharedCounts {
  counter(group: RateGroup, limit: number, windowSeconds: number): Counter;
  close(): Promise<void>;
}

const TABLE = "rate_limits";
const CLEAR_MS = 5 * 60_000;

/** In the environment's own database: one statement per request. */
export function postgresCounts(db: Database, log: JobLog): SharedCounts {
  const pruning = every(CLEAR_MS, () => db(TABLE).where("expire", "<", Date.now()).delete(), {
    what: "prune expired request counts",
    log,
  });
  return {
    counter: (group, limit, windowSeconds) =>
      new RateLimiterPostgres({
        storeClient: db,
        storeType: "knex",
        tableName: TABLE,
        // a migration creates the table; expired rows are pruned above, where that can be stopped
        tableCreated: true,
        clearExpiredByTimeout: false,
        ...window(group, limit, windowSeconds),
      }),
    close: () => pruning.close(),
  };
}

/** Environments may share a Redis; the names of their counters differ. */
export function redisCounts(url: string, environment: Environment, patienceMs: number): SharedCounts {
  const redis = new Redis(url, {
    connectTimeout: patienceMs,
    commandTimeout: patienceMs,
    maxRetriesPerRequest: 1,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
  });
  // the command that fails reports the error to the caller
  redis.on("error", () => undefined);
  return {
    counter: (group, limit, windowSeconds) =>
      new RateLimiterRedis({
        storeClient: redis,
        ...window(`gatehouse:${environment}:${group}`, limit, windowSeconds),
      }),
    close() {
      redis.disconnect();
      return Promise.resolve();
    },
  };
}

function window(keyPrefix: string, limit: number, windowSeconds: number) {
  return {
    keyPrefix,
    points: limit,
    duration: windowSeconds,
    // a caller over the limit stays so until the window ends, so it is refused from memory
    inMemoryBlockOnConsumed: limit,
  };
}
