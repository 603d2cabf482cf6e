import type { Knex } from "knex";
import { errorCode } from "../../../runtime/error-code.ts";
import { lockUntilEnd } from "../../../storage/index.ts";

/** Tables that are cut by the day, with a default table for what belongs to no day that has one. */
export type DailyTable = "audit_records" | "events";

const DAY_MS = 86_400_000;
/** Readers and writers stand behind whoever waits for such a lock: it is not waited for long, but tried again later. */
const LOCK_WAIT_MS = 2_000;
/** lock_not_available, deadlock_detected */
const LOST: ReadonlySet<string> = new Set(["55P03", "40P01"]);

/** Start of the UTC day that holds a time, Unix ms. */
export function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

/**
 * The earliest time that is kept, Unix ms: the start of the day that began `keptMs` ago. Nothing before is answered or
 * taken in, whether its partition was dropped already or not.
 */
export function keptSince(now: number, keptMs: number): number {
  return startOfDay(now - keptMs);
}

/**
 * Makes the partition of a day, and moves there what the default table has of it. It is attached rather than made in place,
 * which would lock out the readers of the whole table.
 *
 * @param day - any time of it, Unix ms
 * @returns false when a lock was not to be had: rows go to the default table until the next attempt
 */
export async function makePartition(db: Knex, table: DailyTable, day: number): Promise<boolean> {
  const start = startOfDay(day);
  const partition = partitionName(table, start);
  const [from, to] = [new Date(start).toISOString(), new Date(start + DAY_MS).toISOString()];
  if (await exists(db, partition)) return true;
  return carefully(db, async (trx) => {
    if (await exists(trx, partition)) return;
    const rest = `${table}_default`;
    // writers wait here, before they choose a partition: one that had chosen the default would fail
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

/** Asks the catalogue itself: `to_regclass` may answer from what the connection remembers of it. */
async function exists(db: Knex, name: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: object[] }>(
    "select from pg_class where relname = ? and relnamespace = current_schema()::regnamespace",
    [name],
  );
  return rows.length > 0;
}

/** One instance at a time, and not at any price. */
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
