import type { Actor } from "../actor.ts";
import type { ControlContext } from "../context.ts";
import { ApiError } from "../errors.ts";
import { ok, type Answer, type Call } from "../frame/route.ts";
import type { SigningKey } from "../issuer/keyring.ts";
import { hashSecret } from "../secret-box.ts";
import { endSessions, type EndReason } from "../sessions/end.ts";
import { findSession, type SessionRow } from "../sessions/store.ts";
import type { Unit } from "../unit.ts";
import { findCode, findRefreshToken, useCode, useRefreshToken } from "./code-store.ts";
import type { RefreshBody, TokenBody } from "./schemas.ts";
import { grant, holdSession, judgeSession, type HeldSession } from "./tokens.ts";

type Asking<Body> = Pick<Call<undefined, undefined, Body>, "actor" | "body">;

/** Exchanges a one-time code for the first tokens of its session (RFC 6749, section 4.1.3). */
export async function exchangeCode(
  context: ControlContext,
  { actor, body }: Asking<TokenBody>,
  unit: Unit,
  key: SigningKey,
): Promise<Answer> {
  const refused = new ApiError("INVALID_CODE");
  const found = await findCode(unit.trx, body.code);
  const owned = await ownSession(unit, actor, found?.session_id);
  if (owned === undefined) throw refused;
  if (body.customer_id !== undefined && body.customer_id !== owned.customer_id) throw refused;
  const held = await holdSession(unit.trx, owned);
  // read again: another request may have used it while this one waited
  const code = await findCode(unit.trx, body.code);
  if (code === undefined) throw refused;
  if (code.used_at !== null) return endAsReused(unit, held, "code_reuse", refused);
  const fits =
    (body.state === undefined || hashSecret(body.state) === code.state_hash) &&
    (body.return_url === undefined || body.return_url === code.return_url);
  if (code.expires_at <= unit.now || !fits) throw refused;
  const judged = await judgeSession(unit, held);
  if (judged instanceof ApiError) return { kind: "refusal", error: judged };
  await useCode(unit.trx, body.code, unit.now);
  return ok(await grant(context, unit, key, judged));
}

/**
 * Exchanges a refresh token for new tokens; it is used up by that (RFC 9700, section 4.14.2). One that was used before
 * has been in two hands: nobody can tell which of them is the right one, and the session ends. That holds for a client
 * that repeats a request whose answer was lost, too; it sends an `Idempotency-Key`, and gets the answer again.
 */
export async function refreshTokens(
  context: ControlContext,
  { actor, body }: Asking<RefreshBody>,
  unit: Unit,
  key: SigningKey,
): Promise<Answer> {
  const refused = new ApiError("INVALID_REFRESH_TOKEN");
  const found = await findRefreshToken(unit.trx, body.refresh_token);
  const owned = await ownSession(unit, actor, found?.session_id);
  if (owned === undefined) throw refused;
  const held = await holdSession(unit.trx, owned);
  const token = await findRefreshToken(unit.trx, body.refresh_token);
  if (token === undefined) throw refused;
  if (token.used_at !== null) return endAsReused(unit, held, "refresh_reuse", refused);
  const judged = await judgeSession(unit, held);
  if (judged instanceof ApiError) return { kind: "refusal", error: judged };
  if (token.expires_at <= unit.now) throw refused;
  await useRefreshToken(unit.trx, body.refresh_token, unit.now);
  return ok(await grant(context, unit, key, judged));
}

/** Codes and refresh tokens are good for who started the sign-in, and for nobody else. */
async function ownSession(
  unit: Unit,
  actor: Actor,
  sessionId: string | undefined,
): Promise<SessionRow | undefined> {
  if (sessionId === undefined) return undefined;
  const session = await findSession(unit.trx, actor, sessionId);
  return session?.client_id === actor.id ? session : undefined;
}

/** Refuses, and keeps what is done about it. */
async function endAsReused(
  unit: Unit,
  { session }: HeldSession,
  reason: EndReason,
  error: ApiError,
): Promise<Answer> {
  const ended = await endSessions(unit, { sessionId: session.id }, reason);
  if (ended > 0)
    unit.record({
      action: "session.revoked",
      target: { type: "session", id: session.id },
      customerId: session.customer_id,
      before: { user_id: session.user_id, status: "active" },
      after: { user_id: session.user_id, status: "ended", reason },
    });
  return { kind: "refusal", error };
}
