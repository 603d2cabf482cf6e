import * as z from "zod";
import { STICKY_KEYS } from "../../../decision/policies/release.ts";
import { GUARD_CAUSES } from "../../../decision/rollout/compare-arms.ts";
import { MOST_IGNORED_CALLERS } from "../../../protocol/index.ts";
import { listQuery } from "../../platform/frame/list.ts";
import { actorReference, timestamp } from "../../platform/frame/schemas.ts";

/** The states of a rollout. Only a running one affects gateways. */
export const ROLLOUT_STATES = ["running", "promoted", "aborted"] as const;
export type RolloutState = (typeof ROLLOUT_STATES)[number];

/** Why a rollout was aborted: by somebody, or by the guard. */
export const ABORT_CAUSES = ["operator", ...GUARD_CAUSES] as const;
export type AbortCause = (typeof ABORT_CAUSES)[number];

const MOST_STEPS = 20;
const percentage = z.int().min(0).max(100);

const guardBody = z
  .strictObject({
    window_seconds: z.int().min(10).max(3_600).default(60),
    min_requests: z.int().min(10).max(1_000_000).default(200),
    denial_increase: z.number().min(0).max(1).default(0.05),
    error_increase: z.number().min(0).max(1).default(0.01),
    slowdown: z.int().min(1).max(1_000).default(5),
    ignored_callers: z
      .int()
      .min(0)
      .max(MOST_IGNORED_CALLERS)
      .default(5)
      .describe(
        "What this many callers of each version do alone does not count: those who were denied most, or whose decisions took longest. With 0, every caller counts.",
      ),
  })
  .meta({ id: "NewRolloutGuard" });

export const rolloutBody = z
  .strictObject({
    version: z.string().min(1).max(200).describe("The candidate: a published version that is not active."),
    mode: z.enum(["shadow", "enforce"]).default("shadow"),
    percentage: percentage
      .optional()
      .describe("The part of the callers for whom the candidate decides, in mode `enforce`. Default: 0."),
    steps: z
      .array(z.int().min(1).max(100))
      .max(MOST_STEPS)
      .default([])
      .describe("Percentages through which the candidate goes up by itself, instead of `percentage`."),
    step_pause_seconds: z
      .int()
      .min(1)
      .max(30 * 86_400)
      .default(600)
      .describe("Time at each step. The next one begins only after the guard could compare the versions."),
    sticky_by: z.enum(STICKY_KEYS).default("user"),
    guard: guardBody
      .nullable()
      .prefault({})
      .describe("Takes a candidate back that does worse than the active version; null: nothing is compared."),
  })
  .check(({ value, issues }) => {
    const fault = (path: string, message: string) => {
      issues.push({ code: "custom", path: [path], message, input: value });
    };
    const { steps, percentage: fixed } = value;
    if (steps.length > 0 && fixed !== undefined) fault("percentage", "has no effect with `steps`");
    if (steps.some((step, index) => index > 0 && step <= (steps[index - 1] ?? 0)))
      fault("steps", "must rise from step to step");
  })
  .meta({ id: "NewRollout" });
export type RolloutBody = z.output<typeof rolloutBody>;

export const abortBody = z
  .strictObject({ detail: z.string().trim().min(1).max(500).optional().describe("Why, for people.") })
  .prefault({})
  .meta({ id: "RolloutAbort" });

export const rolloutsQuery = listQuery(["started_at"], {});

const version = z.object({ version: z.string(), digest: z.string() }).meta({ id: "RolloutVersion" });
const arm = z
  .object({
    decisions: z.number(),
    denials: z.number(),
    errors: z.number(),
    p99_ms: z.number().describe("99th percentile of the time of a decision"),
  })
  .meta({ id: "RolloutArm" });
const arms = z.object({ stable: arm, candidate: arm }).meta({ id: "RolloutArms" });

/** A rollout, without what gateways report. */
export const rolloutData = z
  .object({
    id: z.string(),
    policy_set: z.string(),
    state: z.enum(ROLLOUT_STATES),
    revision: z.int().describe("counts the changes of its terms"),
    stable: version.describe("what was active when it began"),
    candidate: version,
    mode: z.enum(["shadow", "enforce"]),
    percentage: percentage.describe("in effect: 0 in shadow mode, else that of the present step"),
    steps: z.array(z.int()),
    step_pause_seconds: z.int(),
    sticky_by: z.enum(STICKY_KEYS),
    guard: z
      .object({
        window_seconds: z.int(),
        min_requests: z.int(),
        denial_increase: z.number(),
        error_increase: z.number(),
        slowdown: z.int(),
        ignored_callers: z.int(),
      })
      .nullable(),
    started_at: timestamp(),
    started_by: actorReference,
    changed_at: timestamp().describe("when its present terms took effect"),
    ended_at: timestamp().nullable(),
    ended_by: actorReference.nullable(),
    cause: z.enum(ABORT_CAUSES).nullable().describe("why it was aborted"),
    detail: z.string().nullable(),
  })
  .meta({ id: "Rollout" });

export const rolloutProgress = rolloutData
  .extend({
    comparison: z
      .object({
        outcome: z.enum(["ok", "inconclusive", "worse"]),
        cause: z.enum(GUARD_CAUSES).optional(),
        detail: z.string().optional(),
      })
      .nullable()
      .describe("what the guard sees now; null in shadow mode, without a guard, and after the end"),
    window: arms.describe("decisions of all gateways within the guard's window"),
    totals: arms.describe("decisions of all gateways since each of them has the candidate"),
    shadow: z.object({
      same: z.number(),
      different: z.number(),
      failed: z.number(),
      dropped: z.number(),
      rules: z.array(
        z.object({
          difference: z.enum(["denies", "allows", "plan"]),
          rule: z.string(),
          count: z.number(),
        }),
      ),
    }),
    gateways: z.array(
      z.object({
        id: z.string(),
        key: z.string(),
        revision: z.int().describe("the terms that it follows"),
        last_seen_at: timestamp(),
        taken_back: z
          .object({ cause: z.enum(GUARD_CAUSES), detail: z.string() })
          .nullable()
          .describe("it has taken the candidate back by itself"),
      }),
    ),
  })
  .meta({ id: "RolloutProgress" });
