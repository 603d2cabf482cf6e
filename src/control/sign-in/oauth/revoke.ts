import type { Actor } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { revokeSession } from "../../resources/sessions/end.ts";
import { findSession } from "../../resources/sessions/store.ts";
import { findRefreshToken } from "../code-store.ts";
import type { UnitOrigin } from "../../platform/unit.ts";
import { customerOf, maySee } from "./introspect.ts";
import type { IssuedTokens } from "./issued-tokens.ts";
import { OAuthError } from "./oauth-error.ts";
import { required, type Form } from "./read-form.ts";

/**
 * Revokes a token (RFC 7009), and with it its session: every access and refresh token that came of the same sign-in
 * (section 2.1), whether the token is good by now or not. One that is unknown, or not for this key to see, is revoked
 * already (section 2.2).
 *
 * @throws OAuthError
 */
export async function revoke(
  { db, units }: Pick<ControlContext, "db" | "units">,
  tokens: IssuedTokens,
  origin: UnitOrigin,
  form: Form,
): Promise<void> {
  const token = required(form, "token");
  await requireNoMachine(tokens, origin.actor, token);
  // one that is used up, has expired, or that a policy refuses for now names its session as well: that is what ends
  const refresh = await findRefreshToken(db, token);
  const sessionId = refresh?.session_id ?? (await tokens.sessionOf(token));
  if (sessionId === undefined) return;
  await units(origin, async (unit) => {
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
