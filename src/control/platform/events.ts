/** Every type of event (specification, section 6). The contents of its `data` are documented with the webhooks. */
export const EVENT_TYPES = [
  "user.authenticated",
  "user.authentication_failed",
  "user.logged_out",
  "user.deleted",
  "session.revoked",
  "policy.violated",
  "policy.updated",
  "policy_set.published",
  "policy_set.rollout_started",
  "policy_set.rollout_changed",
  "policy_set.rollout_promoted",
  "policy_set.rollout_aborted",
  "customer.created",
  "customer.updated",
  "customer.suspended",
  "api_key.created",
  "api_key.revoked",
  "gateway.lost",
  "gateway.diverged",
  "gateway.lagging",
  "gateway.recovered",
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

/** Claims of a provider that are not accepted, and why. */
export interface DroppedClaim {
  readonly claim: string;
  /** The first of them, shortened. */
  readonly values: readonly string[];
  readonly count: number;
  readonly reason: string;
}

/** The data of an event; specification 6 requires `user` and `session`. Never a secret. */
export interface EventData {
  readonly user?: EventUser;
  readonly session?: EventSession;
  readonly customer?: { readonly id: string; readonly name: string; readonly status: string };
  readonly policy?: { readonly id: string; readonly name: string; readonly type: string };
  readonly policy_set?: { readonly name: string; readonly version: string; readonly digest: string };
  readonly rollout?: {
    readonly id: string;
    readonly mode: "shadow" | "enforce";
    /** In effect after the change. */
    readonly percentage: number;
    /** Why it was aborted. */
    readonly cause?: string;
    readonly detail?: string;
  };
  readonly api_key?: { readonly id: string; readonly name: string; readonly scope: string };
  /** Names and addresses are what the gateway says about itself. */
  readonly gateway?: {
    readonly id: string;
    readonly name: string;
    readonly address: string;
    readonly version: string;
    readonly policy_set: string;
    readonly digest: string;
  };
  /** For a sign-in: claims of the identity provider that it may not make. */
  readonly dropped_claims?: readonly DroppedClaim[];
  /** For a failure, a violation or an end: a code. */
  readonly reason?: string;
  readonly detail?: string;
  /** For a violation at the gateway. */
  readonly decision_id?: string;
  /**
   * For violations, only in a delivery: the number that it represents, their time range, and whether they are of several
   * kinds. For gateways: how many it represents, if more than the one that it names.
   */
  readonly count?: number;
  readonly first_at?: string;
  readonly last_at?: string;
  readonly others?: true;
}

/** An event as announced by a change. */
export interface NewEvent {
  readonly type: EventType;
  /** The customer that it concerns; absent if it concerns the whole environment. */
  readonly customerId?: string;
  readonly userId?: string;
  /** Distinguishes repetitions, in addition to the reason. */
  readonly rule?: string;
  readonly data: EventData;
}

/** An event as it is stored and delivered. */
export interface StoredEvent extends NewEvent {
  readonly id: string;
  readonly timestamp: Date;
}
