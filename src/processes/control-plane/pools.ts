import type { Workload, WorkloadContexts } from "../../control/platform/connection-budgets.ts";
import type { ControlContext } from "../../control/platform/context.ts";
import type { Environment } from "../../control/platform/environment.ts";
import { createUnits } from "../../control/platform/unit.ts";
import { unitWriters } from "../../control/unit-writers.ts";
import {
  closeDatabase,
  openDatabase,
  TURN_REFUSALS,
  type Database,
  type RefusedTurn,
} from "../../storage/index.ts";
import type { Log } from "../../telemetry/log.ts";
import type { ControlPlaneMetrics } from "../../telemetry/control-plane-metrics.ts";

export interface PoolsOptions {
  readonly environment: Environment;
  readonly url: string;
  /** Maximum number of connections per kind of work. */
  readonly budgets: Readonly<Record<Workload, number>>;
  /** Milliseconds after which a statement is cancelled, by kind of work. Default: that of {@link openDatabase}. */
  readonly statementTimeoutsMs?: Partial<Readonly<Record<Workload, number>>>;
  /** How long a caller waits for a connection. Default: that of {@link openDatabase}. */
  readonly acquireTimeoutMs?: number;
  readonly log: Log;
  readonly metrics?: Pick<ControlPlaneMetrics, "poolExhausted" | "turnsRefused"> | undefined;
}

/** Work whose callers take turns: what many callers ask for, and what one of them alone could hold up. */
const IN_TURNS: ReadonlySet<Workload> = new Set(["api", "analytics", "feed", "intake"]);
/** Work of gateways. All of them may have one key, which alone gets every connection: what it does is short. */
const OF_GATEWAYS: ReadonlySet<Workload> = new Set(["feed", "intake"]);

/**
 * Opens the pool of one kind of work. A timeout waiting for a connection is logged and counted; and so is, apart from it,
 * a caller that gets no turn.
 */
export function openPool(
  workload: Workload,
  { environment, url, budgets, statementTimeoutsMs, acquireTimeoutMs, log, metrics }: PoolsOptions,
): Database {
  // start at 0, so that the first timeout is an increase
  metrics?.poolExhausted.inc({ environment, workload }, 0);
  const inTurns = IN_TURNS.has(workload);
  if (inTurns)
    for (const reason of TURN_REFUSALS) metrics?.turnsRefused.inc({ environment, workload, reason }, 0);
  const statementTimeoutMs = statementTimeoutsMs?.[workload];
  return openDatabase(url, {
    poolSize: budgets[workload],
    inTurns,
    ...(OF_GATEWAYS.has(workload) && { mostOfCaller: budgets[workload] }),
    applicationName: `gatehouse ${environment}${workload === "api" ? "" : ` ${workload}`}`,
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
    ...(acquireTimeoutMs !== undefined && { acquireTimeoutMs }),
    onExhausted() {
      metrics?.poolExhausted.inc({ environment, workload });
      log.warn({ environment, workload }, "timed out waiting for a database connection");
    },
    onRefusedTurn: refusedTurns(workload, { environment, log, metrics }),
  });
}

/** Counts turns that a caller does not get, and logs the first of them. */
export function refusedTurns(
  workload: Workload,
  { environment, log, metrics }: Pick<PoolsOptions, "environment" | "log" | "metrics">,
): (refused: RefusedTurn) => void {
  return ({ caller, reason, isFirst }) => {
    metrics?.turnsRefused.inc({ environment, workload, reason });
    // one line until nothing of this caller waits any more: the metric counts the others
    if (isFirst)
      log.warn(
        { environment, workload, reason, caller: caller.id, actor: caller.actor },
        "refused requests of a caller: too many of them are waiting for database connections",
      );
  };
}

/** Slightly more than `/readyz` waits. */
const READINESS_TIMEOUT_MS = 5_000;

/**
 * Opens the connection of `/readyz`, beside the pool: it must not wait for anybody, and nobody for its checks, which may
 * meet locks. It stays open while it is idle: a server that has no connections left would refuse another, and a healthy
 * instance would not be ready.
 */
export function openReadiness({ environment, url }: Pick<PoolsOptions, "environment" | "url">): Database {
  return openDatabase(url, {
    poolSize: 1,
    keep: 1,
    applicationName: `gatehouse ${environment} readiness`,
    statementTimeoutMs: READINESS_TIMEOUT_MS,
  });
}

export interface OpenedWorkloads {
  /** The API's context with a pool of its own. */
  readonly workloads: WorkloadContexts;
  readonly readiness: Database;
  close(): Promise<void>;
}

/** Opens the pools of everything except the API. */
export function openWorkloads(context: ControlContext, options: PoolsOptions): OpenedWorkloads {
  const over = (db: Database): ControlContext => ({
    ...context,
    db,
    units: createUnits(db, unitWriters, context.clock),
  });
  const [feed, analytics, intake, keys] = [
    openPool("feed", options),
    openPool("analytics", options),
    openPool("intake", options),
    openPool("keys", options),
  ];
  const readiness = openReadiness(options);
  return {
    workloads: { feed: over(feed), analytics: over(analytics), intake: over(intake), keys: over(keys) },
    readiness,
    async close() {
      await Promise.all([feed, analytics, intake, keys, readiness].map(closeDatabase));
    },
  };
}
