import type { Knex } from "knex";
import { hashSecret, newSecret } from "../../platform/secret-box.ts";
import { DEVICE_MS } from "./device-cookie.ts";

/** Maximum number of known browsers per user; the one with the oldest sign-in is dropped. */
const MAX_DEVICES = 20;

/**
 * Finds the browser that has signed in to the account of an e-mail address before. The cookie of another account is
 * ignored.
 *
 * @returns the id by which its failures are counted
 */
export async function findDevice(
  db: Knex,
  { token, email }: { readonly token: string | undefined; readonly email: string },
  now: Date,
): Promise<string | undefined> {
  if (token === undefined) return undefined;
  const row = await db("dashboard_devices as d")
    .join("dashboard_users as u", "u.id", "d.user_id")
    .where("d.token_hash", hashSecret(token))
    .where("u.email", email)
    .where("d.expires_at", ">", now)
    .first<{ token_hash: string } | undefined>("d.token_hash");
  return row?.token_hash;
}

/**
 * Makes a browser known after a sign-in or after the password was set in it; the user's row is locked.
 *
 * @param presented - the browser's token; it is kept if it is this user's, and otherwise replaced, so that planting a
 *   cookie achieves nothing
 * @returns the token for its cookie
 */
export async function rememberDevice(
  trx: Knex.Transaction,
  userId: string,
  presented: string | undefined,
  now: Date,
): Promise<string> {
  const times = { last_used_at: now, expires_at: new Date(now.getTime() + DEVICE_MS) };
  if (presented !== undefined) {
    const known = await trx("dashboard_devices")
      .where({ token_hash: hashSecret(presented), user_id: userId })
      .where("expires_at", ">", now)
      .update(times);
    if (known > 0) return presented;
  }
  const token = newSecret();
  await trx("dashboard_devices").insert({
    token_hash: hashSecret(token),
    user_id: userId,
    created_at: now,
    ...times,
  });
  const kept = trx("dashboard_devices")
    .where({ user_id: userId })
    .orderBy([
      { column: "last_used_at", order: "desc" },
      { column: "created_at", order: "desc" },
    ])
    .limit(MAX_DEVICES)
    .select("token_hash");
  await trx("dashboard_devices").where({ user_id: userId }).whereNotIn("token_hash", kept).delete();
  return token;
}

/** Forgets every browser of a user, because somebody who knew the old password may have used one. */
export async function forgetDevices(trx: Knex.Transaction, userId: string): Promise<void> {
  await trx("dashboard_devices").where({ user_id: userId }).delete();
}
