import type { ControlContext } from "./context.ts";

/** Kinds of work that have their own database connections, so that none of them can block the others. */
export const WORKLOADS = ["api", "feed", "analytics", "intake", "keys"] as const;
export type Workload = (typeof WORKLOADS)[number];

/** Contexts for work other than the API's. If one is absent, the API's context is used. */
export type WorkloadContexts = Readonly<Partial<Record<Exclude<Workload, "api">, ControlContext>>>;

/** Each kind has at least one connection. */
export const SMALLEST_POOL = WORKLOADS.length;
/** All gateways share what is read for them, so few connections are enough. */
const MOST_FOR_FEED = 2;
/** Concurrent key look-ups are combined, so one connection is enough. */
const FOR_KEYS = 1;

/**
 * Divides the connections to a database: a fifth for each kind of work, and the rest for the API. All of them must
 * identify the caller, so API keys are looked up over a connection of their own.
 */
export function connectionBudgets(poolSize: number): Readonly<Record<Workload, number>> {
  const share = Math.max(1, Math.floor(poolSize / 5));
  const feed = Math.min(share, MOST_FOR_FEED);
  return {
    api: poolSize - feed - 2 * share - FOR_KEYS,
    ...{ feed, analytics: share, intake: share, keys: FOR_KEYS },
  };
}

/** Identifying the caller reads one row by its key: if that takes longer, nothing else would work either. */
const LONGEST_FOR_KEYS_MS = 5_000;

/**
 * Statement timeouts by kind of work, in milliseconds. Deliveries and maintenance have the API's.
 *
 * @param api - of the API, the feed and the intake
 */
export function statementTimeouts(api: number, analytics: number): Readonly<Record<Workload, number>> {
  return { api, feed: api, intake: api, analytics, keys: Math.min(api, LONGEST_FOR_KEYS_MS) };
}
