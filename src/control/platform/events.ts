/** Every type of event (specification, section 6), and what its `data` holds is documented with the webhooks. */
export const EVENT_TYPES = [
  "user.authenticated",
  "user.authentication_failed",
  "user.logged_out",
  "user.deleted",
  "session.revoked",
  "policy.violated",
  "policy.updated",
  "policy_set.published",
  "customer.created",
  "customer.updated",
  "customer.suspended",
  "api_key.created",
  "api_key.revoked",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export interface EventUser {
  readonly id: string;
  readonly email?: string;
  readonly customer_id: string;
}
export interface EventSession {
  readonly id: string;
  readonly ip_address: string;
  readonly user_agent: string;
}

/** What a provider said that does not count, and why. */
export interface DroppedClaim {
  readonly claim: string;
  /** The first of them, shortened. */
  readonly values: readonly string[];
  readonly count: number;
  readonly reason: string;
}

/** What is told of an event; specification 6 gives `user` and `session`. Never a secret. */
export interface EventData {
  readonly user?: EventUser;
  readonly session?: EventSession;
  readonly customer?: { readonly id: string; readonly name: string; readonly status: string };
  readonly policy?: { readonly id: string; readonly name: string; readonly type: string };
  readonly policy_set?: { readonly name: string; readonly version: string; readonly digest: string };
  readonly api_key?: { readonly id: string; readonly name: string; readonly scope: string };
  /** Of a sign-in: what the identity provider said and may not. */
  readonly dropped_claims?: readonly DroppedClaim[];
  /** Of a failure, a violation or an end: a code. */
  readonly reason?: string;
  readonly detail?: string;
  /** Of a violation at the gateway. */
  readonly decision_id?: string;
  /**
   * Only in a delivery: the number of violations it represents, their time range, and whether they are of several
   * kinds.
   */
  readonly count?: number;
  readonly first_at?: string;
  readonly last_at?: string;
  readonly others?: true;
}

/** An event as a change announces it. */
export interface NewEvent {
  readonly type: EventType;
  /** The customer it concerns; absent for what concerns the whole environment. */
  readonly customerId?: string;
  readonly userId?: string;
  /** By which repetitions are told apart, besides the reason. */
  readonly rule?: string;
  readonly data: EventData;
}

/** An event as it is stored and delivered. */
export interface StoredEvent extends NewEvent {
  readonly id: string;
  readonly timestamp: Date;
}
