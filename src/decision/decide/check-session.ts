import type { Identity } from "../../identity/types.ts";
import type { StateReason } from "../../reasons.ts";
import { stepUpOf, violationOf, type CustomerState, type StepUp } from "../../customer-state/index.ts";
import type { Caller } from "./identify.ts";

/** What is known about customers, users and sessions besides their tokens. Immutable, like a snapshot. */
export interface KnownState {
  /** `undefined` if the customer has no special state. */
  customer(id: string): CustomerState | undefined;
  sessionEnded(id: string): boolean;
  userStatus(id: string): "active" | "suspended" | "deleted";
}

export interface SessionCheck {
  /** `undefined` if there was no contact with the control plane, or none for too long. */
  readonly state: KnownState | undefined;
  /** Why the state is unknown; for logs and audit. */
  readonly whyUnknown?: (() => string) | undefined;
  readonly clientIp: string;
  /** Unix ms. */
  readonly now: number;
}

/**
 * Checks the current state of an identified caller. The token was valid when it was issued, but since then the session
 * may have ended, the customer may have been suspended, or its policies may require more than the token proves.
 *
 * @returns the caller unchanged, or one that is not identified, with the reason
 */
export function checkSession(caller: Caller, check: SessionCheck): Caller {
  const { identity } = caller;
  if (identity === undefined) return caller;
  const refusal = refusalOf(identity, check);
  if (refusal === undefined) return caller;
  const final =
    caller.byMessage === true || (caller.byCookie !== true && refusal.reason !== "CUSTOMER_STATE_NOT_READY");
  return { failure: { ...refusal, detail: detailOf(identity, refusal.reason, check), final } };
}

interface Refusal {
  readonly reason: StateReason | "API_KEY_INVALID";
  readonly stepUp?: StepUp;
}

function refusalOf(identity: Identity, { state, clientIp, now }: SessionCheck): Refusal | undefined {
  if (state === undefined) return { reason: "CUSTOMER_STATE_NOT_READY" };
  const { session, user } = identity;
  if (session.id !== undefined && state.sessionEnded(session.id))
    return { reason: session.apiKey === true ? "API_KEY_INVALID" : "SESSION_ENDED" };
  if (state.userStatus(userOf(identity)) !== "active") return { reason: "USER_SUSPENDED" };
  const customer = customerOf(identity, state);
  if (customer === undefined) return undefined;
  if (customer.status !== "active") return { reason: "CUSTOMER_SUSPENDED" };
  const email = user["email"];
  const violation = violationOf(customer.authentication, {
    email: typeof email === "string" ? email : undefined,
    clientIp,
    amr: session.amr,
    acr: session.acr,
    authTime: session.authTime,
    now: Math.floor(now / 1000),
    ...(session.machine === true && { machine: true }),
  });
  if (violation === undefined) return undefined;
  const stepUp = stepUpOf(customer.authentication, violation);
  return { reason: violation, ...(stepUp && { stepUp }) };
}

/** The id by which the control plane knows the caller. */
export function userOf({ session, userId }: Identity): string {
  return session.subject ?? userId;
}

/** The state of the caller's customer, if it has one. */
export function customerOf({ customer }: Identity, state: KnownState): CustomerState | undefined {
  const id = customer?.["id"];
  return typeof id === "string" ? state.customer(id) : undefined;
}

/** For logs and audit. */
function detailOf({ session }: Identity, reason: Refusal["reason"], { whyUnknown }: SessionCheck): string {
  const what = session.apiKey === true ? "API key" : "session";
  const named = session.id === undefined ? "the token does not name a session" : `${what} ${session.id}`;
  if (reason !== "CUSTOMER_STATE_NOT_READY" || whyUnknown === undefined) return named;
  return `${named}; control plane: ${whyUnknown()}`;
}
