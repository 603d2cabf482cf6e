import type { GraphqlDenial } from "../graphql/index.ts";
import type { Identity } from "../identity/types.ts";
import type {
  Attributes,
  GraphqlErrorIR,
  PathRuleIR,
  PlanIR,
  WebsocketConnectionIR,
} from "../policy/index.ts";
import type { Reason } from "../reasons.ts";
import type { CanonicalRequest, RawRequest } from "../request/types.ts";
import type { StepUp } from "../standing/index.ts";
import type { Snapshot } from "./snapshot.ts";

/** A request as a door hands it to the policy decision point. */
export interface AccessRequest {
  readonly raw: RawRequest;
  /** Address of the connection's other end, as the proxy saw it. */
  readonly peer: string;
  readonly requestId: string;
  /** W3C trace context, as received. */
  readonly traceparent?: string;
  /** Unix ms. */
  readonly receivedAt: number;
  /** Unix ms: an answer after this is worthless and becomes a denial. */
  readonly deadline: number;
  /**
   * `on_request`: the door has not handed over the body, but asks again with it when the decision comes to BODY_NEEDED.
   * `handed_over`: it has. Absent: it does not say.
   */
  readonly bodies?: "on_request" | "handed_over";
}

/** What was decided about one request, with all that an answer or a record needs to say why. */
export interface Decision {
  readonly verdict: "ALLOW" | "DENY";
  readonly reason: Reason;
  /** What exactly was wrong, for logs and audit; never a secret. */
  readonly detail?: string;
  readonly snapshot?: Snapshot;
  /** `name@version` of a customer's own policy set, where that one decided. */
  readonly customerPolicySet?: string;
  /** A customer's own policy set requires the record of what both permit. */
  readonly auditRequired?: true;
  /** Of `policies` or `web_policies`. */
  readonly rule?: PathRuleIR;
  /** Where a WebSocket handshake was judged. */
  readonly connection?: WebsocketConnectionIR;
  /** Fields of a GraphQL operation that are not permitted. */
  readonly denials?: readonly GraphqlDenial[];
  /** What a denied GraphQL operation is told. */
  readonly graphqlErrors?: readonly GraphqlErrorIR[];
  /** What the gateway still has to do with the answer, or on the connection. */
  readonly plan?: PlanIR;
  readonly request?: CanonicalRequest;
  /** What else it could be, and is permitted as. */
  readonly alsoRead?: readonly CanonicalRequest[];
  readonly identity?: Identity;
  /** A cookie says who is asking, and the request's origin does not allow to use it: the application does not get it. */
  readonly cookieWithheld?: true;
  /** The sign-in that the customer's policies ask for, where the caller's does not satisfy them. */
  readonly stepUp?: StepUp;
  readonly clientIp: string;
  /** The peer is one of the configured front proxies. */
  readonly trustedPeer: boolean;
  /** Switched-off checks that would have refused the request. */
  readonly accepted: readonly string[];
  /** What the condition of the rule that decided was evaluated over. */
  readonly attributes?: Attributes;
}
