import { clientOf } from "../platform/actor.ts";
import type { ControlContext } from "../platform/context.ts";
import { ApiError, invalidCustomer } from "../platform/errors.ts";
import type { Answer } from "../platform/frame/route.ts";
import { newId } from "../platform/ids.ts";
import type { SigningKey } from "../sign-in/issuer/keyring.ts";
import { hashSecret, newSecret } from "../platform/secret-box.ts";
import { readIdentity } from "../sign-in/claims.ts";
import { exchangeCode } from "../sign-in/exchange.ts";
import { checkSignIn, type ProvedFlow } from "../sign-in/complete-sign-in.ts";
import type { SignInFailure } from "../sign-in/failure.ts";
import type { UnitOfWork } from "../platform/unit.ts";
import { lockCustomerShared } from "../tenancy/customers.ts";
import { CLAIMS_OF_SCOPES, claimsOf, mappingOf, type Described } from "./claims.ts";
import { sandboxIssuer } from "../platform/sandbox-issuer.ts";

export type UserTokenScope = keyof typeof CLAIMS_OF_SCOPES;

/** Somebody who signs in, without a browser. */
export interface HeadlessSignIn {
  readonly customerId: string;
  /** Who it is, as the provider's `sub` says it. */
  readonly subject: string;
  readonly person: Described & { readonly amr: readonly string[] };
  readonly scopes?: readonly UserTokenScope[] | undefined;
  /** Lifetime of the access token, in seconds. */
  readonly expiresIn?: number | undefined;
  readonly clientIp: string;
  readonly userAgent: string;
}

/**
 * Signs a person in as the callback and the exchange of the code do: directory, policies, session and events are the same.
 * Only the browser is missing, and the provider between.
 *
 * @returns the answer of `POST /auth/token`
 * @throws ApiError where the customer is not there or not active
 */
export async function signInHeadless(
  context: ControlContext,
  unit: UnitOfWork,
  key: SigningKey,
  asked: HeadlessSignIn,
): Promise<Answer> {
  const { customerId, expiresIn, clientIp, userAgent } = asked;
  const customer = await lockCustomerShared(unit.trx, customerId);
  if (customer === undefined) throw invalidCustomer(customerId, "body");
  if (customer.status !== "active")
    throw new ApiError("CUSTOMER_SUSPENDED", {
      details: { customer_id: customerId, status: customer.status },
    });
  const outcome = await checkSignIn(context, unit, customer, proofOf(context, unit, asked), {
    state: "",
    clientIp,
    userAgent,
  });
  if (!("code" in outcome)) return { kind: "refusal", error: refusalOf(outcome) };
  const settings =
    expiresIn === undefined ? context.settings : { ...context.settings, accessTokenSeconds: expiresIn };
  const { actor } = unit.origin;
  return exchangeCode({ ...context, settings }, { actor, body: { code: outcome.code } }, unit, key);
}

/** What would have been proved by the provider. */
function proofOf(
  { settings }: ControlContext,
  { now, origin }: UnitOfWork,
  { customerId, subject, person, scopes = SCOPES }: HeadlessSignIn,
): ProvedFlow {
  const granted = new Set<UserTokenScope>(["openid", ...scopes]);
  const names: readonly string[] = [...granted].flatMap((scope) => [...CLAIMS_OF_SCOPES[scope]]);
  const claims = Object.entries(claimsOf(person)).filter(([name]) => names.includes(name));
  const idToken = {
    ...Object.fromEntries(claims),
    sub: subject,
    amr: [...person.amr],
    auth_time: Math.floor(now.getTime() / 1000),
  };
  return {
    kind: "proved",
    flow: {
      id: newId("flow"),
      // no browser comes back with it
      state_hash: hashSecret(newSecret()),
      customer_id: customerId,
      client_id: clientOf(origin.actor),
      return_url: "",
      issuer: sandboxIssuer(settings),
      idp_client_id: customerId,
      secrets: "",
      scope: [...granted].join(" "),
      max_age: null,
      asked_fresh: true,
      created_at: now,
      expires_at: now,
    },
    identity: readIdentity(mappingOf(Object.keys(person.attributes)), idToken, {}),
    idToken: undefined,
    ofCustomer: true,
    endSessionUrl: undefined,
  };
}

const SCOPES = Object.keys(CLAIMS_OF_SCOPES) as UserTokenScope[];

/** The codes of a refresh that is refused for the same reason. */
function refusalOf({ reason }: SignInFailure): ApiError {
  if (reason === "USER_SUSPENDED") return new ApiError("USER_SUSPENDED");
  return new ApiError("POLICY_VIOLATED", { details: { reason } });
}
