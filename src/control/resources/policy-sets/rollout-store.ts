import type { Knex } from "knex";
import type { StickyKey } from "../../../decision/policies/release.ts";
import type { GuardCause } from "../../../decision/rollout/compare-arms.ts";
import type { ArmSamples } from "../../../decision/rollout/arm-sample.ts";
import {
  MOST_SHADOW_RULES,
  OTHER_RULES,
  type RolloutReport,
  type RolloutTermsData,
} from "../../../protocol/index.ts";
import { databaseNow, lockRowsUntilEnd } from "../../../storage/index.ts";
import { ApiError } from "../../platform/errors.ts";
import type { NamedActor } from "../../platform/named-actor.ts";
import type { AbortCause, RolloutState } from "./rollout-schemas.ts";

/** A rollout: a candidate beside the version that was active when it began. */
export interface RolloutRow {
  readonly id: string;
  readonly policy_set: string;
  readonly state: RolloutState;
  /** Counts the changes of the terms. */
  readonly revision: number;
  readonly stable_version: string;
  readonly stable_digest: string;
  readonly candidate_version: string;
  readonly candidate_digest: string;
  readonly mode: "shadow" | "enforce";
  /** Without effect in shadow mode, and with steps. */
  readonly percentage: number;
  readonly sticky_by: StickyKey;
  readonly steps: readonly number[];
  readonly step: number;
  /** A bigint, which the driver may return as text. */
  readonly step_pause_ms: number | string;
  readonly guard: RolloutTermsData["guard"];
  readonly started_at: Date;
  readonly started_by: NamedActor;
  /** When the present terms took effect. */
  readonly changed_at: Date;
  readonly ended_at: Date | null;
  readonly ended_by: NamedActor | null;
  readonly cause: AbortCause | null;
  readonly detail: string | null;
}

/** What an operator, or a step, may change. */
export type RolloutChangeable = Pick<
  RolloutRow,
  "mode" | "percentage" | "steps" | "step" | "step_pause_ms" | "guard"
>;

/** @returns the part of the callers for whom the candidate decides, in percent */
export function percentageOf({
  mode,
  steps,
  step,
  percentage,
}: Pick<RolloutRow, "mode" | "steps" | "step" | "percentage">): number {
  return mode === "shadow" ? 0 : (steps[step] ?? percentage);
}

/** The last report of a gateway, without what it has counted in shadow. */
export interface RolloutReportRow {
  /** The family of the API key. */
  readonly sender: string;
  readonly gateway: string;
  readonly revision: number;
  readonly samples: ArmSamples;
  readonly totals: ArmSamples;
  readonly taken_back: { readonly cause: GuardCause; readonly detail: string } | null;
  readonly seen_at: Date;
}

/** What the guard compares. */
export type ComparedReport = Pick<RolloutReportRow, "revision" | "samples" | "seen_at">;

/** Gateways of one key that report about a rollout; more would be a mistake. */
export const MOST_REPORTERS = 1_000;
/** How long the reports of a rollout that has ended are kept. */
const REPORTS_KEPT = "7 days";

/** The rollouts of a set, for lists. */
export function rollouts(db: Knex, policySet: string): Knex.QueryBuilder {
  return db("policy_rollouts").where({ policy_set: policySet }).select("*");
}

export function findRunningRollout(db: Knex, policySet: string): Promise<RolloutRow | undefined> {
  return db("policy_rollouts")
    .where({ policy_set: policySet, state: "running" })
    .first<RolloutRow | undefined>();
}

/** @returns the running rollout of a set, or else the one that ended last */
export function findNewestRollout(db: Knex, policySet: string): Promise<RolloutRow | undefined> {
  return db("policy_rollouts")
    .where({ policy_set: policySet })
    .orderByRaw("state = 'running' desc, started_at desc, id desc")
    .first<RolloutRow | undefined>();
}

