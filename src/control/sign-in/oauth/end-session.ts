import type { Request } from "express";
import { isKeyOfFamily } from "../../resources/api-keys/store.ts";
import type { ControlContext } from "../../platform/context.ts";
import { findCustomer } from "../../tenancy/customers.ts";
import type { Answer } from "../../platform/frame/route.ts";
import { aboutSession, endSessions } from "../../resources/sessions/end.ts";
import type { SessionRow } from "../../resources/sessions/store.ts";
import { withParameters } from "../failure.ts";
import type { UnitOrigin } from "../../platform/unit.ts";
import type { IssuedTokens } from "./issued-tokens.ts";
import { readForm, readQueryForm, type Form } from "./read-form.ts";
import { NOT_RETURNED, SIGNED_OUT, UNKNOWN } from "./signed-out-page.ts";

/** RP-Initiated Logout 1.0, section 2: both methods, with the parameters in their usual places. */
export function endSessionParameters(request: Request): Form | Promise<Form> {
  return request.method === "GET" ? readQueryForm(request) : readForm(request);
}

/**
 * Ends the session that one of our ID tokens names (OpenID Connect RP-Initiated Logout 1.0), and redirects the browser
 * to one of the customer's return URLs. The browser has no cookie of ours: without the hint the session is unknown, so
 * nothing is ended, and there is nothing to confirm.
 */
export async function endSession(
  { db, units }: Pick<ControlContext, "db" | "units">,
  tokens: IssuedTokens,
  origin: UnitOrigin,
  { id_token_hint: hint, client_id: clientId, post_logout_redirect_uri: to, state }: Form,
): Promise<Answer> {
  const claims = hint === undefined ? undefined : await tokens.idToken(hint);
  if (claims === undefined) return UNKNOWN;
  // section 2: the client must be the one for which the token was issued, under the id of any of its keys
  if (clientId !== undefined && clientId !== claims.aud && !(await isKeyOfFamily(db, clientId, claims.aud)))
    return UNKNOWN;
  const session = await db("sessions")
    .where({ id: claims.sid, user_id: claims.sub })
    .first<SessionRow | undefined>();
  if (session === undefined) return UNKNOWN;
  const { id, customer_id: customerId } = session;
  await units(origin, async (unit) => {
    const ended = await endSessions(unit, { sessionId: id }, "logout");
    if (ended === 0) return;
    unit.record({ action: "session.ended", ...aboutSession(session), after: { reason: "logout", ended } });
  });
  if (to === undefined) return SIGNED_OUT;
  // exact comparison (RFC 9700, section 2.1); section 3: no redirect to a URL that is not registered
  const customer = await findCustomer(db, customerId);
  if (customer?.allowed_return_urls.includes(to) !== true) return NOT_RETURNED;
  return {
    kind: "redirect",
    location: state === undefined ? new URL(to).href : withParameters(to, { state }),
  };
}
