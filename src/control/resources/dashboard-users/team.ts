import { requestErasure } from "../erasure/store.ts";
import { ApiError } from "../../platform/errors.ts";
import type { RowCheck, UnitOfWork } from "../../platform/unit.ts";
import { forgetAttempts } from "./attempts.ts";
import { newUser } from "./entry.ts";
import { makeInvitation, withdrawLinksBy } from "./links.ts";
import {
  insertDashboardUser,
  lockDashboardUser,
  lockOwners,
  recordedUser,
  type DashboardUserRow,
} from "./store.ts";

export interface Invited {
  readonly user: DashboardUserRow;
  readonly invitation: { readonly url: string; readonly expires_at: Date };
}

/** Creates a user without a password, and the link to set one. */
export async function inviteUser(
  unit: UnitOfWork,
  fields: Pick<DashboardUserRow, "email" | "name" | "role">,
  publicUrl: string,
): Promise<Invited> {
  const { trx, now } = unit;
  const user = newUser(fields, now, null);
  await insertDashboardUser(trx, user);
  unit.record({ action: "dashboard_user.invited", ...about(user), after: recordedUser(user) });
  return { user, invitation: await makeInvitation(unit, user.id, publicUrl) };
}

/**
 * Creates another link for a user whose first one expired or who forgot the password. The old password stays valid
 * until the link is used.
 */
export async function inviteAgain(unit: UnitOfWork, id: string, publicUrl: string): Promise<Invited> {
  const { trx, origin } = unit;
  // before the commit, the maker is locked as well
  const user = await lockDashboardUser(trx, id, [origin.actor.id]);
  unit.record({ action: "dashboard_user.invited", ...about(user) });
  return { user, invitation: await makeInvitation(unit, user.id, publicUrl) };
}

/** @throws ApiError 404; 409 if no owner would be left */
export async function updateUser(
  unit: UnitOfWork,
  id: string,
  change: Partial<Pick<DashboardUserRow, "name" | "role">>,
  check: RowCheck<DashboardUserRow>,
): Promise<DashboardUserRow> {
  const { trx, now } = unit;
  const owners = await lockOwners(trx, [id]);
  const before = await lockDashboardUser(trx, id);
  check(before);
  if (change.role !== undefined && change.role !== "owner") requireOtherOwner(owners, before);
  const after = { ...before, ...change, updated_at: now, revision: before.revision + 1 };
  await trx("dashboard_users")
    .where({ id })
    .update({ ...change, updated_at: now, revision: after.revision });
  if (after.role !== "owner") await withdrawLinksBy(trx, id);
  unit.record({
    action: "dashboard_user.updated",
    ...about(after),
    before: recordedUser(before),
    after: recordedUser(after),
  });
  return after;
}

/**
 * Deletes a user, with sessions, links, and links that the user has made for others. Records of what they did stay, with only their id.
 *
 * @throws ApiError 404; 409 if no owner would be left
 */
export async function deleteUser(
  unit: UnitOfWork,
  id: string,
  check: RowCheck<DashboardUserRow>,
): Promise<void> {
  const owners = await lockOwners(unit.trx, [id]);
  const before = await lockDashboardUser(unit.trx, id);
  check(before);
  requireOtherOwner(owners, before);
  await unit.trx("dashboard_users").where({ id }).delete();
  await withdrawLinksBy(unit.trx, id);
  await forgetAttempts(unit.trx, before.email);
  await requestErasure(unit, { kind: "dashboard_user", id });
  unit.record({ action: "dashboard_user.deleted", ...about(before), before: { role: before.role } });
}

/** An invited owner without a password cannot act as an owner yet. */
function requireOtherOwner(owners: readonly DashboardUserRow[], leaving: DashboardUserRow): void {
  if (leaving.role !== "owner") return;
  if (owners.some(({ id, password_hash: hash }) => id !== leaving.id && hash !== null)) return;
  if (leaving.password_hash === null) return;
  throw new ApiError("CONFLICT", { message: "this is the last owner: make another user an owner first" });
}

function about({ id }: DashboardUserRow) {
  return { target: { type: "dashboard_user", id } };
}
