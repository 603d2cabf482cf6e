import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";
import { counter } from "./figures.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hexadecimal digits");

/** Callers whose decisions the comparison of two arms may leave out. */
export const MOST_IGNORED_CALLERS = 10;

/** How much worse than the stable version a candidate may be, before it is taken back. */
export const rolloutGuard = z.object({
  window_ms: z.int().min(10_000).max(3_600_000),
  min_requests: z.int().min(10).max(1_000_000),
  denial_increase: z.number().min(0).max(1),
  error_increase: z.number().min(0).max(1),
  slowdown: z.int().min(1).max(1_000),
  ignored_callers: z.int().min(0).max(MOST_IGNORED_CALLERS),
});

/** A candidate beside the active version of a set, and for whom it decides. */
export const rolloutTerms = z
  .object({
    id: z.string().min(1),
    /** Counts the changes of the terms. */
    revision: z.int().positive(),
    version: z.string().min(1),
    digest,
    mode: z.enum(["shadow", "enforce"]),
    percentage: z.int().min(0).max(100),
    sticky_by: z.enum(["user", "customer", "client_ip"]),
    /** Null: nothing is compared. */
    guard: rolloutGuard.nullable(),
  })
  .meta({ id: "RolloutTerms" });
export type RolloutTermsData = DeepReadonly<z.output<typeof rolloutTerms>>;

/** Of one sample. */
export const MOST_HEAVY_CALLERS = 32;
/** More than the histogram of any release has. */
const MOST_DURATIONS = 256;
/** Rules whose differences are counted by name; the others count together. */
export const MOST_SHADOW_RULES = 100;
/** The name of all these others; no rule has it as its id. */
export const OTHER_RULES = "*";

const arm = z.object({
  decisions: counter,
  denials: counter,
  errors: counter,
  /** Decisions by duration, as in `src/decision/rollout/arm-sample.ts`. */
  durations: z.array(counter).max(MOST_DURATIONS),
  /** Callers who were denied most, or whose decisions took longest, as in `src/decision/rollout/heavy-callers.ts`. */
  heaviest: z
    .array(
      z.object({
        caller: z.string().min(1).max(32),
        ...{ decisions: counter, denials: counter, errors: counter, slow: counter },
      }),
    )
    .max(MOST_HEAVY_CALLERS),
});
const arms = z.object({ stable: arm, candidate: arm });

const shadowCounts = z.object({
  same: counter,
  different: counter,
  failed: counter,
  dropped: counter,
  rules: z
    .array(
      z.object({
        difference: z.enum(["denies", "allows", "plan"]),
        /** Its id; empty where no rule decided, {@link OTHER_RULES} for those that are not counted by name. */
        rule: z.string().max(256),
        count: counter,
      }),
    )
    .max(3 * MOST_SHADOW_RULES + 3),
});

/**
 * The body of `POST /gateway/rollout-reports`: what a gateway has seen of a rollout. The last report counts. Later releases may
 * report more, which is ignored.
 */
export const rolloutReportBody = z
  .object({
    /** As in registrations. */
    gateway: z.string().regex(/^[\x21-\x7e]{1,200}$/, "must be 1 to 200 visible ASCII characters"),
    rollout: z.string().min(1).max(64),
    revision: z.int().positive().max(1e9),
    /** Decisions by arm within the guard's window, since the present terms took effect. */
    samples: arms,
    /** Decisions by arm since the gateway has the candidate. */
    totals: arms,
    /** Of a candidate in shadow mode, since the gateway has it. */
    shadow: shadowCounts.nullable(),
    /** The gateway itself has taken the candidate back. */
    taken_back: z
      .object({ cause: z.enum(["denials", "errors", "slow"]), detail: z.string().max(500) })
      .nullable(),
  })
  .meta({ id: "RolloutReport" });
export type RolloutReport = DeepReadonly<z.output<typeof rolloutReportBody>>;

export const rolloutReportTaken = z
  .object({
    /** False: the rollout has ended. */
    running: z.boolean(),
    /** When the next report is due. */
    report_after_ms: z.int(),
  })
  .meta({ id: "TakenRolloutReport" });
/** As a gateway reads it: later releases may answer more. */
export const rolloutReportAnswer = rolloutReportTaken.loose();
export type RolloutReportAnswer = DeepReadonly<z.output<typeof rolloutReportTaken>>;
