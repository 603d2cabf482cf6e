import type { Knex } from "knex";
import { OUTCOME_PREFIX, type RecordFacts, type RecordRow } from "./read-record.ts";

/** Column and type of what a record is stored as. */
const COLUMNS = {
  timestamp: "timestamptz",
  kind: "text",
  id: "text",
  request_id: "text",
  customer_id: "text",
  user_id: "text",
  decision: "text",
  reason: "text",
  resource: "text",
  action: "text",
  rule: "text",
  policy_set: "text",
  client_ip: "text",
  evaluation_time_us: "bigint",
  record: "jsonb",
} as const satisfies Record<keyof RecordRow, string>;

/** How long before its outcome a decision is looked for: connections may be open for days. */
const LOOK_BACK_MS = 7 * 86_400_000;

/**
 * Stores records that are not stored yet: one is told by its id, its kind and its time, which a gateway never changes.
 * Rows go in in one order, so that two transactions with the same records do not wait for each other in a circle.
 *
 * @returns those that were stored by this call
 */
export async function insertRecords(
  trx: Knex.Transaction,
  records: readonly RecordFacts[],
): Promise<readonly RecordFacts[]> {
  const byKey = new Map<string, RecordFacts>();
  for (const record of records) {
    const key = keyOf(record.row);
    // the first one: the others are repetitions
    if (!byKey.has(key)) byKey.set(key, record);
  }
  const sorted = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record);
  const rows = await withOwners(
    trx,
    sorted.map(({ row }) => row),
  );
  const names = Object.keys(COLUMNS) as (keyof RecordRow)[];
  const values = names.map((name) =>
    rows.map((row) => (name === "timestamp" ? new Date(row.timestamp) : row[name])),
  );
  const { rows: stored } = await trx.raw<{ rows: (Pick<RecordRow, "id" | "kind"> & { timestamp: Date })[] }>(
    `insert into audit_records (${names.map((name) => `"${name}"`).join(", ")})
     select * from unnest(${names.map((name) => `?::${COLUMNS[name]}[]`).join(", ")})
     on conflict do nothing
     returning "timestamp", id, kind`,
    values as unknown as Knex.RawBinding[],
  );
  return stored.flatMap(({ timestamp, id, kind }) => {
    const record = byKey.get(keyOf({ timestamp: timestamp.getTime(), id, kind }));
    return record === undefined ? [] : [record];
  });
}

function keyOf({ timestamp, id, kind }: Pick<RecordRow, "timestamp" | "id" | "kind">): string {
  return `${timestamp} ${id} ${kind}`;
}

/**
 * Outcomes name only their decision, or its request; whose they are, the decision says. Without one they are shown to no
 * customer, nor where decisions of one request are of several.
 */
async function withOwners(trx: Knex.Transaction, rows: readonly RecordRow[]): Promise<readonly RecordRow[]> {
  const outcomes = rows.filter(({ kind }) => kind !== "decision");
  if (outcomes.length === 0) return rows;
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
  return rows.map((row) => (row.kind === "decision" ? row : { ...row, ...ownerOf(row) }));
}

type Owner = Pick<RecordRow, "customer_id" | "user_id">;
type DecisionOwner = Owner & Pick<RecordRow, "id" | "request_id">;

function hasNoDecision({ kind, id, request_id: request }: RecordRow): boolean {
  return kind !== "decision" && request !== "" && id.startsWith(OUTCOME_PREFIX);
}

function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}
