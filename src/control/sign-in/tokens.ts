import { randomUUID } from "node:crypto";
import type { Knex } from "knex";
import { lockRowShared } from "../../storage/index.ts";
import type { ControlContext } from "../platform/context.ts";
import { lockCustomerShared, type CustomerRow } from "../tenancy/customers.ts";
import { ApiError } from "../platform/errors.ts";
import { makeAccessToken, type TokenFacts } from "./issuer/access-token.ts";
import { makeIdToken } from "./issuer/id-token.ts";
import type { SigningKey } from "./issuer/keyring.ts";
import { userScope } from "../resources/sessions/user-scopes.ts";
import { endSessions } from "../resources/sessions/end.ts";
import { keepAlive, lockSession, type SessionRow } from "../resources/sessions/store.ts";
import type { UnitOfWork } from "../platform/unit.ts";
import { claimPolicyOf } from "../tenancy/claim-policy.ts";
import { effectiveAttributes, USER_COLUMNS, users, type UserRow } from "../resources/users/store.ts";
import { insertRefreshToken, shortenRefreshToken, type RefreshTokenRow } from "./code-store.ts";
import { policyViolated } from "./failure.ts";
import { eventUser } from "./complete-sign-in.ts";
import { earlier, evaluateSessionPolicies, rulesOf } from "./session-policies.ts";

/** An open session, and when it ends. */
export interface LiveSession {
  readonly session: SessionRow;
  readonly user: UserRow;
  readonly customer: CustomerRow;
  readonly until: Date;
}

/** The session, locked after customer and user were locked with their status; in this order, as everywhere. */
export interface HeldSession {
  readonly session: SessionRow;
  readonly user: UserRow | undefined;
  readonly customer: CustomerRow | undefined;
}

export async function lockSessionForUse(
  trx: Knex.Transaction,
  { id, customer_id: customerId, user_id: userId }: Pick<SessionRow, "id" | "customer_id" | "user_id">,
): Promise<HeldSession> {
  const customer = await lockCustomerShared(trx, customerId);
  await lockRowShared(trx, "users", userId);
  const user = await users(trx)
    .where({ id: userId })
    // as for the customer
    .forShare()
    .first<UserRow | undefined>(...USER_COLUMNS);
  const session = await lockSession(trx, id);
  if (session === undefined) throw new Error(`the session ${id} was there and is gone`);
  return { session, user, customer };
}

/**
 * Checks everything again before tokens are issued: the customer, the user, the session, and the policies, based on the
 * evidence from the sign-in.
 *
 * @returns the session, or why it gets no tokens: the caller must then commit the event and the end of the session
 * @throws ApiError if there is nothing to commit
 */
export async function evaluateSession(unit: UnitOfWork, held: HeldSession): Promise<LiveSession | ApiError> {
  const { session, user, customer } = held;
  if (customer !== undefined && customer.status !== "active")
    throw new ApiError("CUSTOMER_SUSPENDED", {
      details: { customer_id: session.customer_id, status: customer.status },
    });
  if (user?.status === "suspended") throw new ApiError("USER_SUSPENDED", { details: { user_id: user.id } });
  if (session.ended_at !== null)
    throw new ApiError("SESSION_ENDED", { details: { session_id: session.id, reason: session.end_reason } });
  // deleting a customer or a user ends its sessions, so these cases do not occur
  if (customer === undefined || user === undefined) throw new ApiError("SESSION_ENDED");

  const rules = await rulesOf(unit.trx, session.customer_id);
  const { violation, until } = evaluateSessionPolicies(session, user.email, rules, unit.now);
  if (violation !== undefined) {
    unit.emit({
      type: "policy.violated",
      customerId: session.customer_id,
      userId: user.id,
      data: {
        user: eventUser(user),
        session: { id: session.id, ip_address: session.ip_address, user_agent: session.user_agent },
        reason: violation,
      },
    });
    // a session that is too old stays so; other violations may be resolved, and the session then continues
    if (violation === "SESSION_TOO_OLD")
      await endSessions(unit, { sessionId: session.id }, "session_too_old");
    return policyViolated(violation, rules, { session_id: session.id });
  }
  if (until <= unit.now)
    throw new ApiError("SESSION_ENDED", { details: { session_id: session.id, reason: "expired" } });
  return { session, user, customer, until };
}

