import type { ControlContext } from "../../platform/context.ts";
import { ApiError } from "../../platform/errors.ts";
import type { Answer, Call } from "../../platform/frame/route.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import {
  beginAttempt,
  isOwnCountLocked,
  succeedAttempt,
  type Attempt,
  type AttemptOrigin,
} from "./attempts.ts";
import { deviceCookie, readDeviceCookie } from "./device-cookie.ts";
import { findDevice, rememberDevice } from "./devices.ts";
import { verifyPassword } from "./hash-password.ts";
import { readSessionCookie, sessionCookie } from "./session-cookie.ts";
import { beginSession, endSessionByToken } from "./sessions.ts";
import { viewOfSession } from "./session-view.ts";
import { findDashboardUser, findDashboardUserByEmail, type DashboardUserRow } from "./store.ts";
import { lockRowsUntilEnd } from "../../../storage/index.ts";

/** The result of checking an e-mail address and a password. */
export interface Checked {
  readonly user: DashboardUserRow | undefined;
  readonly attempt: Attempt;
  readonly good: boolean;
}

type LoginCall = Pick<Call<unknown, unknown, unknown>, "clientIp" | "userAgent" | "headers">;

/**
 * Compares a password with the user's, if the user exists and nothing is locked. The work is the same whether the user
 * exists or not: one counter update, one look-up, one hash; and none if the address, or the known device, is itself
 * locked.
 */
export async function checkPassword(
  { db, clock, settings }: Pick<ControlContext, "db" | "clock" | "settings">,
  { email, password }: { readonly email: string; readonly password: string },
  { clientIp, headers }: Pick<LoginCall, "clientIp" | "headers">,
): Promise<Checked> {
  const token = readDeviceCookie(headers, settings);
  const device = await findDevice(db, { token, email }, new Date(clock()));
  const origin: AttemptOrigin = { email, clientIp, device };
  let attempt: Attempt = { allowed: false };
  // checked before the queue, so that locked callers cannot fill it
  if (await isOwnCountLocked(db, origin, new Date(clock()))) return { user: undefined, attempt, good: false };
  let user: DashboardUserRow | undefined;
  const good = await verifyPassword(
    async () => {
      attempt = await beginAttempt(db, origin, new Date(clock()));
      user = await findDashboardUserByEmail(db, email);
      return attempt.allowed ? user?.password_hash : undefined;
    },
    password,
    device === undefined ? { of: "stranger" } : { of: "known", account: email },
  );
  if (good) await succeedAttempt(db, origin);
  return { user, attempt, good };
}

/**
 * Signs in the user whose password was verified, with a new token. The browser's previous session ends, and the browser
 * is recognized from now on.
 */
export async function signIn(
  { settings }: Pick<ControlContext, "settings">,
  { user: found, attempt, good }: Checked,
  { clientIp, userAgent, headers }: LoginCall,
  unit: UnitOfWork,
): Promise<Answer> {
  const { trx, now } = unit;
  const user = good && found !== undefined ? await stillThere(unit, found) : undefined;
  if (user === undefined) {
    recordFailure(unit, found, attempt);
    return { kind: "refusal", error: invalidCredentials() };
  }
  const before = readSessionCookie(headers, settings);
  if (before !== undefined) await endSessionByToken(trx, before);
  const session = await beginSession(trx, { userId: user.id, clientIp, userAgent }, now);
  const device = await rememberDevice(trx, user.id, readDeviceCookie(headers, settings), now);
  await trx("dashboard_users").where({ id: user.id }).update({ last_sign_in_at: now });
  unit.record({
    action: "dashboard_user.signed_in",
    target: { type: "dashboard_user", id: user.id },
    after: { session_id: session.id },
  });
  const { token, expiresAt } = session;
  const data = viewOfSession({ ...user, last_sign_in_at: now }, token, expiresAt, settings);
  const cookies = [sessionCookie(token, settings), deviceCookie(device, settings)];
  return { kind: "data", status: 200, data, headers: { "set-cookie": cookies } };
}

/** The password may have been changed, or the user deleted, since it was compared. */
async function stillThere(
  { trx }: UnitOfWork,
  checked: DashboardUserRow,
): Promise<DashboardUserRow | undefined> {
  await lockRowsUntilEnd(trx, "credentials", [checked.id]);
  await trx("dashboard_users").where({ id: checked.id }).forUpdate().first("id");
  const user = await findDashboardUser(trx, checked.id);
  return user?.password_hash === checked.password_hash ? user : undefined;
}

/**
 * Does not record what was typed, because people type passwords there. While a counter is locked, nothing is checked or
 * recorded.
 */
function recordFailure(
  unit: UnitOfWork,
  user: DashboardUserRow | undefined,
  { allowed, locks }: Attempt,
): void {
  if (!allowed) return;
  unit.record({
    action: "dashboard_user.sign_in_failed",
    target: { type: "dashboard_user", id: user?.id ?? "unknown" },
    ...(locks !== undefined && {
      after: { locked: locks.counts, locked_until: locks.until.toISOString() },
    }),
  });
}

/** The same answer for a wrong password, an unknown address, and a locked counter. */
function invalidCredentials(): ApiError {
  return new ApiError("INVALID_CREDENTIALS", {
    message: "incorrect e-mail address or password, or too many failed attempts: try again later",
  });
}
