import type { Knex } from "knex";

/** How a counter grows: by adding, or by keeping the earlier or the later time. */
type Merge = "sum" | "least" | "greatest";

interface Rollup {
  /** Column and type of the keys of a rollup. */
  readonly keys: Readonly<Record<string, "text" | "timestamptz" | "date" | "smallint">>;
  readonly counters: Readonly<Record<string, Merge>>;
  /** Busy rows are split into this many copies; see the migration. */
  readonly slots?: number;
}

const PERIOD = { granularity: "text", start: "timestamptz" } as const;
const USER = { customer_id: "text", user_id: "text" } as const;
const OF_USER = { requests: "sum", denied: "sum", sign_ins: "sum" } as const;

/** Every rollup, in the order in which transactions update them, which prevents deadlocks. */
const ROLLUPS = {
  rollup_users: { keys: USER, counters: { ...OF_USER, first_seen_at: "least", last_seen_at: "greatest" } },
  rollup_user_days: { keys: { day: "date", ...USER }, counters: OF_USER },
  rollup_customer_traffic: {
    keys: { ...PERIOD, customer_id: "text", decision: "text", reason: "text", resource: "text" },
    counters: { requests: "sum" },
  },
  rollup_customers: {
    keys: { ...PERIOD, customer_id: "text" },
    counters: { requests: "sum", denied: "sum" },
  },
  rollup_latency: { keys: { ...PERIOD, bucket: "smallint" }, counters: { requests: "sum" }, slots: 4 },
  rollup_resources: {
    keys: { ...PERIOD, resource: "text" },
    counters: { requests: "sum", denied: "sum" },
    slots: 4,
  },
  rollup_decisions: {
    keys: { ...PERIOD, decision: "text", reason: "text" },
    counters: { requests: "sum" },
    slots: 4,
  },
  rollup_customer_events: {
    keys: { ...PERIOD, customer_id: "text", type: "text" },
    counters: { events: "sum" },
    slots: 4,
  },
  rollup_events: { keys: { ...PERIOD, type: "text" }, counters: { events: "sum" }, slots: 4 },
  rollup_caches: {
    keys: { ...PERIOD, cache: "text" },
    counters: { hits: "sum", misses: "sum", evictions: "sum" },
  },
  rollup_audit: { keys: PERIOD, counters: { decided: "sum", recorded: "sum", dropped: "sum" } },
} as const satisfies Record<string, Rollup>;
export type RollupName = keyof typeof ROLLUPS;

/** One row to count: keys and counters by column; times as ISO 8601. */
export type CountRow = Readonly<Record<string, string | number>>;

/**
 * Adds to the rows of a rollup, creating missing ones.
 *
 * @param rows - each key once, and always in the same order, which prevents deadlocks
 */
export async function addCounts(
  trx: Knex.Transaction,
  name: RollupName,
  rows: readonly CountRow[],
): Promise<void> {
  if (rows.length > 0) await trx.raw(upsert(name), [name, JSON.stringify(rows)]);
}

/** The same. @returns the keys that were missing */
export async function addAndTellNew(
  trx: Knex.Transaction,
  name: RollupName,
  rows: readonly CountRow[],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (rows.length === 0) return [];
  const keys = names(Object.keys(ROLLUPS[name].keys));
  // an existing row is locked by its update, which sets its xmax
  const { rows: added } = await trx.raw<{ rows: Record<string, unknown>[] }>(
    `with counted as (${upsert(name)} returning ${keys}, xmax = 0 as added)
     select ${keys} from counted where added`,
    [name, JSON.stringify(rows)],
  );
  return added;
}

/** With the rollup's name and the rows in JSON as its bindings. */
function upsert(name: RollupName): string {
  const { keys, counters, slots }: Rollup = ROLLUPS[name];
  const types = Object.entries({ ...keys, ...typesOf(counters) });
  const columns = types.map(([column]) => column);
  const slot = slots === undefined ? [] : ["slot"];
  return `insert into ?? (${names([...columns, ...slot])})
    select ${names(columns)}${slots === undefined ? "" : `, pg_backend_pid() % ${slots}`}
    from json_to_recordset(?::json) as counted (${types.map(([column, type]) => `"${column}" ${type}`).join(", ")})
    on conflict (${names([...Object.keys(keys), ...slot])}) do update set ${Object.entries(counters)
      .map(([column, merge]) => `"${column}" = ${merged(name, column, merge)}`)
      .join(", ")}`;
}

function typesOf(counters: Readonly<Record<string, Merge>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(counters).map(([column, merge]) => [column, merge === "sum" ? "bigint" : "timestamptz"]),
  );
}

function merged(table: string, column: string, merge: Merge): string {
  const [old, added] = [`${table}."${column}"`, `excluded."${column}"`];
  return merge === "sum" ? `${old} + ${added}` : `${merge}(${old}, ${added})`;
}

function names(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(", ");
}
