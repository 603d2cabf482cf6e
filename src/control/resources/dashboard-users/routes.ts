import type { Actor } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { ApiError, validationFailed } from "../../platform/errors.ts";
import { ok, readRoute, writeRoute, type Answer, type Route } from "../../platform/frame/route.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { deviceCookie } from "./device-cookie.ts";
import { rememberDevice } from "./devices.ts";
import {
  acceptInvitation,
  prepareAcceptance,
  prepareSetup,
  requireGoodPassword,
  setPassword,
  setUp,
} from "./entry.ts";
import { hashPassword } from "./hash-password.ts";
import {
  dashboardSession,
  dashboardUser,
  invitationAcceptance,
  login,
  passwordChange,
  setup,
  signedOut,
} from "./schemas.ts";
import { clearedCookie, readSessionCookie } from "./session-cookie.ts";
import { viewOfSession } from "./session-view.ts";
import { endSession, endSessionsOf, findPresentedSession } from "./sessions.ts";
import { checkPassword, signIn } from "./sign-in.ts";
import { lockDashboardUser, requireDashboardUser, viewOfUser, type DashboardUserRow } from "./store.ts";
import { teamRoutes } from "./team-routes.ts";

const SETS_COOKIE: NonNullable<Route["headers"]> = {
  "Set-Cookie": {
    description: "The session, or what identifies the browser; one header per cookie.",
    type: "string",
    required: true,
  },
};

/** `/dashboard`: how people sign in, and who is signed in. */
export function dashboardRoutes(context: ControlContext): Route[] {
  return [...entryRoutes(context), ...sessionRoutes(context), ...teamRoutes(context)];
}

function entryRoutes(context: ControlContext): Route[] {
  const { settings } = context;
  const shared = { tag: "Dashboard", group: "management", permission: "public", tenancy: "all" } as const;
  return [
    writeRoute({
      ...shared,
      method: "post",
      path: "/dashboard/setup",
      operation: "setUp",
      summary: "Create the first owner",
      description: "Requires the one-time token from the link that the first start prints.",
      body: setup,
      answers: { 201: dashboardUser },
      headers: SETS_COOKIE,
      errors: ["INVALID_LINK"],
      prepare: ({ body }) => prepareSetup(context, body),
      write: async ({ body }, unit, passwordHash) =>
        knownFromNowOn(unit, settings, { status: 201, user: await setUp(unit, body, passwordHash) }),
    }),
    writeRoute({
      ...shared,
      method: "post",
      path: "/dashboard/invitation",
      operation: "acceptInvitation",
      summary: "Accept an invitation and set the password",
      description: "Requires the one-time token from the invitation's link.",
      body: invitationAcceptance,
      answers: { 200: dashboardUser },
      headers: SETS_COOKIE,
      errors: ["INVALID_LINK"],
      prepare: ({ body }) => prepareAcceptance(context, body),
      write: async ({ body }, unit, passwordHash) =>
        knownFromNowOn(unit, settings, {
          status: 200,
          user: await acceptInvitation(unit, body.token, passwordHash),
        }),
    }),
    writeRoute({
      ...shared,
      method: "post",
      path: "/dashboard/login",
      operation: "logIn",
      summary: "Sign in to the dashboard",
      description:
        "Sets the session cookie, and a cookie that identifies the browser at later sign-ins. After five consecutive failures " +
        "of one client address for one account, that combination is locked for 15 minutes, then for " +
        "twice as long each time. Many failures of an address, or for an account from anywhere, also delay others, but " +
        "never a browser that has signed in to the account before. The response does not reveal whether anything is locked, or " +
        "whether the user exists. A browser that is already signed in must send its `X-CSRF-Token`, as with every " +
        "request that changes something.",
      body: login,
      answers: { 200: dashboardSession },
      headers: SETS_COOKIE,
      errors: ["INVALID_CREDENTIALS", "CSRF_TOKEN_INVALID"],
      prepare: (call) => checkPassword(context, call.body, call),
      write: (call, unit, checked) => signIn(context, checked, call, unit),
    }),
  ];
}

