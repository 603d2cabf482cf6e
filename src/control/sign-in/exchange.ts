import { clientOf } from "../platform/actor.ts";
import type { ControlContext } from "../platform/context.ts";
import { ApiError } from "../platform/errors.ts";
import { ok, type Answer, type Call } from "../platform/frame/route.ts";
import type { SigningKey } from "./issuer/keyring.ts";
import { hashSecret } from "../platform/secret-box.ts";
import { revokeSession, type EndReason } from "../resources/sessions/end.ts";
import { findSession } from "../resources/sessions/store.ts";
import type { UnitOfWork } from "../platform/unit.ts";
import {
  findCode,
  findGivenOut,
  findRefreshToken,
  firstRefreshToken,
  nextRefreshTokens,
  useCode,
  useRefreshToken,
  type RefreshTokenRow,
} from "./code-store.ts";
import type { RefreshBody, TokenBody } from "./schemas.ts";
import { earlier } from "./session-policies.ts";
import {
  grant,
  lockSessionForUse,
  issueRefreshToken,
  evaluateSession,
  repeatRefreshToken,
  type HeldSession,
} from "./tokens.ts";

/**
 * How long the application that first used a refresh token gets the same successor for it. By the database's clock: the
 * clocks of two instances may differ by more.
 */
const GRACE_MS = 10_000;

type Asking<Body> = Pick<Call<undefined, undefined, Body>, "actor" | "body">;

/**
 * Exchanges a one-time code for the first tokens of its session (RFC 6749, section 4.1.3). Any key of the environment
 * that may act for the customer can do so: a session belongs to the customer, and outlives the keys. The tokens name
 * the requesting application.
 */
export async function exchangeCode(
  context: ControlContext,
  { actor, body }: Asking<TokenBody>,
  unit: UnitOfWork,
  key: SigningKey,
): Promise<Answer> {
  const refused = new ApiError("INVALID_CODE");
  const found = await findCode(unit.trx, body.code);
  const owned = found && (await findSession(unit.trx, actor, found.session_id));
  if (owned === undefined) throw refused;
  if (body.customer_id !== undefined && body.customer_id !== owned.customer_id) throw refused;
  const held = await lockSessionForUse(unit.trx, owned);
  // read again, because another request may have used it while this one waited
  const code = await findCode(unit.trx, body.code);
  if (code === undefined) throw refused;
  if (code.used_at !== null) return endAsReused(unit, held, "code_reuse", refused);
  const fits =
    (body.state === undefined || hashSecret(body.state) === code.state_hash) &&
    (body.return_url === undefined || body.return_url === code.return_url);
  if (code.expires_at <= unit.now || !fits) throw refused;
  const evaluated = await evaluateSession(unit, held);
  if (evaluated instanceof ApiError) return { kind: "refusal", error: evaluated };
  await useCode(unit.trx, body.code, unit.now);
  const refreshToken = await issueRefreshToken(context, unit, evaluated, firstRefreshToken());
  return ok(await grant(context, unit, key, evaluated, { clientId: clientOf(actor), refreshToken }));
}

/**
 * Exchanges a refresh token for new tokens and thereby consumes it (RFC 9700, section 4.14.2). If a token is used
 * twice, two parties have it and nobody can tell which is the right one, so the session ends. An application that sends
 * two requests at once, or repeats one whose answer was lost, is an exception: see {@link isRepeated}.
 */
export async function refreshTokens(
  context: ControlContext,
  { actor, body }: Asking<RefreshBody>,
  unit: UnitOfWork,
  key: SigningKey,
): Promise<Answer> {
  const refused = new ApiError("INVALID_REFRESH_TOKEN");
  const found = await findRefreshToken(unit.trx, body.refresh_token);
  const owned = found && (await findSession(unit.trx, actor, found.session_id));
  if (owned === undefined) throw refused;
  const held = await lockSessionForUse(unit.trx, owned);
  const token = await findRefreshToken(unit.trx, body.refresh_token);
  if (token === undefined) throw refused;
  const clientId = clientOf(actor);
  const candidates = nextRefreshTokens(context.box, body.refresh_token);
  const now = await context.databaseNow(unit.trx);
  const next = token.used_at === null ? undefined : await findGivenOut(unit.trx, candidates);
  if (token.used_at !== null && !isRepeated(token, next, clientId, now))
    return endAsReused(unit, held, "refresh_reuse", refused);
  const evaluated = await evaluateSession(unit, held);
  if (evaluated instanceof ApiError) return { kind: "refusal", error: evaluated };
  // the session may have expired earlier than the token, by a policy of that time
  if (earlier((next ?? token).expires_at, held.session.alive_until) <= unit.now) throw refused;
  if (next === undefined)
    await useRefreshToken(unit.trx, body.refresh_token, { used_at: now, used_by: clientId });
  const refreshToken =
    next === undefined
      ? await issueRefreshToken(context, unit, evaluated, candidates[0])
      : await repeatRefreshToken(unit, evaluated, next);
  return ok(await grant(context, unit, key, evaluated, { clientId, refreshToken }));
}

/**
 * Whether the user of a consumed token may get the same successor again: only the same application, shortly afterwards,
 * and only until somebody has used the successor, which proves that the first answer arrived. Both answers contain the
 * same token, so there are never two chains of tokens, and a thief's next use is detected as before.
 *
 * @param now - by the database's clock, like `used_at`
 */
function isRepeated(
  { used_at: usedAt, used_by: usedBy }: RefreshTokenRow,
  next: RefreshTokenRow | undefined,
  clientId: string,
  now: Date,
): boolean {
  if (usedAt === null || next?.used_at !== null) return false;
  return usedBy === clientId && Math.abs(now.getTime() - usedAt.getTime()) <= GRACE_MS;
}

/** Refuses the request, but commits what was written about it. */
async function endAsReused(
  unit: UnitOfWork,
  { session }: HeldSession,
  reason: EndReason,
  error: ApiError,
): Promise<Answer> {
  await revokeSession(unit, session, reason);
  return { kind: "refusal", error };
}
