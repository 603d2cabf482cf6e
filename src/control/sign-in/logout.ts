import type { Knex } from "knex";
import { clientOf, onlyCustomerOf, type Actor } from "../platform/actor.ts";
import type { ControlContext } from "../platform/context.ts";
import { findCustomer } from "../tenancy/customers.ts";
import { ApiError, validationFailed } from "../platform/errors.ts";
import { ok, writeRoute, type Route } from "../platform/frame/route.ts";
import type { SecretBox } from "../platform/secret-box.ts";
import { aboutSession, endSessions, type SessionsOf } from "../resources/sessions/end.ts";
import { findSession, type SessionRow } from "../resources/sessions/store.ts";
import { findUser } from "../resources/users/store.ts";
import { findRefreshToken } from "./code-store.ts";
import { idTokenPurpose } from "./sealed-id-tokens.ts";
import { logoutAnswer, logoutBody, logoutQuery, type LogoutBody, type LogoutQuery } from "./schemas.ts";
import { whereOpen } from "../platform/open-sessions.ts";

/** `DELETE /auth/logout`: ends a session, or all sessions of a user. */
export function logoutRoute({ box }: Pick<ControlContext, "box">): Route {
  return writeRoute({
    tag: "Authentication",
    group: "authentication",
    tenancy: "handler",
    method: "delete",
    path: "/auth/logout",
    operation: "logout",
    summary: "End sessions",
    description:
      "Members can be in the query or in the body; `refresh_token` only in the body. Gateways refuse the session's tokens at once. Sessions that have already ended are not an error: `ended` is the number of sessions that this request ended.",
    permission: "authenticate",
    query: logoutQuery,
    body: logoutBody,
    answers: { 200: logoutAnswer },
    errors: ["SESSION_NOT_FOUND", "USER_NOT_FOUND", "RETURN_URL_NOT_ALLOWED"],
    async write({ query, body, actor }, unit) {
      const asked = oneRequest(query, body);
      const subject = await subjectOf(unit.trx, actor, asked);
      await requireReturnUrl(unit.trx, subject.about.customerId, asked.post_logout_return_url);
      const url = subject.session && endSessionUrl(box, actor, subject.session, asked);
      const ended = await endSessions(unit, subject.where, "logout");
      if (ended > 0)
        unit.record({
          action: "session.ended",
          ...subject.about,
          after: { reason: "logout", ended },
        });
      return ok({ ended, ...(url !== undefined && { end_session_url: url }) });
    },
  });
}

const SUBJECTS = ["session_id", "refresh_token", "user_id"] as const;
type Asked = LogoutQuery & NonNullable<LogoutBody>;

/** @throws ApiError 422 if the session is not named, or named twice */
function oneRequest(query: LogoutQuery, body: LogoutBody): Asked {
  const twice = Object.keys(query).filter((name) => Object.hasOwn(body ?? {}, name));
  if (twice.length > 0)
    throw validationFailed(
      twice.map((path) => ({ path, message: "is also in the query: send it only once" })),
    );
  const asked = { ...query, ...body };
  if (SUBJECTS.filter((name) => asked[name] !== undefined).length !== 1)
    throw validationFailed([
      { path: "", message: "one of `session_id`, `refresh_token` and `user_id` is required" },
    ]);
  return asked;
}

interface Subject {
  readonly where: SessionsOf;
  /** What the change that is recorded says of it. */
  readonly about: ReturnType<typeof aboutSession>;
  /** The one that the provider's logout concerns. */
  readonly session: SessionRow | undefined;
}

/**
 * The sessions that the caller names, if it may see them.
 * @throws ApiError 404
 */
async function subjectOf(trx: Knex.Transaction, actor: Actor, asked: Asked): Promise<Subject> {
  if (asked.user_id !== undefined) return userSubject(trx, actor, asked.user_id, asked.customer_id);
  const session =
    asked.session_id !== undefined
      ? await findSession(trx, actor, asked.session_id)
      : await sessionOfToken(trx, actor, asked.refresh_token ?? "");
  if (session === undefined) throw new ApiError("SESSION_NOT_FOUND");
  if (asked.customer_id !== undefined && asked.customer_id !== session.customer_id)
    throw new ApiError("SESSION_NOT_FOUND");
  return { where: { sessionId: session.id }, about: aboutSession(session), session };
}

async function userSubject(
  trx: Knex.Transaction,
  actor: Actor,
  userId: string,
  customerId: string | undefined,
): Promise<Subject> {
  const user = await findUser(trx, userId);
  const allowed = [onlyCustomerOf(actor), customerId].every(
    (only) => only === undefined || only === user?.customer_id,
  );
  if (user === undefined || !allowed) throw new ApiError("USER_NOT_FOUND");
  const session = await trx("sessions")
    .where({ user_id: user.id })
    .modify(whereOpen)
    .orderBy("created_at", "desc")
    .first<SessionRow | undefined>();
  const { id: ofUser, customer_id: ofCustomer } = user;
  const about = { target: { type: "user", id: ofUser }, customerId: ofCustomer, userId: ofUser };
  return { where: { userId: ofUser }, about, session };
}

/** A consumed token also identifies its session: ending that is what was requested. */
async function sessionOfToken(
  trx: Knex.Transaction,
  actor: Actor,
  token: string,
): Promise<SessionRow | undefined> {
  const found = await findRefreshToken(trx, token);
  return found && (await findSession(trx, actor, found.session_id));
}

async function requireReturnUrl(
  trx: Knex.Transaction,
  customerId: string,
  url: string | undefined,
): Promise<void> {
  if (url === undefined) return;
  const customer = await findCustomer(trx, customerId);
  if (customer?.allowed_return_urls.includes(url) !== true)
    throw new ApiError("RETURN_URL_NOT_ALLOWED", { details: { post_logout_return_url: url } });
}

/**
 * OpenID Connect RP-Initiated Logout 1.0, section 2; from data stored at the sign-in, so that no provider is waited
 * for.
 */
function endSessionUrl(
  box: SecretBox,
  actor: Actor,
  { id, client_id: clientId, end_session_url: base, id_token: idToken }: SessionRow,
  { post_logout_return_url: returnUrl, state }: Asked,
): string | undefined {
  if (base === null) return undefined;
  const url = new URL(base);
  // it identifies the user, so only the application that signed them in gets it; without it, the provider asks the user
  if (idToken !== null && clientId === clientOf(actor))
    url.searchParams.set("id_token_hint", box.open(idToken, idTokenPurpose(id)));
  if (returnUrl !== undefined) url.searchParams.set("post_logout_redirect_uri", returnUrl);
  if (state !== undefined) url.searchParams.set("state", state);
  return url.href;
}