export function runningRollouts(db: Knex, policySets?: readonly string[]): Promise<RolloutRow[]> {
  const query = db("policy_rollouts")
    .where({ state: "running" })
    .orderBy("policy_set")
    .select<RolloutRow[]>();
  if (policySets !== undefined) void query.whereRaw("policy_set = any(?)", [[...policySets]]);
  return query;
}

export async function insertRollout(trx: Knex.Transaction, row: RolloutRow): Promise<void> {
  await trx("policy_rollouts").insert({
    ...row,
    steps: JSON.stringify(row.steps),
    guard: row.guard === null ? null : JSON.stringify(row.guard),
    started_by: JSON.stringify(row.started_by),
  });
}

/** Changes the terms of a rollout whose set this transaction has locked. */
export async function updateTerms(
  trx: Knex.Transaction,
  { id, revision }: RolloutRow,
  { steps, guard, ...terms }: RolloutChangeable,
): Promise<RolloutRow> {
  return updated(trx, id, {
    ...terms,
    steps: JSON.stringify(steps),
    guard: guard === null ? null : JSON.stringify(guard),
    revision: revision + 1,
    changed_at: await databaseNow(trx),
  });
}

/** Ends a rollout whose set this transaction has locked. */
export async function endRollout(
  trx: Knex.Transaction,
  { id }: RolloutRow,
  end: Pick<RolloutRow, "cause" | "detail"> & {
    readonly state: Exclude<RolloutState, "running">;
    readonly ended_by: NamedActor;
  },
): Promise<RolloutRow> {
  const by = JSON.stringify(end.ended_by);
  return updated(trx, id, { ...end, ended_by: by, ended_at: await databaseNow(trx) });
}

async function updated(trx: Knex.Transaction, id: string, change: object): Promise<RolloutRow> {
  const [row] = (await trx("policy_rollouts")
    .where({ id, state: "running" })
    .update(change)
    .returning("*")) as RolloutRow[];
  if (row === undefined) throw new Error(`rollout ${id} was locked and has ended`);
  return row;
}

/**
 * Stores a report in place of the gateway's last one.
 *
 * @returns whether the rollout is running; if not, nothing is stored
 * @throws ApiError CONFLICT if too many gateways of the key report
 */
export async function storeReport(
  trx: Knex.Transaction,
  sender: string,
  { rollout, gateway, revision, samples, totals, shadow, taken_back: takenBack }: RolloutReport,
): Promise<boolean> {
  const running = await trx("policy_rollouts")
    .where({ id: rollout, state: "running" })
    .first<object | undefined>("id");
  if (running === undefined) return false;
  const known = await trx("policy_rollout_reports")
    .where({ rollout, sender, gateway })
    .first<object | undefined>("sender");
  // new ones at the same time would all count those before
  if (known === undefined) await lockRowsUntilEnd(trx, "gateways", [sender]);
  const { rowCount: stored } = await trx.raw<{ rowCount: number }>(
    `insert into policy_rollout_reports
       (rollout, sender, gateway, revision, samples, totals, shadow, taken_back, seen_at)
     select :rollout, :sender, :gateway, :revision, :samples, :totals, :shadow, :takenBack, clock_timestamp()
     where exists (select from policy_rollout_reports
                   where rollout = :rollout and sender = :sender and gateway = :gateway)
       or (select count(*) from policy_rollout_reports where rollout = :rollout and sender = :sender) < :most
     on conflict (rollout, sender, gateway) do update set
       revision = excluded.revision, samples = excluded.samples, totals = excluded.totals,
       shadow = excluded.shadow, taken_back = excluded.taken_back, seen_at = excluded.seen_at`,
    {
      ...{ rollout, sender, gateway, revision, most: MOST_REPORTERS },
      samples: JSON.stringify(samples),
      totals: JSON.stringify(totals),
      shadow: shadow === null ? null : JSON.stringify(shadow),
      takenBack: takenBack === null ? null : JSON.stringify(takenBack),
    },
  );
  // as if it were stored, the gateway would never know that nobody looks at what it reports
  if (stored === 0)
    throw new ApiError("CONFLICT", {
      message: `at most ${MOST_REPORTERS} gateways of an API key may report about a rollout`,
    });
  return true;
}

