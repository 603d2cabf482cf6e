import * as client from "openid-client";
import type { ControlContext } from "../platform/context.ts";
import { ApiError } from "../platform/errors.ts";
import { guardedFetch } from "../platform/outbound/guarded-fetch.ts";
import {
  confirmIssuer,
  type ConfiguredIssuer,
  type DiscoveryFailure,
} from "../resources/customers/idp-discovery.ts";
import type { IdpRow } from "../tenancy/idp.ts";
import type { Providers } from "./provider.ts";

/** What a sign-in needs of a provider, in the order in which it is asked. */
export const STEPS = [
  "discovery",
  "issuer",
  "endpoints",
  "code_flow",
  "pkce",
  "signing_keys",
  "client",
] as const;
type Step = (typeof STEPS)[number];

/** The outcome of a step. What follows a failed one is not tried. */
export interface TestedStep {
  readonly step: Step;
  readonly status: "passed" | "failed" | "skipped";
  /** Why it failed. */
  readonly reason: string | null;
}

const TIMEOUT_MS = 5_000;
/** The step that a failure of the discovery belongs to. */
const STEP_OF: Readonly<Record<DiscoveryFailure, Step>> = {
  address_not_allowed: "discovery",
  unreachable: "discovery",
  timeout: "discovery",
  no_discovery_document: "discovery",
  issuer_mismatch: "issuer",
  endpoint_not_allowed: "endpoints",
  code_flow_not_supported: "code_flow",
  pkce_not_supported: "pkce",
};

/** The errors (RFC 6749, section 5.2) with which a provider refuses the client, rather than the code. */
const OF_CLIENT: readonly string[] = ["invalid_client", "unauthorized_client"];

/** Asks a configured provider, step by step, for all that a sign-in needs, and changes nothing. */
export async function testProvider(
  { settings }: Pick<ControlContext, "settings">,
  providers: Pick<Providers, "clientOf">,
  idp: IdpRow,
): Promise<readonly TestedStep[]> {
  const { allowInsecureIssuers, egressProxy: proxy } = settings;
  const fetch = guardedFetch({ allowPrivate: allowInsecureIssuers, timeoutMs: TIMEOUT_MS, proxy });
  const { domain, issuer, tenant, realm } = idp;
  const derived = { domain, issuer, tenant, realm, byTenantName: false };
  let found: ConfiguredIssuer;
  try {
    found = await confirmIssuer(derived, fetch, allowInsecureIssuers);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "IDP_UNREACHABLE") throw error;
    const { reason } = error.details as { readonly reason: DiscoveryFailure };
    return stepsUntil(STEP_OF[reason], reason);
  }
  const keys = await keysProblem(found.jwksUri, fetch);
  if (keys !== undefined) return stepsUntil("signing_keys", keys);
  const refused = await clientProblem(providers, idp, settings.publicUrl);
  return refused === undefined ? stepsUntil(undefined, "") : stepsUntil("client", refused);
}

/** No step at all was tried. */
export function notTried(): readonly TestedStep[] {
  return STEPS.map((step) => ({ step, status: "skipped", reason: null }));
}

function stepsUntil(failed: Step | undefined, why: string): readonly TestedStep[] {
  const at = failed === undefined ? STEPS.length : STEPS.indexOf(failed);
  return STEPS.map((step, index) => ({
    step,
    status: index < at ? "passed" : index === at ? "failed" : "skipped",
    reason: index === at ? why : null,
  }));
}

/** Whether there is a key to verify ID tokens with. */
async function keysProblem(
  url: string | undefined,
  fetch: typeof globalThis.fetch,
): Promise<string | undefined> {
  if (url === undefined) return "no_keys";
  try {
    const answer = await fetch(url, { headers: { accept: "application/json" } });
    const text = await answer.text();
    const { keys } = JSON.parse(text) as { readonly keys?: unknown };
    return answer.status === 200 && Array.isArray(keys) && keys.length > 0 ? undefined : "no_keys";
  } catch {
    return "keys_unreachable";
  }
}

/** Sends a code that cannot be one: a provider that knows the client refuses the code, and any other the client. */
async function clientProblem(
  providers: Pick<Providers, "clientOf">,
  idp: IdpRow,
  publicUrl: string,
): Promise<string | undefined> {
  try {
    await client.genericGrantRequest(await providers.clientOf(idp), "authorization_code", {
      code: "connection-test",
      redirect_uri: `${publicUrl}/v1/auth/callback`,
      code_verifier: client.randomPKCECodeVerifier(),
    });
    return "code_not_checked";
  } catch (error) {
    if (error instanceof client.ResponseBodyError)
      return OF_CLIENT.includes(error.error) ? error.error : undefined;
    if (error instanceof client.WWWAuthenticateChallengeError) return "invalid_client";
    return "token_endpoint_unreachable";
  }
}
