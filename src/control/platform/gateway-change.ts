/** A change that gateways must get at once. */
export type GatewayChange =
  /** A session has ended: its tokens are refused, its connections closed. */
  | {
      readonly type: "session_ended";
      readonly session_id: string;
      /** ISO 8601: when the last token of the session expires; afterwards the change no longer matters. */
      readonly until: string;
    }
  /** The status, the assigned policies or the existence of a customer has changed: its state is read again. */
  | { readonly type: "customer_changed"; readonly customer_id: string }
  /** A policy has changed, and with it the state of every customer that it is assigned to. */
  | { readonly type: "policy_changed"; readonly policy_id: string }
  /** The status or the attributes of a user have changed. */
  | { readonly type: "user_changed"; readonly user_id: string; readonly customer_id: string }
  /** Another version of a policy set is active. */
  | { readonly type: "policy_set_activated"; readonly name: string };