export function reportsOf(db: Knex, rollout: string): Promise<RolloutReportRow[]> {
  return db("policy_rollout_reports")
    .where({ rollout })
    .orderBy(["gateway", "sender"])
    .select<RolloutReportRow[]>(
      ...["sender", "gateway", "revision", "samples", "totals", "taken_back", "seen_at"],
    );
}

/** The reports under the present terms. Read every second, so it reads no more than is compared. */
export function comparedReports(
  db: Knex,
  { id: rollout, revision }: Pick<RolloutRow, "id" | "revision">,
): Promise<ComparedReport[]> {
  return db("policy_rollout_reports")
    .where({ rollout, revision })
    .select<ComparedReport[]>("revision", "samples", "seen_at");
}

/** A gateway that has taken the candidate back, and why. */
export interface TakenBack {
  readonly gateway: string;
  readonly taken_back: NonNullable<RolloutReportRow["taken_back"]>;
}

/** The first gateway that has taken the candidate back, under whatever terms. */
export function findTakenBack(db: Knex, rollout: string): Promise<TakenBack | undefined> {
  return db("policy_rollout_reports")
    .where({ rollout })
    .whereNotNull("taken_back")
    .orderBy(["gateway", "sender"])
    .first<TakenBack | undefined>("gateway", "taken_back");
}

type Shadow = NonNullable<RolloutReport["shadow"]>;

/**
 * What all gateways have counted in shadow. By name only the rules with the most differences: each gateway may name others.
 */
export async function shadowCountsOf(db: Knex, rollout: string): Promise<Shadow> {
  const results = ["same", "different", "failed", "dropped"] as const;
  const sums = results.map((name) => `coalesce(sum((shadow ->> '${name}')::numeric), 0)::text as ${name}`);
  const { rows: totals } = await db.raw<{ rows: Record<(typeof results)[number], string>[] }>(
    `select ${sums.join(", ")} from policy_rollout_reports where rollout = ?`,
    [rollout],
  );
  const { rows: rules } = await db.raw<{
    rows: (Omit<Shadow["rules"][number], "count"> & { readonly count: string })[];
  }>(
    `with counted as (
       select one.difference, one.rule, sum(one.count) as count
       from policy_rollout_reports, jsonb_to_recordset(shadow -> 'rules') as one (difference text, rule text, count numeric)
       where rollout = :rollout group by 1, 2
     ), named as (
       select rule from counted where rule <> :others group by rule order by sum(count) desc, rule limit :most
     ), shown as (
       select counted.difference, coalesce(named.rule, :others) as rule, counted.count
       from counted left join named using (rule)
     )
     select difference, rule, sum(count)::text as count from shown
     group by 1, 2 order by sum(count) desc, rule, difference`,
    { rollout, others: OTHER_RULES, most: MOST_SHADOW_RULES },
  );
  const [total] = totals;
  const count = (name: (typeof results)[number]) => Number(total?.[name] ?? 0);
  return {
    ...{ same: count("same"), different: count("different") },
    ...{ failed: count("failed"), dropped: count("dropped") },
    rules: rules.map((rule) => ({ ...rule, count: Number(rule.count) })),
  };
}

/** How many gateways report about a rollout. */
export async function countReporters(db: Knex, rollout: string): Promise<number> {
  const row = await db("policy_rollout_reports")
    .where({ rollout })
    .count({ total: "*" })
    .first<{ total: number | string }>();
  return Number(row.total);
}

/** Forgets what gateways have reported about rollouts that ended long ago. */
export async function pruneReports(db: Knex): Promise<void> {
  await db("policy_rollout_reports")
    .whereIn(
      "rollout",
      db("policy_rollouts").whereRaw(`ended_at < now() - interval '${REPORTS_KEPT}'`).select("id"),
    )
    .delete();
}
