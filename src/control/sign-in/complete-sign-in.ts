import { MAX_SECONDS_AHEAD } from "../../customer-state/index.ts";
import type { ControlContext } from "../platform/context.ts";
import { lockCustomerShared, type CustomerRow } from "../tenancy/customers.ts";
import type { EventUser } from "../platform/events.ts";
import type { Answer } from "../platform/frame/route.ts";
import { newId } from "../platform/ids.ts";
import { userScope } from "../resources/sessions/user-scopes.ts";
import { makeRoomForSession } from "../resources/sessions/limit.ts";
import { insertSession } from "../resources/sessions/store.ts";
import type { UnitOfWork } from "../platform/unit.ts";
import { claimPolicyOf } from "../tenancy/claim-policy.ts";
import type { DroppedClaim } from "../platform/events.ts";
import { permitClaims } from "../tenancy/permit-claims.ts";
import { lockBySubject, upsertOnSignIn, type UserRow } from "../resources/users/store.ts";
import { makeCode } from "./code-store.ts";
import {
  describeFailure,
  failedBecause,
  failedByPolicy,
  withParameters,
  type SignInFailure,
} from "./failure.ts";
import type { FlowRow } from "./flow-store.ts";
import { idTokenPurpose } from "./sealed-id-tokens.ts";
import { isProviderOf, type Proof } from "./exchange-callback.ts";
import { boundOf, earlier, rulesOf, violatedBy } from "./session-policies.ts";
import type { Providers } from "./provider.ts";
import type { IdpRow } from "../tenancy/idp.ts";
import { subjectDetail } from "../platform/personal-data.ts";

/** How long an application has to exchange a code. */
export const CODE_SECONDS = 60;
/** A longer one is not a hint that fits into a URL. */
const MAX_ID_TOKEN = 8_000;
const NO_STORE = { "cache-control": "no-store" };

/** The browser, and the state that it sent. */
export interface Arrival {
  readonly state: string;
  readonly clientIp: string;
  readonly userAgent: string;
}

type ProvedByProvider = Extract<Proof, { kind: "proved" }>;
export type ProvedFlow = Omit<ProvedByProvider, "idpRevision">;

/**
 * Completes a sign-in: creates a session and a one-time code for the application, or gives the reason for the failure.
 * In either case the browser goes to the return URL, if that is still registered for the customer.
 *
 * @returns `undefined` if there is no address to send the browser to
 */
export async function completeSignIn(
  context: ControlContext,
  { of: providerOf }: Pick<Providers, "of">,
  unit: UnitOfWork,
  proof: Proof,
  arrival: Arrival,
): Promise<Answer | undefined> {
  if (proof.kind === "unknown") return undefined;
  const { flow } = proof;
  const customer = await lockCustomerShared(unit.trx, flow.customer_id);
  if (customer?.allowed_return_urls.includes(flow.return_url) !== true) return undefined;
  const { state } = arrival;
  const outcome =
    customer.status !== "active"
      ? refuse(unit, flow, failedBecause("CUSTOMER_SUSPENDED"))
      : proof.kind === "failed"
        ? refuse(unit, flow, proof.failure)
        : isUnchanged(proof, await providerOf(unit.trx, customer))
          ? await checkSignIn(context, unit, customer, proof, arrival)
          : refuse(unit, flow, failedBecause("PROVIDER_CHANGED"));
  const parameters =
    "code" in outcome
      ? { code: outcome.code, state }
      : {
          error: outcome.error,
          error_description: describeFailure(outcome.reason),
          reason: outcome.reason,
          ...stepUpParameters(outcome),
          state,
        };
  return { kind: "redirect", location: withParameters(flow.return_url, parameters), headers: NO_STORE };
}

/**
 * Whether the provider that proved the sign-in is still configured as it was then. The customer's lock keeps it so: what
 * a provider that was removed meanwhile says about its users no longer counts, nor does an earlier mapping of its claims.
 */
function isUnchanged({ flow, idpRevision }: ProvedByProvider, idp: IdpRow | undefined): boolean {
  return idp !== undefined && isProviderOf(flow, idp) && idp.revision === idpRevision;
}

function stepUpParameters({ stepUp }: SignInFailure): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(stepUp ?? {}).map(([name, value]) => [name, String(value)]));
}

/**
 * Evaluates an authenticated user against the policies, and creates the session; the customer is locked, and active.
 */
