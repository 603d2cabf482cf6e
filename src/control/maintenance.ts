import { every } from "../runtime/every.ts";
import { reportUnknownKeys } from "./encryption/key-check.ts";
import type { BackgroundWork, ControlContext } from "./platform/context.ts";
import { pruneKeys } from "./resources/api-keys/prune.ts";
import { forgetExpiredSignIns } from "./resources/dashboard-users/prune-sign-ins.ts";
import { mayStillConfigure } from "./may-still.ts";
import { runBulkAssignments } from "./resources/policies/bulk/jobs.ts";
import { runErasures } from "./resources/erasure/jobs.ts";
import { pruneDeleted } from "./resources/erasure/prune-deleted.ts";
import { adoptDeletions } from "./resources/erasure/store.ts";
import { forgetExpiredKeys } from "./platform/frame/idempotency.ts";
import { createMaintenanceClock } from "./maintenance-clock.ts";
import { pruneGatewayChanges } from "./gateway/prune.ts";
import type { Keyring } from "./sign-in/issuer/keyring.ts";
import { renewFeedGeneration } from "./analytics/event-feed-generation.ts";
import { maintainPartitions } from "./analytics/records/maintain-partitions.ts";
import { pruneReports } from "./resources/policy-sets/rollout-store.ts";
import { forgetExpiredState } from "./sandbox/provider/adapter.ts";
import { pruneSignIns } from "./sign-in/prune.ts";
import { endSessionsBeyondLimit } from "./resources/sessions/limit.ts";
import { bringNumbersForward } from "./numbers.ts";
import { runSessionEndings } from "./resources/sessions/run-endings.ts";
import { sweep } from "./resources/webhooks/sweep.ts";
import { SEALED_COLUMNS } from "./sealed-columns.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const TEN_MINUTES_MS = 10 * MINUTE_MS;

interface MaintenanceParts {
  /** With the clock of this run: `maintenance-clock.ts`. */
  readonly context: ControlContext;
  readonly keyring: Keyring;
}

interface MaintenanceJob {
  /** The task in words; logged after "could not". */
  readonly what: string;
  readonly everyMs: number;
  /** Also at the start. */
  readonly now?: true;
  readonly level?: "error";
  readonly run: (parts: MaintenanceParts, signal: AbortSignal) => Promise<unknown>;
}

/** Any number of instances may run each of these at the same time. */
const JOBS: readonly MaintenanceJob[] = [
  {
    what: "make and drop partitions",
    everyMs: TEN_MINUTES_MS,
    now: true,
    level: "error",
    run: ({ context }) => maintainPartitions(context),
  },
  {
    // after a restore, and where the database has moved to another server while instances run
    what: "begin a new generation of the feed of events",
    everyMs: MINUTE_MS,
    now: true,
    level: "error",
    run: async ({ context: { db, log } }) => {
      if (await renewFeedGeneration(db))
        log.warn("the database is on another server: the feed of events has begun a new generation");
    },
  },
  {
    // the same: sequences do not move with the database
    what: "bring the numbers of sessions and changes forward",
    everyMs: MINUTE_MS,
    now: true,
    level: "error",
    run: async ({ context: { db, log } }) => {
      await bringNumbersForward(db, (sequence) => {
        log.warn(
          { sequence },
          "the numbers of new rows were behind those that are there, and have been brought forward; after `gateway_changes`, gateways get the complete state",
        );
      });
    },
  },
  {
    // when no request asks for them
    what: "rotate signing keys",
    everyMs: MINUTE_MS,
    run: ({ keyring }) => keyring.published(),
  },
  {
    what: "prune expired sign-ins",
    everyMs: MINUTE_MS,
    run: ({ context }, signal) => pruneSignIns(context, signal),
  },
  {
    what: "prune expired dashboard sign-ins",
    everyMs: TEN_MINUTES_MS,
    run: ({ context: { db, clock } }) => forgetExpiredSignIns(db, new Date(clock())),
  },
  {
    what: "prune expired idempotency keys",
    everyMs: TEN_MINUTES_MS,
    run: ({ context: { db, clock } }) => forgetExpiredKeys(db, new Date(clock())),
  },
  {
    what: "prune old changes for gateways",
    everyMs: TEN_MINUTES_MS,
    now: true,
    run: ({ context: { db, clock } }) => pruneGatewayChanges(db, new Date(clock())),
  },
  {
    what: "prune reports about rollouts",
    everyMs: TEN_MINUTES_MS,
    run: ({ context: { db } }) => pruneReports(db),
  },
  {
    what: "prune old webhook deliveries",
    everyMs: MINUTE_MS,
    run: ({ context }, signal) => sweep(context, signal),
  },
  {
    what: "find deletions by other releases",
    everyMs: TEN_MINUTES_MS,
    now: true,
    run: ({ context: { db } }) => adoptDeletions(db),
  },
  {
    what: "remove rows that were deleted long ago",
    everyMs: TEN_MINUTES_MS,
    now: true,
    run: ({ context }, signal) => pruneDeleted(context, signal),
  },
  {
    what: "remove API keys that ended long ago",
    everyMs: HOUR_MS,
    now: true,
    run: ({ context }, signal) => pruneKeys(context, signal),
  },
  {
    what: "find secrets that no configured key decrypts",
    everyMs: DAY_MS,
    now: true,
    run: ({ context }, signal) => reportUnknownKeys(context, SEALED_COLUMNS, signal),
  },
  {
    what: "finish pending erasures",
    everyMs: SECOND_MS,
    run: ({ context }, signal) => runErasures(context, signal),
  },
  {
    what: "end the sessions of customers",
    everyMs: SECOND_MS,
    run: ({ context }, signal) => runSessionEndings(context, signal),
  },
  {
    // each sign-in keeps to it; users of earlier releases, and of a higher limit, may have more
    what: "end sessions beyond the limit of users",
    everyMs: DAY_MS,
    now: true,
    run: ({ context }, signal) => endSessionsBeyondLimit(context, signal),
  },
  {
    what: "go on with bulk assignments",
    everyMs: SECOND_MS,
    run: ({ context }, signal) => runBulkAssignments(context, mayStillConfigure, signal),
  },
];

const SANDBOX_JOBS: readonly MaintenanceJob[] = [
  {
    what: "prune expired state of the sandbox's provider",
    everyMs: MINUTE_MS,
    run: ({ context: { db, clock } }) => forgetExpiredState(db, new Date(clock())),
  },
];

/** Starts the maintenance of an environment's database, each task on its own interval. */
export function startMaintenance(context: ControlContext, keyring: Keyring): BackgroundWork {
  const isSandbox = context.settings.environment === "sandbox";
  const clockOfRun = createMaintenanceClock(context);
  const jobs = [...JOBS, ...(isSandbox ? SANDBOX_JOBS : [])].map(({ everyMs, run, ...options }) =>
    every(
      everyMs,
      async (signal) => run({ context: { ...context, clock: await clockOfRun() }, keyring }, signal),
      { ...options, retryMs: MINUTE_MS, log: context.log },
    ),
  );
  return {
    async close() {
      await Promise.all(jobs.map((job) => job.close()));
    },
  };
}
