import type { Knex } from "knex";
import type { ControlContext } from "../../platform/context.ts";
import { erasureRetryDelay } from "./failure.ts";

/** Longer than any ordinary transaction takes. */
const REPORTED_AFTER_MS = 60_000;

/**
 * A transaction that started before a deletion was committed may still write personal data that it has read. Every
 * transaction that writes such data gets its id before it reads the data; transactions with ids after this one see the
 * deletion.
 */
export async function setBarriers(db: Knex): Promise<void> {
  await db.raw(
    `update erasures set barrier = pg_current_xact_id()::text::bigint
     where finished_at is null and barrier is null`,
  );
}

/**
 * SQL: the open transactions of this database. The snapshot lists those of the whole server. Only the server's locks show
 * which database a transaction runs in; one without a lock may run in this database.
 */
const OPEN_HERE = `from pg_snapshot_xip(pg_current_snapshot()) as running (id)
  left join pg_locks l on l.transactionid = running.id::xid
    and l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted
  left join pg_stat_activity a on a.pid = l.pid
  left join pg_prepared_xacts p on p.transaction = running.id::xid
  where coalesce(a.datname, p.database, current_database()) = current_database()`;
const ID = "running.id::text::bigint";

/** SQL: whether every transaction that an erasure waits for has ended. */
export const PAST_BARRIER = `barrier <= coalesce((select min(${ID}) ${OPEN_HERE}), barrier)`;

interface Wait {
  readonly id: string;
  readonly kind: string;
  readonly failures: number;
  /** Ids of the connections whose transactions are open; null: not known. */
  readonly pids: readonly (number | null)[];
}

/** Shows and logs erasures that have waited for more than a minute, at the intervals of the retries of failed ones. */
export async function reportWaits({
  db,
  clock,
  log,
}: Pick<ControlContext, "db" | "clock" | "log">): Promise<void> {
  const now = clock();
  const { rows } = await db.raw<{ rows: Wait[] }>(
    `select id, kind, failures + 1 as failures, array(select l.pid ${OPEN_HERE} and ${ID} < barrier) as pids from erasures
     where finished_at is null and requested_at < :before and coalesce(next_attempt_at <= :now, true)
       and not (${PAST_BARRIER})
     order by id`,
    { now: new Date(now), before: new Date(now - REPORTED_AFTER_MS) },
  );
  for (const { id, kind, failures, pids } of rows) {
    log.warn({ erasure: id, kind, pids, failures }, "an erasure waits for transactions that began before it");
    await db("erasures")
      .where({ id, failures: failures - 1 })
      .whereNull("finished_at")
      .update({
        failures,
        failure: "waiting for transactions that began before the deletion; see the control plane's log",
        next_attempt_at: new Date(now + erasureRetryDelay(failures)),
      });
  }
}
