import type { Actor } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { revokeSession } from "../../resources/sessions/end.ts";
import { findSession } from "../../resources/sessions/store.ts";
import { findRefreshToken } from "../code-store.ts";
import type { UnitOrigin, Units } from "../../platform/unit.ts";
import { customerOf, maySee } from "./introspect.ts";
import type { IssuedTokens } from "./issued-tokens.ts";
import { OAuthError } from "./oauth-error.ts";
import { required, type Form } from "./read-form.ts";

/**
 * Revokes a token (RFC 7009) together with its session: every access and refresh token of the same sign-in (section
 * 2.1), whether or not the token is still valid. A token that is unknown, or that the key may not see, counts as
 * already revoked (section 2.2).
 *
 * @param callerUnits - of the client that revokes
 * @throws OAuthError
 */
export async function revoke(
  { db }: Pick<ControlContext, "db">,
  callerUnits: Units,
  tokens: IssuedTokens,
  origin: UnitOrigin,
  form: Form,
): Promise<void> {
  const token = required(form, "token");
  await requireNoMachine(tokens, origin.actor, token);
  // a token that is consumed, expired or currently refused by a policy still identifies its session, which is ended
  const refresh = await findRefreshToken(db, token);
  const sessionId = refresh?.session_id ?? (await tokens.sessionOf(token));
  if (sessionId === undefined) return;
  await callerUnits(origin, async (unit) => {
    const session = await findSession(unit.trx, origin.actor, sessionId);
    if (session !== undefined) await revokeSession(unit, session);
  });
}

/** @throws OAuthError */
async function requireNoMachine(tokens: IssuedTokens, actor: Actor, token: string): Promise<void> {
  const access = await tokens.access(token);
  if (access?.of !== "machine" || !maySee(actor, customerOf(access))) return;
  // it has no session that could end, only the client itself
  throw new OAuthError(
    "unsupported_token_type",
    "a machine client's token cannot be revoked; delete the client, or replace its secret without an overlap",
  );
}
