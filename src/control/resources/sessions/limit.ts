import type { Knex } from "knex";
import type { ControlContext } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import { TOLERANCE_MS, whereOpen } from "../../platform/open-sessions.ts";
import type { UnitOfWork, UnitOrigin } from "../../platform/unit.ts";
import { lockRowsUntilEnd } from "../../../storage/index.ts";
import { AT_ONCE, endLocked, lockUnended } from "./end.ts";

const ACTOR = { kind: "system", id: "session-limit", name: "limit of sessions" } as const;
const REASON = "session_limit";

/**
 * Ends the oldest sessions of a user who opens another one, beyond `limit`. All sessions of a user end in one transaction when the user
 * is suspended, deleted or logged out, and anyone can sign in again and again. The user is locked, so that two sign-ins do not
 * count the same sessions.
 */
export async function makeRoomForSession(unit: UnitOfWork, userId: string, limit: number): Promise<void> {
  await endAllBut(unit, userId, limit - 1);
}

/** Ends the sessions that users have beyond the limit: from before there was one, or from a higher one. */
export async function endSessionsBeyondLimit(
  { db, units, clock, settings }: Pick<ControlContext, "db" | "units" | "clock" | "settings">,
  signal?: AbortSignal,
): Promise<void> {
  const limit = settings.sessionsPerUser;
  const origin: UnitOrigin = { actor: ACTOR, requestId: newId("request"), clientIp: "" };
  for (const id of await usersBeyond(db, limit, new Date(clock()))) {
    const endSome = () =>
      units(origin, async (unit) => {
        await lockRowsUntilEnd(unit.trx, "users", [id]);
        return endAllBut(unit, id, limit);
      });
    while (signal?.aborted !== true && (await endSome()) > 0);
  }
}

function usersBeyond(db: Knex, limit: number, now: Date): Promise<string[]> {
  return db("sessions")
    .whereNull("ended_at")
    .where("alive_until", ">", endsWithUser(now))
    .groupBy("user_id")
    .havingRaw("count(*) > ?", [limit])
    .orderBy("user_id")
    .pluck<string[]>("user_id");
}

/** A session that has just expired counts: it ends with the user, too, and a sign-in that is not completed expires within a minute. */
function endsWithUser(now: Date): Date {
  return new Date(now.getTime() - TOLERANCE_MS);
}

/**
 * @param keep - how many stay: those that were opened last
 * @returns how many have ended, at most {@link AT_ONCE}
 */
async function endAllBut(unit: UnitOfWork, userId: string, keep: number): Promise<number> {
  const { trx, now } = unit;
  // only so many are read; one of those that stay is always among the newest of any
  const open = trx("sessions")
    .modify(whereOpen)
    .where("user_id", userId)
    .where("alive_until", ">", endsWithUser(now))
    .orderBy(["alive_until", "id"])
    .limit(keep + AT_ONCE)
    .select("id", "created_at");
  const oldest = await trx
    .from(open.as("open"))
    .orderBy([
      { column: "created_at", order: "desc" },
      { column: "id", order: "desc" },
    ])
    .offset(keep)
    .pluck<string[]>("id");
  const ids = await lockUnended(trx, oldest);
  await endLocked(unit, ids, { reason: REASON, at: now });
  return ids.length;
}
