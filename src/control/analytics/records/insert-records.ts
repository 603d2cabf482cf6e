import type { Knex } from "knex";
import type { RecordFacts, RecordRow } from "./read-record.ts";

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

/** The origin of records. We set it for each stored record, whatever the record contains. */
export interface Provenance {
  /** The API key that sent them. */
  readonly ingestedBy: string;
  /** What the gateway calls itself; `undefined` if it does not send one. */
  readonly gateway: string | undefined;
  readonly receivedAt: Date;
}

/**
 * Stores records that are not stored yet. A record is identified by its id, kind and time, which a gateway never
 * changes. Rows are inserted in a fixed order, which prevents deadlocks between transactions with the same records.
 *
 * @returns those that were stored by this call
 */
export async function insertRecords(
  trx: Knex.Transaction,
  records: readonly RecordFacts[],
  { ingestedBy, gateway, receivedAt }: Provenance,
): Promise<readonly RecordFacts[]> {
  const byKey = new Map<string, RecordFacts>();
  for (const record of records) {
    const key = keyOf(record.row);
    // the first one: the others are repetitions
    if (!byKey.has(key)) byKey.set(key, record);
  }
  const sorted = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record);
  const rows = sorted.map(({ row }) => row);
  const names = Object.keys(COLUMNS) as (keyof RecordRow)[];
  const values = names.map((name) =>
    rows.map((row) => (name === "timestamp" ? new Date(row.timestamp) : row[name])),
  );
  const { rows: stored } = await trx.raw<{ rows: (Pick<RecordRow, "id" | "kind"> & { timestamp: Date })[] }>(
    `insert into audit_records (${names.map((name) => `"${name}"`).join(", ")}, ingested_by, gateway, received_at)
     select *, ?, ?, ?::timestamptz from unnest(${names.map((name) => `?::${COLUMNS[name]}[]`).join(", ")})
     on conflict do nothing
     returning "timestamp", id, kind`,
    [ingestedBy, gateway ?? null, receivedAt, ...values] as unknown as Knex.RawBinding[],
  );
  return stored.flatMap(({ timestamp, id, kind }) => {
    const record = byKey.get(keyOf({ timestamp: timestamp.getTime(), id, kind }));
    return record === undefined ? [] : [record];
  });
}

function keyOf({ timestamp, id, kind }: Pick<RecordRow, "timestamp" | "id" | "kind">): string {
  return `${timestamp} ${id} ${kind}`;
}
