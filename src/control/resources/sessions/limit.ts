import type { Knex } from "knex";
import type { ControlContext } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import { longExpired, whereOpen } from "../../platform/open-sessions.ts";
import type { UnitOfWork, UnitOrigin } from "../../platform/unit.ts";
import { lockRowsUntilEnd } from "../../../storage/index.ts";
import { AT_ONCE, endLocked, lockUnended } from "./end.ts";

const ACTOR = { kind: "system", id: "session-limit", name: "limit of sessions" } as const;
const REASON = "session_limit";

/** Whose sessions they are. */
interface Owner {
  readonly id: string;
  readonly customer_id: string;
}

/**
 * Ends the oldest sessions of a user who opens another one, beyond `limit`. All sessions of a user end in one transaction when the user
 * is suspended, deleted or logged out, and anyone can sign in again and again. The user is locked, so that two sign-ins do not
 * count the same sessions.
 */
export async function makeRoomForSession(unit: UnitOfWork, user: Owner, limit: number): Promise<void> {
  await endAllBut(unit, user, limit - 1);
}

/** Ends the sessions that users have beyond the limit: from before there was one, or from a higher one. */
export async function endSessionsBeyondLimit(
  { db, units, clock, settings, log }: Pick<ControlContext, "db" | "units" | "clock" | "settings" | "log">,
  signal?: AbortSignal,
): Promise<void> {
  const limit = settings.sessionsPerUser;
  const origin: UnitOrigin = { actor: ACTOR, requestId: newId("request"), clientIp: "" };
  const endSome = (user: Owner) =>
    units(origin, async (unit) => {
      await lockRowsUntilEnd(unit.trx, "users", [user.id]);
      return endAllBut(unit, user, limit);
    });
  for await (const user of usersBeyond(db, limit, new Date(clock()))) {
    try {
      while (signal?.aborted !== true && (await endSome(user)) > 0);
    } catch (error) {
      // those who come after are not kept waiting; the next run tries again
      log.warn({ err: error, user: user.id }, "cannot end the sessions of a user beyond the limit");
    }
    if (signal?.aborted === true) return;
  }
}

/** Users that one statement looks at: of each, it reads no more sessions than the limit has, and one. */
const USERS = 1_000;

async function* usersBeyond(db: Knex, limit: number, now: Date): AsyncGenerator<Owner> {
  for (let after = ""; ;) {
    const { rows } = await db.raw<{ rows: (Owner & { readonly is_beyond: boolean })[] }>(
      `select id, customer_id, exists (
         select from sessions where user_id = page.id and ended_at is null and alive_until > :since
         offset :limit limit 1) as is_beyond
       from (select id, customer_id from users where id > :after order by id limit :users) as page order by id`,
      { since: longExpired(now), limit, after, users: USERS },
    );
    for (const user of rows) if (user.is_beyond) yield user;
    const last = rows.at(-1);
    if (last === undefined || rows.length < USERS) return;
    after = last.id;
  }
}

/**
 * @param keep - how many stay: those that were opened last, and of those that have expired none before all others
 * @returns how many have ended, at most {@link AT_ONCE}
 */
async function endAllBut(unit: UnitOfWork, user: Owner, keep: number): Promise<number> {
  const { trx, now } = unit;
  // only so many are read; one of those that stay is always among the first of any, in the order below
  const open = trx("sessions")
    .modify(whereOpen)
    .where("user_id", user.id)
    // one that has just expired counts: it ends with the user, too, and a sign-in that is not completed expires within a minute
    .where("alive_until", ">", longExpired(now))
    .orderBy(["alive_until", "id"])
    .limit(keep + AT_ONCE)
    .select("id", "created_at", "alive_until", "seq");
  const oldest = await trx
    .from(open.as("open"))
    // sessions are numbered in the order of the locks on their user; the clocks of two instances differ
    .orderByRaw("(alive_until > ?) desc, coalesce(seq, 0) desc, created_at desc, id desc", [now])
    .offset(keep)
    .pluck<string[]>("id");
  const ids = await lockUnended(trx, oldest);
  await endLocked(unit, ids, { reason: REASON, at: now });
  const { length: ended } = ids;
  if (ended > 0)
    unit.record({
      ...{ action: "user.sessions_ended", target: { type: "user", id: user.id } },
      ...{ customerId: user.customer_id, after: { reason: REASON, ended } },
    });
  return ended;
}
