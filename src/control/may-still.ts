import type { Knex } from "knex";
import { ROLE_PERMISSIONS, SCOPE_PERMISSIONS, type Permission } from "./platform/actor.ts";
import { findApiKey, lockKeyShared, statusOfKey } from "./resources/api-keys/store.ts";
import { isSignedIn, lockSessionShared } from "./resources/dashboard-users/sessions.ts";
import { findDashboardUser } from "./resources/dashboard-users/store.ts";
import type { MayStill } from "./resources/policies/bulk/jobs.ts";

/**
 * Whether those who asked for something that takes time may still configure: their key is active, or they are signed in by the same
 * session and have the role. Until the transaction ends, neither can be withdrawn.
 */
export const mayStillConfigure: MayStill = async (trx, { kind, id, session_id: sessionId = "" }, now) => {
  if (kind === "system") return true;
  if (kind === "api_key") {
    await lockKeyShared(trx, id);
    const key = await findApiKey(trx, id);
    return (
      key !== undefined && statusOfKey(key, now) === "active" && configures(SCOPE_PERMISSIONS[key.scope])
    );
  }
  await lockSessionShared(trx, { id, sessionId });
  return (await isSignedIn(trx, sessionId, now)) && configures(await permissionsOf(trx, id));
};

async function permissionsOf(trx: Knex.Transaction, userId: string): Promise<readonly Permission[]> {
  const user = await findDashboardUser(trx, userId);
  return user === undefined ? [] : ROLE_PERMISSIONS[user.role];
}

function configures(permissions: readonly Permission[]): boolean {
  return permissions.includes("configure");
}
