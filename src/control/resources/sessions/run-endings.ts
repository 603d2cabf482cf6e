import type { Knex } from "knex";
import { backoffMs } from "../../../runtime/backoff.ts";
import type { ControlContext } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import { longExpired } from "../../platform/open-sessions.ts";
import type { UnitOfWork, UnitOrigin } from "../../platform/unit.ts";
import { endLocked, lockUnended } from "./end.ts";
import type { EndingRow } from "./endings.ts";

const ACTOR = { kind: "system", id: "session-endings", name: "end of sessions" } as const;

/** Sessions of one transaction: others wait for its events and for its notices to gateways. */
const BATCH = 500;
const RETRY = { firstMs: 1_000, longestMs: 60_000, jitter: [1, 1] } as const;

type Dependencies = Pick<ControlContext, "db" | "units" | "clock" | "log">;

/**
 * Ends the sessions of customers that were suspended, archived or deleted, as far as that has not happened yet, a batch at a time.
 * Any number of instances may do so, and one that is interrupted goes on where it was: a session ends, and is announced, in one
 * transaction with the position behind it.
 */
export async function runSessionEndings(dependencies: Dependencies, signal?: AbortSignal): Promise<void> {
  while (signal?.aborted !== true && (await endSome(dependencies)));
}

/** @returns false where there is nothing left to do now */
async function endSome({ db, units, clock, log }: Dependencies): Promise<boolean> {
  const origin: UnitOrigin = { actor: ACTOR, requestId: newId("request"), clientIp: "" };
  const claimed: { ending: EndingRow | undefined } = { ending: undefined };
  try {
    await units(origin, async (unit) => {
      claimed.ending = await claim(unit);
      if (claimed.ending !== undefined) await advance(unit, claimed.ending);
    });
  } catch (error) {
    const { ending } = claimed;
    if (ending === undefined) throw error;
    const { id, customer_id } = ending;
    const failures = ending.failures + 1;
    log.warn({ err: error, customer_id, failures }, "could not end the sessions of a customer; will retry");
    const next_attempt_at = new Date(clock() + backoffMs(failures, RETRY));
    await db("session_endings").where({ id }).update({ failures, next_attempt_at });
  }
  return claimed.ending !== undefined;
}

/**
 * Any of them: a large customer does not hold up the others, and one that has failed waits for its time. Those of one customer come
 * one after the other, so that each session ends with the reason and time that it has for readers already.
 */
async function claim({ trx, now }: UnitOfWork): Promise<EndingRow | undefined> {
  // its lock comes before all reading: an erasure waits for transactions that began before the deletion
  return trx("session_endings as e")
    .whereRaw("coalesce(next_attempt_at <= ?, true)", [now])
    .whereRaw(
      "not exists (select from session_endings o where o.customer_id = e.customer_id and o.id < e.id)",
    )
    .orderByRaw("random()")
    .forUpdate()
    .skipLocked()
    .first<EndingRow | undefined>();
}

async function advance(unit: UnitOfWork, ending: EndingRow): Promise<void> {
  const { trx } = unit;
  const { id, customer_id: customerId, reason, requested_at: at } = ending;
  const found = await sessionsBehind(trx, ending);
  const ids = await lockUnended(
    trx,
    found.map((row) => row.id),
  );
  await endLocked(unit, ids, { reason, at });
  const ended = ending.ended + ids.length;
  const last = found.length < BATCH ? undefined : found.at(-1);
  if (last !== undefined) {
    const position = JSON.stringify([last.at, last.id]);
    await trx("session_endings")
      .where({ id })
      .update({ position, ended, failures: 0, next_attempt_at: null });
    return;
  }
  await trx("session_endings").where({ id }).delete();
  const about = { target: { type: "customer", id: customerId }, customerId };
  unit.record({ action: "customer.sessions_ended", ...about, after: { reason, ended } });
  // if it has become active again, gateways have waited for this
  unit.notifyGateways({ type: "customer_changed", customer_id: customerId });
}

async function sessionsBehind(
  trx: Knex.Transaction,
  { customer_id, before_seq, requested_at, position }: EndingRow,
): Promise<readonly { readonly at: string; readonly id: string }[]> {
  // those that expired before are many, and not among them
  const since = longExpired(requested_at).toISOString();
  const [at, after] = position ?? [since, ""];
  const { rows } = await trx.raw<{ rows: { at: string; id: string }[] }>(
    `select alive_until::text as at, id from sessions
     where customer_id = :customer_id and (alive_until, id) > (:at::timestamptz, :after) and ended_at is null
       and coalesce(seq, 0) < :before_seq and alive_until > :since
     order by alive_until, id limit :limit`,
    { customer_id, at, after, before_seq, since, limit: BATCH },
  );
  return rows;
}
