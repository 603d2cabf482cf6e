import * as client from "openid-client";
import { MAX_SECONDS_AHEAD } from "../../customer-state/index.ts";
import { errorCode } from "../../runtime/error-code.ts";
import type { ControlContext } from "../platform/context.ts";
import { requiredClaims } from "../resources/customers/idp-issuer.ts";
import type { IdpRow } from "../tenancy/idp.ts";
import { findCustomer } from "../tenancy/customers.ts";
import { ApiError } from "../platform/errors.ts";
import { hashSecret } from "../platform/secret-box.ts";
import { callbackUrl } from "./authorize.ts";
import { readIdentity, type ProviderIdentity } from "./claims.ts";
import { exactClaims } from "./exact-json.ts";
import { failedBecause, refusedByProvider, type SignInFailure } from "./failure.ts";
import { claimFlow, findFlow, flowSecretsPurpose, type FlowRow, type FlowSecrets } from "./flow-store.ts";
import { failureText, type Providers } from "./provider.ts";
import type { CallbackQuery } from "./schemas.ts";
import { subjectDetail } from "../platform/personal-data.ts";

/** The parameters with which the browser returns from the provider. */
export type Proof =
  /** The state is unknown, so the browser is not sent anywhere. */
  | { readonly kind: "unknown" }
  | { readonly kind: "failed"; readonly flow: FlowRow; readonly failure: SignInFailure }
  | ({
      readonly kind: "proved";
      readonly flow: FlowRow;
      /** Of the provider's configuration that was used. */
      readonly idpRevision: number;
    } & Proved);

export interface Proved {
  readonly identity: ProviderIdentity;
  readonly idToken: string | undefined;
  /** Anybody may have an account at the provider: whether this one belongs to the customer. */
  readonly ofCustomer: boolean;
  /** Where the provider ends its own session. */
  readonly endSessionUrl: string | undefined;
}

/**
 * Consumes the flow identified by the state, and asks the provider who has signed in. No transaction is open during
 * this time, because a provider may be slow.
 */
export async function exchangeCallback(
  context: ControlContext,
  providers: Providers,
  query: CallbackQuery,
): Promise<Proof> {
  const { db, clock, log } = context;
  if (query.state === undefined || query.state.length > 200) return { kind: "unknown" };
  const [stateHash, now] = [hashSecret(query.state), new Date(clock())];
  const begun = await findFlow(db, stateHash, now);
  // what is refused for a turn, or fails, until here can be tried again: the flow is consumed just before its use
  const customer = begun && (await findCustomer(db, begun.customer_id));
  const idp = customer?.status === "active" ? await providers.of(db, customer) : undefined;
  const flow = begun && (await claimFlow(db, stateHash, now));
  if (flow === undefined) return { kind: "unknown" };
  const failed = (failure: SignInFailure): Proof => ({ kind: "failed", flow, failure });

  if (customer?.status !== "active") return failed(failedBecause("CUSTOMER_SUSPENDED"));
  if (idp === undefined || !isProviderOf(flow, idp)) return failed(failedBecause("PROVIDER_CHANGED"));
  try {
    const proved = await exchange(context, providers, idp, flow, query);
    const { identity } = proved;
    if (!proved.ofCustomer)
      return failed(failedBecause("ACCOUNT_NOT_ALLOWED", subjectDetail(identity.subject)));
    if (identity.leftOut.length > 0)
      log.warn(
        { customer_id: flow.customer_id, claims: identity.leftOut },
        "dropped claims of a provider that are too large or of an unsupported type",
      );
    return { kind: "proved", flow, idpRevision: idp.revision, ...proved };
  } catch (error) {
    if (error instanceof client.AuthorizationResponseError)
      return failed(refusedByProvider(error.error, error.error_description));
    const cause = error instanceof ApiError ? error.cause : error;
    const failure = failureText(cause);
    log.warn({ customer_id: flow.customer_id, issuer: flow.issuer, failure }, "a sign-in failed");
    return failed(failedBecause("PROVIDER_FAILED", errorCode(cause)));
  }
}

/** Whether it is the provider to which the browser was sent, and the same client there. */
export function isProviderOf(flow: FlowRow, { issuer, client_id }: IdpRow): boolean {
  return issuer === flow.issuer && client_id === flow.idp_client_id;
}

/**
 * OpenID Connect Core 1.0, section 3.1.3: exchanges the code for tokens and verifies the ID token's issuer, audience,
 * signature, times and nonce; RFC 9207: the `iss` of the response; RFC 7636: the code verifier. Then section 5.3: the
 * UserInfo of the same subject.
 */
async function exchange(
  context: ControlContext,
  providers: Providers,
  idp: IdpRow,
  flow: FlowRow,
  query: CallbackQuery,
): Promise<Proved> {
  const secrets = JSON.parse(context.box.open(flow.secrets, flowSecretsPurpose(flow.id))) as FlowSecrets;
  const configuration = await providers.clientOf(idp);
  const tokens = await client.authorizationCodeGrant(configuration, answerUrl(context, query), {
    pkceCodeVerifier: secrets.verifier,
    expectedNonce: secrets.nonce,
    expectedState: query.state ?? "",
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new Error("the provider did not return an ID token");
  // the library compares with the issuer from discovery; this is the one with which the flow was started
  if (claims.iss !== flow.issuer) throw new Error("the ID token's issuer does not match");
  requireRecent(claims.auth_time, flow, context.clock());
  // if the endpoint exists, its response may contain roles: a sign-in without them would be a different one
  const { userinfo_endpoint: hasUserInfo, end_session_endpoint: hasLogout } = configuration.serverMetadata();
  const userInfo =
    hasUserInfo === undefined ? {} : await providers.userInfo(configuration, tokens.access_token, claims.sub);
  return {
    identity: readIdentity(
      idp.claims,
      {
        ...exactClaims(tokens.id_token ?? ""),
        // some providers send nanoseconds: which second it was is certain
        auth_time: claims.auth_time,
      },
      userInfo,
    ),
    idToken: tokens.id_token,
    ofCustomer: Object.entries(requiredClaims(idp)).every(([name, value]) => claims[name] === value),
    endSessionUrl: hasLogout === undefined ? undefined : client.buildEndSessionUrl(configuration).href,
  };
}

/** How far the provider's clock may be behind, in seconds. */
const CLOCK_TOLERANCE = 30;

/**
 * OpenID Connect Core 1.0, section 3.1.3.7, rule 13: the authentication must be as recent as the application has
 * requested. For a provider that never reports the time, the sign-in itself counts if the provider was asked to
 * authenticate the user again; for any other provider, a missing time is an error.
 */
function requireRecent(authTime: unknown, { max_age: maxAge, asked_fresh }: FlowRow, now: number): void {
  if (maxAge === null) return;
  const seconds = now / 1000;
  const known = authTime ?? (asked_fresh ? seconds : undefined);
  if (typeof known !== "number" || known - seconds > MAX_SECONDS_AHEAD)
    throw new Error("the time of the authentication is not known");
  if (known + maxAge + CLOCK_TOLERANCE < seconds)
    throw new Error("the authentication is less recent than requested");
}

/** The callback URL as registered with the provider, with the parameters that the provider added. */
function answerUrl(context: ControlContext, query: CallbackQuery): URL {
  const url = new URL(callbackUrl(context));
  for (const name of ["state", "code", "iss", "error", "error_description"] as const) {
    const value = query[name];
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}
