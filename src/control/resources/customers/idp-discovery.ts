import * as z from "zod";
import { ApiError } from "../../platform/errors.ts";
import { TargetNotAllowed } from "../../platform/outbound/target.ts";
import { isReachable, type DerivedIssuer } from "./idp-issuer.ts";
import type { IdpCapabilities } from "../../tenancy/idp.ts";

/** Why a provider's configuration could not be verified. */
export type DiscoveryFailure =
  | "address_not_allowed"
  | "unreachable"
  | "timeout"
  | "no_discovery_document"
  | "issuer_mismatch"
  | "endpoint_not_allowed"
  | "code_flow_not_supported"
  | "pkce_not_supported";

/** A recommended member with an unexpected type must not prevent the use of a provider. */
const listed = z.array(z.string()).optional().catch(undefined);

/** The members of the document that are read (OpenID Connect Discovery 1.0, section 3). */
const discoveryDocument = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
  response_types_supported: z.array(z.string()).optional(),
  code_challenge_methods_supported: z.array(z.string()).optional(),
  claims_supported: listed,
  acr_values_supported: listed,
  // from Initiating User Registration via OpenID Connect 1.0, section 4.1
  prompt_values_supported: listed,
});

/** An issuer, and its metadata if it was asked for them. */
export interface ConfiguredIssuer {
  readonly derived: DerivedIssuer;
  /** `null`: it was not asked. */
  readonly capabilities: IdpCapabilities | null;
  /** Where its keys are, if it was asked. */
  readonly jwksUri?: string;
}

/**
 * Asks the provider whether it is the configured one and supports what sign-in needs.
 *
 * @param fetch - a guarded one, because the address was chosen by somebody else
 * @returns the issuer exactly as the provider writes it, with its tenant's id if the tenant was given by name; and the
 *   evidence of authentication that it can give
 * @throws ApiError IDP_UNREACHABLE with the reason
 */
export async function confirmIssuer(
  derived: DerivedIssuer,
  fetch: typeof globalThis.fetch,
  allowInsecure: boolean,
): Promise<ConfiguredIssuer> {
  const failed = (reason: DiscoveryFailure, details: object = {}, cause?: unknown) =>
    new ApiError("IDP_UNREACHABLE", { details: { issuer: derived.issuer, reason, ...details }, cause });
  const found = await readDocument(derived.issuer, fetch).catch((error: unknown) => {
    throw failed(reasonOf(error), {}, error);
  });
  const document = discoveryDocument.safeParse(found);
  if (!document.success) throw failed("no_discovery_document", {}, document.error);
  const { issuer, authorization_endpoint, token_endpoint, jwks_uri, ...supported } = document.data;
  const tenant = derived.byTenantName ? tenantOf(issuer, derived.issuer) : derived.tenant;
  // compare the text, not the meaning: ID tokens are compared with it
  if (derived.byTenantName ? tenant === null : issuer !== derived.issuer)
    throw failed("issuer_mismatch", { announced: issuer.slice(0, 500) });
  for (const endpoint of [authorization_endpoint, token_endpoint, jwks_uri])
    if (!isReachable(new URL(endpoint), allowInsecure)) throw failed("endpoint_not_allowed");
  if (supported.response_types_supported?.includes("code") === false) throw failed("code_flow_not_supported");
  // RFC 7636, section 4.2; a provider that announces nothing may still support it
  if (supported.code_challenge_methods_supported?.includes("S256") === false)
    throw failed("pkce_not_supported");
  return {
    derived: { ...derived, issuer, tenant, byTenantName: false },
    capabilities: capabilitiesOf(supported),
    jwksUri: jwks_uri,
  };
}

/** Maximum number of a provider's classes that are stored. */
const MAX_ACR_VALUES = 100;

/** A missing list says nothing, because providers may omit it. */
function capabilitiesOf({
  claims_supported: claims,
  acr_values_supported: acrValues,
  prompt_values_supported: prompts,
}: Pick<
  z.output<typeof discoveryDocument>,
  "claims_supported" | "acr_values_supported" | "prompt_values_supported"
>): IdpCapabilities {
  return {
    auth_time: claims?.includes("auth_time") ?? null,
    amr: claims?.includes("amr") ?? null,
    acr_values:
      acrValues?.filter((value) => /^[!#-[\]-~]{1,200}$/.test(value)).slice(0, MAX_ACR_VALUES) ?? null,
    prompt_login: prompts?.includes("login") ?? null,
  };
}

async function readDocument(issuer: string, fetch: typeof globalThis.fetch): Promise<unknown> {
  const response = await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, {
    headers: { accept: "application/json" },
  });
  // read it in any case: otherwise the connection is not released
  const text = await response.text();
  if (response.status !== 200) throw new NoDocument(`the response has the status ${response.status}`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new NoDocument("the response is not JSON", { cause });
  }
}

class NoDocument extends Error {}

/**
 * The tenant's id in an issuer of Microsoft that differs from the configured one only in having the id instead of the
 * tenant's name.
 */
function tenantOf(issuer: string, byName: string): string | null {
  const [, before, after] = /^(https:\/\/[^/]+\/)[^/]+(\/v2\.0)$/.exec(byName) ?? [];
  const [, tenant = null] =
    /^https:\/\/[^/]+\/([\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})\/v2\.0$/.exec(issuer) ?? [];
  return tenant !== null && issuer === `${before}${tenant}${after}` ? tenant : null;
}

function reasonOf(error: unknown): DiscoveryFailure {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof NoDocument) return "no_discovery_document";
    if (cause instanceof TargetNotAllowed) return "address_not_allowed";
    if (cause.name === "TimeoutError") return "timeout";
  }
  return "unreachable";
}
