import type { Knex } from "knex";
import { HIDDEN } from "../../../text/index.ts";
import { IMPERSONAL_DATA, withoutAddresses } from "../../platform/personal-data.ts";

interface Payload {
  readonly data?: {
    readonly user?: Readonly<Record<string, unknown>>;
    readonly session?: Readonly<Record<string, unknown>>;
    readonly detail?: string;
  };
}

/**
 * Erases what the deliveries of events say of a person, those that wait and those in the log. What waits is delivered without
 * it, for its receiver has to learn what happened; it is signed when it is sent. One that is under way at this moment may
 * go out as it was.
 */
export async function eraseDeliveries(trx: Knex.Transaction, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length === 0) return;
  const rows = await lockDeliveries(trx, eventIds);
  if (rows.length === 0) return;
  await trx.raw(
    // a receiver may answer with what it was sent
    `update webhook_deliveries d set payload = erased.payload, response_body = null
     from unnest(?::text[], ?::text[]) as erased (id, payload) where d.id = erased.id`,
    [
      rows.map(({ id }) => id),
      rows.map(({ payload }) => withoutPerson(payload)),
    ] as unknown as Knex.RawBinding[],
  );
}

interface Sent {
  readonly id: string;
  readonly payload: string;
}

/**
 * Locks all of them. A statement does not see the copies of those that it waited for because they were being sent again, so it looks
 * until there is nothing new: from what is locked nobody copies.
 */
async function lockDeliveries(trx: Knex.Transaction, eventIds: readonly string[]): Promise<Sent[]> {
  const locked = new Set<string>();
  for (;;) {
    const rows = await trx("webhook_deliveries")
      .whereRaw("event_id = any(?)", [[...eventIds]])
      .orderBy("id")
      .forUpdate()
      .select<Sent[]>("id", "payload");
    if (rows.every(({ id }) => locked.has(id))) return rows;
    for (const { id } of rows) locked.add(id);
  }
}

function withoutPerson(text: string): string {
  const payload = JSON.parse(text) as Payload;
  const { user, session, detail, ...rest } = payload.data ?? {};
  const kept = Object.entries(rest).filter(([name]) => IMPERSONAL_DATA.includes(name));
  const data = {
    ...(user !== undefined && { user: without(user, ["email"]) }),
    ...(session !== undefined && { session: { ...session, ip_address: "", user_agent: "" } }),
    ...Object.fromEntries(kept),
    ...(detail !== undefined && { detail: hiddenDetail(detail) }),
  };
  return JSON.stringify({ ...payload, data });
}

function without(value: Readonly<Record<string, unknown>>, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** What is kept of why a sign-in failed: a `sub` is who it was. */
export function hiddenDetail(detail: string): string {
  return detail.startsWith("sub ") ? `sub ${HIDDEN}` : withoutAddresses(detail);
}
