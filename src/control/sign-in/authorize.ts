import * as client from "openid-client";
import { clientOf } from "../platform/actor.ts";
import type { ControlContext } from "../platform/context.ts";
import { requireCustomer } from "../tenancy/customers.ts";
import type { IdpRow } from "../tenancy/idp.ts";
import { ApiError, validationFailed } from "../platform/errors.ts";
import type { Call } from "../platform/frame/route.ts";
import { newId } from "../platform/ids.ts";
import { hashSecret, newSecret } from "../platform/secret-box.ts";
import { flowSecretsPurpose, type FlowRow } from "./flow-store.ts";
import type { Providers } from "./provider.ts";
import { requestedEvidence } from "./requested-evidence.ts";
import type { AuthorizeBody } from "./schemas.ts";
import { rulesOf } from "./session-policies.ts";

/** How long a sign-in may take (specification, section 8). */
export const FLOW_SECONDS = 600;

export interface StartedFlow {
  readonly flow: FlowRow;
  readonly state: string;
  readonly authorizationUrl: string;
}

/** The redirect URI for all providers; the state identifies the flow. */
export function callbackUrl({ settings }: Pick<ControlContext, "settings">): string {
  return `${settings.publicUrl}/v1/auth/callback`;
}

/**
 * Prepares a sign-in: the address for the browser, and the data needed when it returns.
 *
 * @throws ApiError if the customer, its provider, the return URL or a scope is not valid
 */
export async function startFlow(
  context: ControlContext,
  providers: Providers,
  { actor, body }: Pick<Call<undefined, undefined, AuthorizeBody>, "actor" | "body">,
): Promise<StartedFlow> {
  const { db, box, clock } = context;
  const customer = await requireCustomer(db, actor, body.customer_id, "body");
  if (customer.status !== "active")
    throw new ApiError("CUSTOMER_SUSPENDED", {
      details: { customer_id: customer.id, status: customer.status },
    });
  const idp = await providers.of(db, customer);
  if (idp === undefined)
    throw new ApiError("IDP_NOT_CONFIGURED", { status: 422, details: { customer_id: customer.id } });
  // exact comparison: a similar URL may lead elsewhere (RFC 9700, section 2.1)
  if (!customer.allowed_return_urls.includes(body.return_url))
    throw new ApiError("RETURN_URL_NOT_ALLOWED", { details: { return_url: body.return_url } });
  const scope = scopeOf(body.scopes, idp);

  const id = newId("flow");
  const state = newSecret();
  const secrets = { verifier: client.randomPKCECodeVerifier(), nonce: newSecret() };
  const evidence = requestedEvidence(await rulesOf(db, customer.id), body, idp);
  const parameters = {
    redirect_uri: callbackUrl(context),
    scope,
    state,
    nonce: secrets.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
    code_challenge_method: "S256",
    ...(body.login_hint !== undefined && { login_hint: body.login_hint }),
    ...evidence.parameters,
  };
  const now = clock();
  return {
    state,
    authorizationUrl: await providers.authorizationUrl(idp, parameters),
    flow: {
      id,
      state_hash: hashSecret(state),
      customer_id: customer.id,
      client_id: clientOf(actor),
      return_url: body.return_url,
      issuer: idp.issuer,
      idp_client_id: idp.client_id,
      secrets: box.seal(JSON.stringify(secrets), flowSecretsPurpose(id)),
      scope,
      max_age: body.max_age ?? null,
      asked_fresh: evidence.asksFresh,
      created_at: new Date(now),
      expires_at: new Date(now + FLOW_SECONDS * 1000),
    },
  };
}

/**
 * The requested scopes and `openid` (OpenID Connect Core 1.0, section 3.1.2.1), all of them configured by the customer.
 */
function scopeOf(asked: readonly string[] | undefined, { scopes }: IdpRow): string {
  const wanted = asked ?? scopes;
  const foreign = wanted.flatMap((scope, at) =>
    scope === "openid" || scopes.includes(scope)
      ? []
      : [{ path: `scopes.${at}`, message: "is not a configured scope of the customer's identity provider" }],
  );
  if (foreign.length > 0) throw validationFailed(foreign);
  return [...new Set(["openid", ...wanted])].join(" ");
}
