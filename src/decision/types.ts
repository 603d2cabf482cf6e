import type { GraphqlDenial } from "../graphql/index.ts";
import type { Identity } from "../identity/types.ts";
import type {
  Attributes,
  GraphqlErrorIR,
  PathRuleIR,
  PlanIR,
  WebsocketConnectionIR,
} from "../policy/index.ts";
import type { DenialReason, PermitReason } from "../reasons.ts";
import type { CanonicalRequest, RawRequest } from "../request/types.ts";
import type { StepUp } from "../customer-state/index.ts";
import type { Snapshot } from "./policies/snapshot.ts";

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

/** What is known about a request once it is decided, whichever way: what an answer or a record needs to say why. */
interface Facts {
  /** What exactly was wrong, for logs and audit; never a secret. */
  readonly detail?: string;
  readonly snapshot?: Snapshot;
  /** `name@version` of a customer's own policy set, where that one decided. */
  readonly customerPolicySet?: string;
  /** A customer's own policy set requires the record of what both permit. */
  readonly auditRequired?: true;
  /** Of `policies` or `web_policies`. */
  readonly rule?: PathRuleIR;
  /** Where a WebSocket handshake was evaluated. */
  readonly connection?: WebsocketConnectionIR;
  readonly request?: CanonicalRequest;
  readonly identity?: Identity;
  /** A cookie says who is asking, and the request's origin does not allow to use it: the application does not get it. */
  readonly cookieWithheld?: true;
  readonly clientIp: string;
  /** The peer is one of the configured front proxies. */
  readonly trustedPeer: boolean;
  /** Switched-off checks that would have refused the request. */
  readonly accepted: readonly string[];
  /** What the condition of the rule that decided was evaluated over. */
  readonly attributes?: Attributes;
}

/** What only a permit has. */
interface PermitParts {
  /** What the gateway still has to do with the answer, or on the connection. */
  readonly plan?: PlanIR;
  /** What else the request could be, and is permitted as. */
  readonly alsoRead?: readonly CanonicalRequest[];
}

/** What only a denial has. */
interface DenialParts {
  /** Fields of a GraphQL operation that are not permitted. */
  readonly denials?: readonly GraphqlDenial[];
  /** What a denied GraphQL operation is told. */
  readonly graphqlErrors?: readonly GraphqlErrorIR[];
  /** The sign-in that the customer's policies ask for, where the caller's does not satisfy them. */
  readonly stepUp?: StepUp;
}

/** So that no spread carries a part to where it means nothing. */
type Without<Parts> = { readonly [Name in keyof Parts]?: never };

/** A decision as far as it has come. */
export interface Draft extends Facts, Without<PermitParts>, Without<DenialParts> {}

export interface Permit extends Facts, PermitParts, Without<DenialParts> {
  readonly verdict: "ALLOW";
  readonly reason: PermitReason;
}

export interface Denial extends Facts, DenialParts, Without<PermitParts> {
  readonly verdict: "DENY";
  readonly reason: DenialReason;
}

/** What was decided about one request. */
export type Decision = Permit | Denial;