/** A refresh token of a session, with its expiry. */
export interface IssuedRefreshToken {
  readonly text: string;
  readonly expiresAt: Date;
}

/** Stores a refresh token. */
export async function issueRefreshToken(
  { settings }: Pick<ControlContext, "settings">,
  { trx, now }: UnitOfWork,
  { session, until }: LiveSession,
  text: string,
): Promise<IssuedRefreshToken> {
  const expiresAt = earlier(until, new Date(now.getTime() + settings.refreshTokenSeconds * 1000));
  await insertRefreshToken(trx, text, { session_id: session.id, created_at: now, expires_at: expiresAt });
  return { text, expiresAt };
}

/**
 * Hands out a refresh token again. If a policy has become stricter since, the token is shortened: otherwise it could
 * outlive its session, and would be valid again without the policy.
 */
export async function repeatRefreshToken(
  { trx }: UnitOfWork,
  { until }: LiveSession,
  { text, expires_at: before }: Pick<RefreshTokenRow, "expires_at"> & { readonly text: string },
): Promise<IssuedRefreshToken> {
  const expiresAt = earlier(until, before);
  if (expiresAt < before) await shortenRefreshToken(trx, text, expiresAt);
  return { text, expiresAt };
}

export interface Granted {
  /** The client that requests tokens (RFC 9068, section 2.2); it may differ from the one that started the sign-in. */
  readonly clientId: string;
  readonly refreshToken: IssuedRefreshToken;
}

/** Creates an access token, and the answer with it and the refresh token. */
export async function grant(
  { settings, log }: Pick<ControlContext, "settings" | "log">,
  { trx, now }: UnitOfWork,
  key: SigningKey,
  { session, user, customer, until }: LiveSession,
  { clientId, refreshToken }: Granted,
) {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const expiresAt = Math.min(issuedAt + settings.accessTokenSeconds, Math.floor(until.getTime() / 1000));
  // by the current rules: claims that the operator has disallowed since the sign-in are in no new token
  const attributes = effectiveAttributes(user, claimPolicyOf(settings, customer, user.issuer));
  // filtered again, because sessions of earlier releases contain whatever the provider was asked for
  const scope = userScope(session.scope);
  const facts: TokenFacts = {
    issuer: settings.publicUrl,
    audience: settings.audience,
    userId: user.id,
    customerId: session.customer_id,
    sessionId: session.id,
    clientId,
    tokenId: randomUUID(),
    scope,
    amr: session.amr,
    acr: session.acr ?? undefined,
    authTime: session.auth_time === null ? undefined : Math.floor(session.auth_time.getTime() / 1000),
    issuedAt,
    expiresAt,
  };
  const { token, leftOut } = await makeAccessToken(key, facts, attributes);
  if (leftOut.length > 0)
    log.warn(
      { user_id: user.id, attributes: leftOut },
      "attributes omitted: the access token would be too large",
    );
  // an earlier token may expire later, if a policy has become stricter since: ending the session must cover that token
  const tokensExpireAt = later(new Date(expiresAt * 1000), session.last_token_expires_at);
  await keepAlive(trx, session.id, {
    last_used_at: now,
    alive_until: later(refreshToken.expiresAt, tokensExpireAt),
    last_token_expires_at: tokensExpireAt,
  });
  return {
    access_token: token,
    token_type: "Bearer" as const,
    expires_in: expiresAt - issuedAt,
    refresh_token: refreshToken.text,
    refresh_expires_in: Math.floor((refreshToken.expiresAt.getTime() - now.getTime()) / 1000),
    scope,
    // OpenID Connect Core 1.0, section 3.1.2.1
    ...(scope.split(" ").includes("openid") && { id_token: await makeIdToken(key, facts) }),
    user: {
      role: null,
      department: null,
      permissions: null,
      ...attributes,
      id: user.id,
      email: user.email,
      name: user.name,
      customer_id: user.customer_id,
    },
    session: { ...session, expires_at: until },
  };
}

function later(a: Date, b: Date | null): Date {
  return b !== null && b > a ? b : a;
}