function sessionRoutes(context: ControlContext): Route[] {
  const { settings, db, clock } = context;
  const shared = { tag: "Dashboard", group: "management", permission: "self", tenancy: "all" } as const;
  return [
    readRoute({
      ...shared,
      method: "get",
      path: "/dashboard/session",
      operation: "getDashboardSession",
      summary: "Read who is signed in, and the CSRF token",
      answers: { 200: dashboardSession },
      async read({ actor, headers }) {
        const token = readSessionCookie(headers, settings);
        const session =
          token === undefined ? undefined : await findPresentedSession(db, token, new Date(clock()));
        if (token === undefined || session?.id !== personOf(actor).sessionId)
          throw new ApiError("UNAUTHORIZED");
        const user = await requireDashboardUser(db, session.user_id);
        return ok(viewOfSession(user, token, session.expires_at, settings));
      },
    }),
    writeRoute({
      ...shared,
      method: "post",
      path: "/dashboard/logout",
      operation: "logOut",
      summary: "Sign out of the dashboard",
      answers: { 200: signedOut },
      headers: SETS_COOKIE,
      errors: ["CSRF_TOKEN_INVALID"],
      async write({ actor }, unit) {
        const { id, sessionId } = personOf(actor);
        await endSession(unit.trx, sessionId);
        unit.record({
          action: "dashboard_user.signed_out",
          target: { type: "dashboard_user", id },
          before: { session_id: sessionId },
        });
        const headers = { "set-cookie": clearedCookie(settings) };
        return { kind: "data", status: 200, data: { signed_out: true }, headers };
      },
    }),
    writeRoute({
      ...shared,
      method: "put",
      path: "/dashboard/password",
      operation: "changePassword",
      summary: "Change your own password",
      description:
        "Ends your other sessions; other browsers are no longer recognized, and links that you have made for other " +
        "users become invalid.",
      body: passwordChange,
      answers: { 200: dashboardUser },
      headers: SETS_COOKIE,
      errors: ["CSRF_TOKEN_INVALID", "CONFLICT"],
      async prepare(call) {
        const { actor, body } = call;
        const { email } = await requireDashboardUser(db, personOf(actor).id);
        requireGoodPassword(body.new_password, "new_password", email);
        const { user, good } = await checkPassword(context, { email, password: body.current_password }, call);
        if (!good) {
          const message =
            "is not the current password, or there were too many failed attempts: try again later";
          throw validationFailed([{ path: "current_password", message }]);
        }
        return { verified: user?.password_hash, passwordHash: await hashPassword(body.new_password, email) };
      },
      async write({ actor }, unit, { verified, passwordHash }) {
        const { id, sessionId } = personOf(actor);
        const user = await lockDashboardUser(unit.trx, id);
        if (user.password_hash !== verified)
          throw new ApiError("CONFLICT", { message: "the password was changed in the meantime" });
        const after = await setPassword(unit, user, passwordHash);
        await endSessionsOf(unit.trx, id, sessionId);
        return knownFromNowOn(unit, settings, { status: 200, user: after });
      },
    }),
  ];
}

/** Setting a password proves as much as signing in with it: strangers cannot lock that browser out. */
async function knownFromNowOn(
  { trx, now }: UnitOfWork,
  settings: ControlContext["settings"],
  { status, user }: { readonly status: 200 | 201; readonly user: DashboardUserRow },
): Promise<Answer> {
  const token = await rememberDevice(trx, user.id, undefined, now);
  const headers = { "set-cookie": deviceCookie(token, settings) };
  return { kind: "data", status, data: viewOfUser(user), headers };
}

function personOf(actor: Actor): Extract<Actor, { kind: "dashboard_user" }> {
  if (actor.kind !== "dashboard_user") throw new ApiError("INSUFFICIENT_ROLE");
  return actor;
}
