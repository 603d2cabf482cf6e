import type { Knex } from "knex";
import { OUTCOME_PREFIX, type RecordFacts, type RecordRow } from "./read-record.ts";

/** How long before its outcome to search for a decision: connections may be open for days. */
const LOOK_BACK_MS = 7 * 86_400_000;

/**
 * Outcomes name only their decision or its request; the decision tells the customer. An outcome without a decision, or
 * whose request has decisions of several customers, is not shown to any customer.
 */
export async function withOwners(
  trx: Knex.Transaction,
  records: readonly RecordFacts[],
): Promise<readonly RecordFacts[]> {
  const rows = records.map(({ row }) => row);
  const outcomes = rows.filter(isOutcome);
  if (outcomes.length === 0) return records;
  const owners = new Map<string, Owner>();
  const times = outcomes.map(({ timestamp }) => timestamp);
  const found = await trx("audit_records")
    .select("id", "request_id", "customer_id", "user_id")
    .whereRaw("(id = any(?) or (request_id = any(?) and request_id <> ''))", [
      outcomes.map(({ id }) => id),
      outcomes.filter(hasNoDecision).map((row) => row.request_id),
    ])
    .where({ kind: "decision" })
    .whereBetween("timestamp", [
      new Date(least(times) - LOOK_BACK_MS),
      new Date(-least(times.map((time) => -time)) + LOOK_BACK_MS),
    ]);
  const decisions = [...(found as DecisionOwner[]), ...rows.filter(({ kind }) => kind === "decision")];
  const byRequest = new Map<string, Owner | undefined>();
  for (const { id, request_id: request, customer_id, user_id } of decisions) {
    owners.set(id, { customer_id, user_id });
    const other = byRequest.get(request);
    const isOther =
      byRequest.has(request) && (other?.customer_id !== customer_id || other.user_id !== user_id);
    byRequest.set(request, isOther ? undefined : { customer_id, user_id });
  }
  const ownerOf = (row: RecordRow) =>
    hasNoDecision(row) ? byRequest.get(row.request_id) : owners.get(row.id);
  return records.map((facts) => {
    const { row } = facts;
    return isOutcome(row) ? { ...facts, row: { ...row, ...ownerOf(row) } } : facts;
  });
}

type Owner = Pick<RecordRow, "customer_id" | "user_id">;
type DecisionOwner = Owner & Pick<RecordRow, "id" | "request_id">;

function isOutcome({ kind }: RecordRow): boolean {
  return kind === "response" || kind === "connection";
}

function hasNoDecision({ id, request_id: request }: RecordRow): boolean {
  return request !== "" && id.startsWith(OUTCOME_PREFIX);
}

function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}
