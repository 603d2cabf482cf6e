import type { JobLog } from "../runtime/every.ts";
import type { sleep } from "../runtime/sleep.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ControlPlaneClient } from "./client.ts";

export interface StateFeedOptions {
  /** Milliseconds without a response after which the state is no longer used. */
  readonly maxStaleMs: number;
  /** Milliseconds after the control plane first refused the key until the state is no longer used. Default: 60,000. */
  readonly keyRefusedGraceMs?: number;
  /** How long the control plane may hold a response. Default: 20. */
  readonly waitSeconds?: number;
}

export interface StateFeedDependencies {
  readonly client: Pick<ControlPlaneClient, "state">;
  readonly metrics: Pick<
    Metrics,
    "feedTime" | "feedFailures" | "feedAnswers" | "feedEntries" | "feedKeyRefused"
  >;
  readonly log: JobLog;
  /** Unix ms. */
  readonly clock?: () => number;
  /** Waits between requests. */
  readonly sleep?: typeof sleep;
}

/** What a response changed. */
export interface StateChange {
  readonly sessions: readonly string[];
  readonly customers: readonly string[];
  readonly users: readonly string[];
  readonly policySets: readonly string[];
  /** Everything may have changed: entries that are not listed are back to their defaults, and changes may have been missed. */
  readonly complete: boolean;
}
