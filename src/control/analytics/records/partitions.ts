import type { Knex } from "knex";
import { errorCode } from "../../../runtime/error-code.ts";
import { lockUntilEnd } from "../../../storage/index.ts";

/** Tables partitioned by day, with a default partition for days that have none. */
export type DailyTable = "audit_records" | "record_inputs" | "events";

const DAY_MS = 86_400_000;
/** Readers and writers queue behind a waiting table lock, so the wait is short and retried later. */
const LOCK_WAIT_MS = 2_000;
/** lock_not_available, deadlock_detected */
const LOST: ReadonlySet<string> = new Set(["55P03", "40P01"]);

/** Start of the UTC day that holds a time, Unix ms. */
export function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

/**
 * The start of retention, Unix ms: the start of the day that began `keptMs` ago. Nothing earlier is returned or
 * ingested, even if its partition still exists.
 */
export function keptSince(now: number, keptMs: number): number {
  return startOfDay(now - keptMs);
}

/** Inputs are kept no longer than their records, from which an erasure finds them. */
export function inputsKeptMs({
  inputsMs,
  auditMs,
}: {
  readonly inputsMs: number;
  readonly auditMs: number;
}): number {
  return Math.min(inputsMs, auditMs);
}

/**
 * Creates the partition of a day, and moves its rows there from the default partition. It is created separately and
 * then attached, because creating it in place would block all readers of the table.
 *
 * @param day - any time of it, Unix ms
 * @returns false if the lock was not available: rows go to the default partition until the next attempt
 */
export async function makePartition(db: Knex, table: DailyTable, day: number): Promise<boolean> {
  const start = startOfDay(day);
  const partition = partitionName(table, start);
  const [from, to] = [new Date(start).toISOString(), new Date(start + DAY_MS).toISOString()];
  if (await exists(db, partition)) return true;
  return carefully(db, async (trx) => {
    if (await exists(trx, partition)) return;
    const rest = `${table}_default`;
    // makes writers wait before they choose a partition: one that had chosen the default would fail
    await trx.raw("lock table ?? in share row exclusive mode", [table]);
    await trx.raw("create table ?? (like ?? including all)", [partition, table]);
    await trx.raw(
      `with moved as (delete from ?? where "timestamp" >= ? and "timestamp" < ? returning *)
       insert into ?? select * from moved`,
      [rest, from, to, partition],
    );
    // definitions take no bindings; both are times that were made above
    await trx.raw(`alter table ?? attach partition ?? for values from ('${from}') to ('${to}')`, [
      table,
      partition,
    ]);
  });
}

/** Drops the partitions of days before `since`, and what the default table has from before. @returns what was dropped */
export async function dropPartitions(db: Knex, table: DailyTable, since: number): Promise<string[]> {
  const first = partitionName(table, since);
  const expired = (await partitionsOf(db, table)).filter((name) => name < first);
  const dropped: string[] = [];
  for (const name of expired) {
    if (await carefully(db, (trx) => trx.raw("drop table if exists ??", [name]))) dropped.push(name);
  }
  await db(`${table}_default`).where("timestamp", "<", new Date(since)).delete();
  return dropped;
}

/** Names of the partitions, oldest first; without the default. */
export async function partitionsOf(db: Knex, table: DailyTable): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = ?::regclass and c.relname <> ? order by c.relname`,
    [table, `${table}_default`],
  );
  return rows.map(({ name }) => name);
}

/** `audit_records_20260131`: in the order of time. */
function partitionName(table: DailyTable, day: number): string {
  return `${table}_${new Date(day).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** Queries the catalogue directly, because `to_regclass` may use the connection's cache. */
async function exists(db: Knex, name: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: object[] }>(
    "select from pg_class where relname = ? and relnamespace = current_schema()::regnamespace",
    [name],
  );
  return rows.length > 0;
}

/** One instance at a time, with a limited wait. */
async function carefully(db: Knex, work: (trx: Knex.Transaction) => Promise<unknown>): Promise<boolean> {
  try {
    await db.transaction(async (trx) => {
      await trx.raw(`set local lock_timeout to ${LOCK_WAIT_MS}`);
      await lockUntilEnd(trx, "partitions");
      await work(trx);
    });
    return true;
  } catch (error) {
    if (LOST.has(errorCode(error) ?? "")) return false;
    throw error;
  }
}
