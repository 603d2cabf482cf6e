/** A change that gateways must learn at once. */
export type GatewayChange =
  /** A session has ended: its tokens are refused, its connections closed. */
  | {
      readonly type: "session_ended";
      readonly session_id: string;
      /** ISO 8601: when the last token of the session expires, after which nobody needs to know. */
      readonly until: string;
    }
  /** Status, assigned policies or existence of a customer changed: its state is read again. */
  | { readonly type: "customer_changed"; readonly customer_id: string }
  /** A policy changed, and with it the state of every customer that it is assigned to. */
  | { readonly type: "policy_changed"; readonly policy_id: string }
  /** Status or attributes of a user changed. */
  | { readonly type: "user_changed"; readonly user_id: string; readonly customer_id: string }
  /** Another version of a policy set is active. */
  | { readonly type: "policy_set_activated"; readonly name: string };
