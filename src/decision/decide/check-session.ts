import type { Identity } from "../../identity/types.ts";
import type { StateReason } from "../../reasons.ts";
import { stepUpOf, violationOf, type CustomerState, type StepUp } from "../../customer-state/index.ts";
import type { Caller } from "./identify.ts";

/** What is known of customers, users and sessions beyond what their tokens say. Immutable, like a snapshot. */
export interface KnownState {
  /** `undefined`: there is nothing special about the customer. */
  customer(id: string): CustomerState | undefined;
  sessionEnded(id: string): boolean;
  userStatus(id: string): "active" | "suspended" | "deleted";
}

export interface SessionCheck {
  /** `undefined` where the control plane has not been heard of, or not for too long. */
  readonly state: KnownState | undefined;
  /** Why they are not known; for logs and audit. */
  readonly whyUnknown?: (() => string) | undefined;
  readonly clientIp: string;
  /** Unix ms. */
  readonly now: number;
}

/**
 * Looks at where an identified caller stands by now. A token was good when it was made; since then the session may have
 * ended, the customer may have been suspended, or its policies may ask for more than the token proves.
 *
 * @returns the caller as it was, or one that is not identified, and why
 */
export function checkSession(caller: Caller, admission: SessionCheck): Caller {
  const { identity } = caller;
  if (identity === undefined) return caller;
  const refusal = refusalOf(identity, admission);
  if (refusal === undefined) return caller;
  const final = caller.byCookie !== true && refusal.reason !== "STANDING_NOT_READY";
  return { failure: { ...refusal, detail: detailOf(identity, refusal.reason, admission), final } };
}

interface Refusal {
  readonly reason: StateReason;
  readonly stepUp?: StepUp;
}

function refusalOf(identity: Identity, { state, clientIp, now }: SessionCheck): Refusal | undefined {
  if (state === undefined) return { reason: "STANDING_NOT_READY" };
  const { session, user } = identity;
  if (session.id !== undefined && state.sessionEnded(session.id)) return { reason: "SESSION_ENDED" };
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

/** By what id the control plane knows the caller. */
export function userOf({ session, userId }: Identity): string {
  return session.subject ?? userId;
}

/** The state of the caller's customer, where there is anything to know about it. */
export function customerOf({ customer }: Identity, state: KnownState): CustomerState | undefined {
  const id = customer?.["id"];
  return typeof id === "string" ? state.customer(id) : undefined;
}

/** For logs and audit. */
function detailOf({ session }: Identity, reason: StateReason, { whyUnknown }: SessionCheck): string {
  const named = session.id === undefined ? "the token names no session" : `session ${session.id}`;
  if (reason !== "STANDING_NOT_READY" || whyUnknown === undefined) return named;
  return `${named}; control plane: ${whyUnknown()}`;
}
