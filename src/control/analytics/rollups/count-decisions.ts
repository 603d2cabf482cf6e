import type { Knex } from "knex";
import { addAndTellNew, addCounts, type CountRow } from "./add-counts.ts";
import { bucketOf } from "./latency.ts";
import { PERIOD_MS, PeriodTally } from "./tally.ts";

/** The parts of a decision that are counted. */
export interface CountedDecision {
  /** Unix ms. */
  readonly timestamp: number;
  readonly customer_id: string | null;
  readonly user_id: string;
  readonly decision: "ALLOW" | "DENY";
  readonly reason: string;
  /** The rule's resource; empty without a rule. */
  readonly guarded: string;
  readonly evaluation_time_us: number;
}

/** Counts decisions into every rollup, within the transaction that stores their records. */
export async function countDecisions(
  trx: Knex.Transaction,
  decisions: readonly CountedDecision[],
): Promise<void> {
  const verdicts = new PeriodTally("minute");
  const resources = new PeriodTally("minute");
  const latency = new PeriodTally("minute");
  const customers = new PeriodTally("minute");
  const ofCustomers = new PeriodTally("hour");
  const users = new Users();
  for (const decided of decisions) {
    const { timestamp, decision, reason, guarded, user_id: user } = decided;
    const customer = decided.customer_id ?? "";
    const denied = decision === "DENY" ? 1 : 0;
    verdicts.add(timestamp, [decision, reason], [1]);
    resources.add(timestamp, [guarded], [1, denied]);
    latency.add(timestamp, [String(bucketOf(decided.evaluation_time_us))], [1]);
    customers.add(timestamp, [customer], [1, denied]);
    if (customer !== "") ofCustomers.add(timestamp, [customer, decision, reason, guarded], [1]);
    if (user !== "") users.add(timestamp, customer, user, [1, denied, 0]);
  }
  await users.count(trx);
  await addCounts(
    trx,
    "rollup_customer_traffic",
    periods(ofCustomers, ["customer_id", "decision", "reason", "resource"], ["requests"]),
  );
  await addCounts(trx, "rollup_customers", periods(customers, ["customer_id"], ["requests", "denied"]));
  await addCounts(trx, "rollup_latency", periods(latency, ["bucket"], ["requests"]));
  await addCounts(trx, "rollup_resources", periods(resources, ["resource"], ["requests", "denied"]));
  await addCounts(trx, "rollup_decisions", periods(verdicts, ["decision", "reason"], ["requests"]));
}

/**
 * Rows for the counts of a period, and for each longer period.
 *
 * @param keys - columns of the key's texts
 * @param counters - columns of the counts
 */
export function periods(
  counted: PeriodTally,
  keys: readonly string[],
  counters: readonly string[],
): readonly CountRow[] {
  const rows: CountRow[] = [];
  for (let tally: PeriodTally | undefined = counted; tally !== undefined; tally = tally.longer()) {
    const { granularity } = tally;
    for (const { start, key, counts } of tally.rows())
      rows.push({
        granularity,
        start: new Date(start).toISOString(),
        ...Object.fromEntries(keys.map((name, index) => [name, key[index] ?? ""])),
        ...Object.fromEntries(counters.map((name, index) => [name, counts[index] ?? 0])),
      });
  }
  return rows;
}

/** Counts user activity, per day and in total. */
export class Users {
  readonly #days = new PeriodTally("day");
  readonly #seen = new Map<string, { first: number; last: number }>();

  /** @param counts - requests, denials, sign-ins */
  add(at: number, customer: string, user: string, counts: readonly [number, number, number]): void {
    this.#days.add(at, [customer, user], counts);
    const id = `${customer}\0${user}`;
    const seen = this.#seen.get(id);
    if (seen === undefined) this.#seen.set(id, { first: at, last: at });
    else {
      seen.first = Math.min(seen.first, at);
      seen.last = Math.max(seen.last, at);
    }
  }

  async count(trx: Knex.Transaction): Promise<void> {
    await addCounts(
      trx,
      "rollup_users",
      this.#days.whole().map(({ key, counts }) => {
        const { first, last } = this.#seen.get(key.join("\0")) ?? { first: 0, last: 0 };
        const seen = {
          first_seen_at: new Date(first).toISOString(),
          last_seen_at: new Date(last).toISOString(),
        };
        return { ...userRow(key, counts), ...seen };
      }),
    );
    const fresh = await addAndTellNew(
      trx,
      "rollup_user_days",
      this.#days.rows().map(({ start, key, counts }) => ({ day: dayOf(start), ...userRow(key, counts) })),
    );
    await noteDays(trx, fresh);
  }
}

/**
 * Records the days on which users were active, so that the users in a range can be counted without visiting every day.
 */
async function noteDays(
  trx: Knex.Transaction,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  if (rows.length === 0) return;
  await trx.raw(
    `insert into rollup_user_activity as known (customer_id, user_id, days)
     select customer_id, user_id, range_agg(daterange(day, day + 1))
     from json_to_recordset(?::json) as fresh (customer_id text, user_id text, day date)
     group by customer_id, user_id
     order by customer_id collate "C", user_id collate "C"
     on conflict (customer_id, user_id) do update set days = known.days + excluded.days`,
    [JSON.stringify(rows)],
  );
}

function userRow(
  [customer = "", user = ""]: readonly string[],
  [requests = 0, denied = 0, signIns = 0]: readonly number[],
): CountRow {
  return { customer_id: customer, user_id: user, requests, denied, sign_ins: signIns };
}

/** `YYYY-MM-DD`, UTC. */
export function dayOf(at: number): string {
  return new Date(Math.floor(at / PERIOD_MS.day) * PERIOD_MS.day).toISOString().slice(0, 10);
}
