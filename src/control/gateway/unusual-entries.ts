import type { Knex } from "knex";
import type { StateData } from "../../protocol/index.ts";

export type UserState = StateData["users"][number];

export interface EndedSession {
  readonly session_id: string;
  readonly until: Date;
}

export interface UserRecord {
  readonly id: string;
  readonly customer_id: string;
  readonly status: "active" | "suspended";
  readonly deleted_at: Date | null;
}
export const USER_FIELDS = ["id", "customer_id", "status", "deleted_at"];

/** A deleted user is listed for longer than any access token lives. */
const DELETED_LISTED_MS = 2 * 86_400_000;

/**
 * Ended sessions whose tokens may still be valid, by id.
 *
 * @param after - the last id that was read
 */
export async function endedSessionsAfter(
  trx: Knex,
  now: Date,
  after: string,
  most: number,
): Promise<StateData["sessions_ended"]> {
  // the type as it is in the condition of the index by id: a parameter may be planned without its value
  const sessions = await trx("gateway_changes")
    .whereRaw("type = 'session_ended'")
    .where("until", ">", now)
    .where("session_id", ">", after)
    .groupBy("session_id")
    .orderBy("session_id")
    .limit(most)
    .select<EndedSession[]>("session_id", trx.raw("max(until) as until"));
  return sessions.map(endedSessionOf);
}

/** Users that are suspended, or were deleted lately, by id. */
export async function unusualUsersAfter(
  trx: Knex,
  now: Date,
  after: string,
  most: number,
): Promise<readonly UserState[]> {
  const { rows } = await trx.raw<{ rows: UserRecord[] }>(
    `(select ${USER_FIELDS.join(", ")} from users
      where deleted_at is null and status = 'suspended' and id > :after order by id limit :most)
     union all
     (select ${USER_FIELDS.join(", ")} from users
      where deleted_at > :since and id > :after order by id limit :most)
     order by id limit :most`,
    { after, most, since: new Date(now.getTime() - DELETED_LISTED_MS) },
  );
  return rows.map(stateOfUser);
}

export function endedSessionOf({ session_id, until }: EndedSession): StateData["sessions_ended"][number] {
  return { session_id, until: until.toISOString() };
}

export function stateOfUser({ id, customer_id, status, deleted_at }: UserRecord): UserState {
  return { id, customer_id, status: deleted_at === null ? status : "deleted" };
}
