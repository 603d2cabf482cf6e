import type { Knex } from "knex";
import { lockRowShared } from "../storage/index.ts";
import { ROLE_PERMISSIONS, SCOPE_PERMISSIONS, type Permission } from "./platform/actor.ts";
import type { NamedActor } from "./platform/named-actor.ts";
import { findApiKey, lockKeyShared, statusOfKey } from "./resources/api-keys/store.ts";
import { findDashboardUser } from "./resources/dashboard-users/store.ts";

/**
 * Whether those who asked for something that takes time may still configure: their key is active, or their account is there and has
 * the role. Until the transaction ends, neither can be withdrawn.
 */
export async function mayStillConfigure(
  trx: Knex.Transaction,
  { kind, id }: NamedActor,
  now: Date,
): Promise<boolean> {
  if (kind === "system") return true;
  if (kind === "api_key") {
    await lockKeyShared(trx, id);
    const key = await findApiKey(trx, id);
    return (
      key !== undefined && statusOfKey(key, now) === "active" && configures(SCOPE_PERMISSIONS[key.scope])
    );
  }
  await lockRowShared(trx, "credentials", id);
  const user = await findDashboardUser(trx, id);
  return user !== undefined && configures(ROLE_PERMISSIONS[user.role]);
}

function configures(permissions: readonly Permission[]): boolean {
  return permissions.includes("configure");
}