export async function checkSignIn(
  context: ControlContext,
  unit: UnitOfWork,
  customer: CustomerRow,
  proof: ProvedFlow,
  arrival: Arrival,
): Promise<{ readonly code: string } | SignInFailure> {
  const { trx, now } = unit;
  const { flow, identity } = proof;
  const rules = await rulesOf(trx, flow.customer_id);
  const { subject, email, name, profile: claimed, amr, acr } = identity;
  const authTime = timeOfAuthentication(proof, now);
  const who = { customerId: flow.customer_id, issuer: flow.issuer, subject };
  // locked, so that two sign-ins of one user do not change the row concurrently
  const known = await lockBySubject(trx, who);
  if (known?.status === "suspended") return refuse(unit, flow, failedBecause("USER_SUSPENDED"), known);
  const violation = violatedBy({ email, clientIp: arrival.clientIp, amr, acr, authTime }, rules, now);
  if (violation !== undefined) {
    const failure = failedByPolicy(
      violation,
      rules,
      known === undefined ? subjectDetail(subject) : undefined,
    );
    announce(unit, "policy.violated", flow, failure, known);
    return refuse(unit, flow, failure, known);
  }

  const policy = claimPolicyOf(context.settings, customer, flow.issuer);
  const { permitted, dropped } = permitClaims(claimed, policy);
  const user = await upsertOnSignIn(unit, {
    ...who,
    ...(email !== undefined && { email }),
    ...(name !== undefined && { name }),
    profile: permitted,
    claimed,
  });
  // suspended between the check above and the lock
  if (user.status !== "active") return refuse(unit, flow, failedBecause("USER_SUSPENDED"), user);
  return { code: await openSession(context, unit, { proof, arrival, user, dropped, authTime, rules }) };
}

/**
 * When the user authenticated: the provider's `auth_time`; or this sign-in, if the provider never reports the time but
 * was asked to authenticate the user again. Otherwise it is unknown, and stays so at every refresh; so is a time that no
 * clock explains, such as one in milliseconds.
 */
function timeOfAuthentication({ identity, flow }: ProvedFlow, now: Date): Date | null {
  if (identity.authTime === undefined) return flow.asked_fresh ? now : null;
  if (identity.authTime - now.getTime() / 1000 > MAX_SECONDS_AHEAD) return null;
  // a provider whose clock is ahead does not make sessions younger
  return earlier(new Date(identity.authTime * 1000), now);
}

interface Opening {
  readonly proof: ProvedFlow;
  readonly arrival: Arrival;
  readonly user: UserRow;
  readonly dropped: readonly DroppedClaim[];
  readonly authTime: Date | null;
  readonly rules: Awaited<ReturnType<typeof rulesOf>>;
}

/** The session expires with its code, until the application exchanges the code. */
async function openSession(
  { settings, box }: ControlContext,
  unit: UnitOfWork,
  { proof, arrival, user, dropped, authTime, rules }: Opening,
): Promise<string> {
  const { trx, now } = unit;
  const { flow, identity, idToken, endSessionUrl } = proof;
  const id = newId("session");
  const at = now.getTime();
  const expiresAt = boundOf({ expiresAt: new Date(at + settings.sessionSeconds * 1000), authTime }, rules);
  const codeExpiresAt = earlier(expiresAt, new Date(at + CODE_SECONDS * 1000));
  const hint = idToken !== undefined && idToken.length <= MAX_ID_TOKEN ? idToken : undefined;
  await makeRoomForSession(unit, { id: user.id, customer_id: flow.customer_id }, settings.sessionsPerUser);
  await insertSession(trx, {
    id,
    customer_id: flow.customer_id,
    user_id: user.id,
    client_id: flow.client_id,
    end_session_url: endSessionUrl ?? null,
    id_token: hint === undefined ? null : box.seal(hint, idTokenPurpose(id)),
    scope: userScope(flow.scope),
    auth_time: authTime,
    amr: identity.amr,
    acr: identity.acr ?? null,
    ip_address: arrival.clientIp,
    user_agent: arrival.userAgent,
    created_at: now,
    last_used_at: now,
    expires_at: expiresAt,
    alive_until: codeExpiresAt,
  });
  unit.emit({
    type: "user.authenticated",
    customerId: flow.customer_id,
    userId: user.id,
    data: {
      user: eventUser(user),
      session: { id, ip_address: arrival.clientIp, user_agent: arrival.userAgent },
      ...(dropped.length > 0 && { dropped_claims: dropped }),
    },
  });
  return makeCode(trx, {
    session_id: id,
    state_hash: flow.state_hash,
    return_url: flow.return_url,
    expires_at: codeExpiresAt,
  });
}

export function eventUser({ id, email, customer_id }: UserRow): EventUser {
  return { id, ...(email !== null && { email }), customer_id };
}

function refuse(unit: UnitOfWork, flow: FlowRow, failure: SignInFailure, user?: UserRow): SignInFailure {
  announce(unit, "user.authentication_failed", flow, failure, user);
  return failure;
}

function announce(
  unit: UnitOfWork,
  type: "user.authentication_failed" | "policy.violated",
  flow: FlowRow,
  { reason, detail }: SignInFailure,
  user: UserRow | undefined,
): void {
  unit.emit({
    type,
    customerId: flow.customer_id,
    ...(user !== undefined ? { userId: user.id } : detail !== undefined && { rule: detail }),
    data: {
      ...(user !== undefined && { user: eventUser(user) }),
      reason,
      ...(detail !== undefined && { detail }),
    },
  });
}
