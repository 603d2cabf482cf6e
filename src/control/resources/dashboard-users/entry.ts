import type { ControlContext } from "../../platform/context.ts";
import { ApiError, validationFailed } from "../../platform/errors.ts";
import { newId } from "../../platform/ids.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { forgetAttempts } from "./attempts.ts";
import { forgetDevices } from "./devices.ts";
import { hashPassword } from "./hash-password.ts";
import { findLink, isByOwner, takeLink, withdrawLinksBy } from "./links.ts";
import { passwordProblem } from "./password-rules.ts";
import { endSessionsOf } from "./sessions.ts";
import {
  anyDashboardUser,
  findDashboardUser,
  insertDashboardUser,
  lockDashboardUser,
  lockSetup,
  recordedUser,
  type DashboardUserRow,
} from "./store.ts";

type Parts = Pick<ControlContext, "db" | "clock">;

export interface SetupRequest {
  readonly token: string;
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** The first half of a setup. Without a valid link, nothing is hashed. @returns the password's hash */
export async function prepareSetup(
  { db, clock }: Parts,
  { token, email, password }: SetupRequest,
): Promise<string> {
  const link = await findLink(db, token, new Date(clock()));
  if (link?.user_id !== null) throw new ApiError("INVALID_LINK");
  requireGoodPassword(password, "password", email);
  return hashPassword(password, email);
}

/** Creates the first owner. This works only once. */
export async function setUp(
  unit: UnitOfWork,
  { token, email, name }: SetupRequest,
  passwordHash: string,
): Promise<DashboardUserRow> {
  const { trx, now } = unit;
  await lockSetup(trx);
  const link = await takeLink(trx, token, now);
  if (link?.user_id !== null || (await anyDashboardUser(trx))) throw new ApiError("INVALID_LINK");
  const user = newUser({ email, name, role: "owner" }, now, passwordHash);
  await insertDashboardUser(trx, user);
  unit.record({
    action: "dashboard_user.created",
    target: { type: "dashboard_user", id: user.id },
    after: recordedUser(user),
  });
  return user;
}

/** The first half of accepting an invitation. @returns the password's hash */
export async function prepareAcceptance(
  { db, clock }: Parts,
  { token, password }: { readonly token: string; readonly password: string },
): Promise<string> {
  const link = await findLink(db, token, new Date(clock()));
  const user = typeof link?.user_id === "string" ? await findDashboardUser(db, link.user_id) : undefined;
  if (link === undefined || user === undefined || !(await isByOwner(db, link)))
    throw new ApiError("INVALID_LINK");
  requireGoodPassword(password, "password", user.email);
  return hashPassword(password, user.email);
}

/** Sets the password of the link's user. Existing sessions end, and locks are removed. */
export async function acceptInvitation(
  unit: UnitOfWork,
  token: string,
  passwordHash: string,
): Promise<DashboardUserRow> {
  const { trx, now } = unit;
  const link = await findLink(trx, token, now);
  if (typeof link?.user_id !== "string" || !(await isByOwner(trx, link))) throw new ApiError("INVALID_LINK");
  // lock the user before the link, as everywhere
  const user = await lockDashboardUser(trx, link.user_id);
  if ((await takeLink(trx, token, now)) === undefined) throw new ApiError("INVALID_LINK");
  const after = await setPassword(unit, user, passwordHash);
  await endSessionsOf(trx, user.id);
  await forgetAttempts(trx, user.email);
  return after;
}

/**
 * Stores a new password. Other links become invalid, also those that the user has made for others: somebody who knew
 * the old password may have made them. No browser is recognized any more.
 */
export async function setPassword(
  unit: UnitOfWork,
  user: DashboardUserRow,
  passwordHash: string,
): Promise<DashboardUserRow> {
  const { trx, now } = unit;
  const change = { password_hash: passwordHash, updated_at: now, revision: user.revision + 1 };
  await trx("dashboard_users").where({ id: user.id }).update(change);
  await trx("dashboard_links").where({ user_id: user.id }).delete();
  await withdrawLinksBy(trx, user.id);
  await forgetDevices(trx, user.id);
  unit.record({ action: "dashboard_user.password_set", target: { type: "dashboard_user", id: user.id } });
  return { ...user, ...change };
}

/** @throws ApiError 422 */
export function requireGoodPassword(password: string, path: string, email: string): void {
  const message = passwordProblem(password, email);
  if (message !== undefined) throw validationFailed([{ path, message }]);
}

export function newUser(
  { email, name, role }: Pick<DashboardUserRow, "email" | "name" | "role">,
  now: Date,
  passwordHash: string | null,
): DashboardUserRow {
  return {
    id: newId("dashboardUser"),
    email,
    name,
    role,
    password_hash: passwordHash,
    created_at: now,
    updated_at: now,
    last_sign_in_at: null,
    revision: 1,
  };
}
