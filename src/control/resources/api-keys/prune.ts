import type { Knex } from "knex";
import { transaction } from "../../../storage/index.ts";
import type { ControlContext } from "../../platform/context.ts";
import { familyOf, type ApiKeyRow } from "./store.ts";

/** Families of one transaction. */
const BATCH = 500;
const DAY_MS = 86_400_000;

/**
 * Removes keys that ended before everything that is left of events and audit records. The audit trail names its actors
 * itself. Keys that were rolled go together: each names its neighbours. A family to which a session or a gateway belongs stays.
 */
export async function pruneKeys(
  { db, clock, settings }: Pick<ControlContext, "db" | "clock" | "settings">,
  signal?: AbortSignal,
): Promise<void> {
  const { auditMs, eventsMs } = settings.retention;
  // records are kept for whole days
  const before = new Date(clock() - Math.max(auditMs, eventsMs) - DAY_MS);
  let after: string | undefined = "";
  while (after !== undefined && signal?.aborted !== true) {
    const from: string = after;
    after = await transaction(db, (trx) => pruneSome(trx, before, from));
  }
}

/** @returns the last family that was looked at; `undefined`: there are no more */
async function pruneSome(trx: Knex.Transaction, before: Date, after: string): Promise<string | undefined> {
  const { rows: found } = await trx.raw<{ rows: { family: string }[] }>(
    `select coalesce(family_id, id) as family from api_keys
     where coalesce(family_id, id) > :after
     group by 1 having bool_and(coalesce(revoked_at < :before, false) or coalesce(expires_at < :before, false))
     order by 1 limit :limit`,
    { after, before, limit: BATCH },
  );
  const families = found.map(({ family }) => family);
  if (families.length === 0) return undefined;
  // locked and read again: the expiry of a key that has only expired can be moved
  const keys = await trx("api_keys")
    .whereRaw("coalesce(family_id, id) = any(?)", [families])
    .orderBy("id")
    .forUpdate()
    .select<Pick<ApiKeyRow, "id" | "family_id" | "revoked_at" | "expires_at">[]>(
      ...["id", "family_id", "revoked_at", "expires_at"],
    );
  const going = new Set(families);
  for (const key of keys)
    if (!isBefore(key.revoked_at, before) && !isBefore(key.expires_at, before)) going.delete(familyOf(key));
  await trx.raw(
    `delete from api_keys where coalesce(family_id, id) = any(:going)
       and not exists (select from sessions s where s.client_id = coalesce(api_keys.family_id, api_keys.id))
       and not exists (select from gateways g where g.sender = coalesce(api_keys.family_id, api_keys.id))`,
    { going: [...going] },
  );
  return families.length < BATCH ? undefined : families.at(-1);
}

function isBefore(time: Date | null, before: Date): boolean {
  return time !== null && time < before;
}
