import type { GraphqlDenial } from "../graphql/index.ts";
import type { ExtractedToken } from "../identity/index.ts";
import type { Identity } from "../identity/types.ts";
import type {
  Attributes,
  GraphqlErrorIR,
  PathRuleIR,
  PlanIR,
  WebsocketConnectionIR,
} from "../policy/index.ts";
import type { DenialReason, PermitReason } from "../reasons.ts";
import type { CanonicalRequest, RawRequest, Readings, StatedReading } from "../request/types.ts";
import type { StepUp } from "../customer-state/index.ts";
import type { UnknownParts } from "./attributes/attributes.ts";
import type { HeaderChanges } from "./headers/identity-headers.ts";
import type { RolloutArm } from "./policies/release.ts";
import type { RuleNeeds } from "./policies/needs.ts";
import type { Snapshot } from "./policies/snapshot.ts";

export type { UnknownParts } from "./attributes/attributes.ts";

/** What is unknown of the client's connection because a proxy keeps to itself what one in front of it says. */
export interface Untold {
  readonly parts: {
    readonly headers: ReadonlySet<string>;
    readonly members: NonNullable<UnknownParts["members"]>;
  };
  /** For logs and audit. */
  readonly why: string;
}

/** A request as passed from a door to the policy decision point. */
export interface AccessRequest {
  readonly raw: RawRequest;
  /** Address of the direct peer, as seen by the proxy. */
  readonly peer: string;
  readonly requestId: string;
  /** W3C trace context, as received. */
  readonly traceparent?: string;
  /** Unix ms. */
  readonly receivedAt: number;
  /**
   * The connection came from a trusted proxy by the PROXY protocol, and `peer` is what that says: `http` if the proxy also
   * sets headers, `tcp` if it forwards the client's.
   */
  readonly proxyProtocol?: "http" | "tcp";
  /** X-Forwarded-Proto as the peer sent it. Absent if that is what the headers have. */
  readonly forwardedProto?: readonly string[];
  /** What the first message of the connection carries, which this request has opened. */
  readonly ofConnection?: ExtractedToken;
  /** Deadline in Unix ms. A later answer is useless and becomes a denial. */
  readonly deadline: number;
  /**
   * `on_request`: the door did not send the body, but repeats the check with it if the result is BODY_NEEDED.
   * `handed_over`: the door sent the body. Absent: unknown.
   */
  readonly bodies?: "on_request" | "handed_over";
  /** Who is calling, as the door's own caller says, which may say so; in place of what tokens say. */
  readonly caller?: { readonly identity?: Identity };
  /** What the door cannot tell; absent: it tells everything but perhaps the body. */
  readonly unknown?: UnknownParts;
}

/**
 * What the rules were evaluated over, for records with inputs. `before_rules`: the request was refused before any policy set
 * had a say.
 */
export type EvaluatedInputs = "before_rules" | RulesEvaluated;

export interface RulesEvaluated {
  /** Unix ms. */
  readonly at: number;
  readonly environment: string;
  /** `identified`, `none`, or why the caller is not identified. */
  readonly caller: string;
  readonly identity: Identity | undefined;
  readonly readings: Readings;
  /** The gateway's policy set. */
  readonly snapshot: Snapshot;
  /** Number of the customer's own policy sets. */
  readonly customerSets: number;
  /** What the rules of the gateway's policy set read. Filled in during the decision. */
  readonly gathered: GatheredAttributes[];
}

export interface GatheredAttributes {
  readonly needs: RuleNeeds;
  readonly attributes: Attributes;
}

/** What is known about a decided request, whatever the decision: the facts that a response or a record needs. */
interface Facts {
  /** Details of what was wrong, for logs and audit. Contains no secrets. */
  readonly detail?: string;
  /** What the door could not tell. */
  readonly unknown?: UnknownParts;
  /** Of that: what only a trusted proxy could have said, and why it is unknown. */
  readonly untold?: Untold;
  readonly snapshot?: Snapshot;
  /** Present if a candidate is enforced for a part of the callers, and the caller is known. */
  readonly arm?: RolloutArm;
  /** `name@version` of a customer's own policy set, if that set decided. */
  readonly customerPolicySet?: string;
  /** A customer's own policy set requires an audit record. */
  readonly auditRequired?: true;
  /** The rule of `policies` or `web_policies`. */
  readonly rule?: PathRuleIR;
  /** Present for a WebSocket handshake. */
  readonly connection?: WebsocketConnectionIR;
  readonly request?: CanonicalRequest;
  readonly identity?: Identity;
  /** The cookie with a token is withheld from the application: because of the request's origin, or beside a subprotocol's. */
  readonly cookieWithheld?: true;
  /** The token's subprotocol is withheld from the application. */
  readonly protocolWithheld?: true;
  readonly clientIp: string;
  /** The peer is one of the configured front proxies. */
  readonly trustedPeer: boolean;
  /** Changes to headers by which proxies describe the request; absent if there are none. */
  readonly forwarding?: HeaderChanges;
  /** Switched-off checks that would have refused the request. */
  readonly accepted: readonly string[];
  /** The only reading of the path, if the configuration states it for what was accepted. */
  readonly readAs?: StatedReading;
  /** The attributes over which the deciding rule's condition was evaluated. */
  readonly attributes?: Attributes;
  /** Present if records carry inputs. */
  readonly inputs?: EvaluatedInputs;
}

/** Facts that only a permit has. */
interface PermitParts {
  /** What the gateway still has to do with the response or on the connection. */
  readonly plan?: PlanIR;
  /** By the gateway's own set alone (null: none), if the customer's own sets permit the request as well: `plan` is for all. */
  readonly gatewayPlan?: PlanIR | null;
  /** Index of the entry of `gateway.routes` whose limits apply. */
  readonly route?: number;
  /** Other readings of the request, which are also permitted. */
  readonly alsoRead?: readonly CanonicalRequest[];
}

/** Facts that only a denial has. */
interface DenialParts {
  /** GraphQL fields that are not permitted. */
  readonly denials?: readonly GraphqlDenial[];
  /** The errors for a denied GraphQL operation. */
  readonly graphqlErrors?: readonly GraphqlErrorIR[];
  /** The sign-in that the customer's policies require, if the caller's is not sufficient. */
  readonly stepUp?: StepUp;
}

/** Prevents a spread from copying a part to where it has no meaning. */
type Without<Parts> = { readonly [Name in keyof Parts]?: never };

/** A decision in progress. */
export interface Draft extends Facts, Without<PermitParts>, Without<DenialParts> {}

export interface Permit extends Facts, PermitParts, Without<DenialParts> {
  readonly verdict: "ALLOW";
  readonly reason: PermitReason;
}

export interface Denial extends Facts, DenialParts, Without<PermitParts> {
  readonly verdict: "DENY";
  readonly reason: DenialReason;
}

/** The decision on one request. */
export type Decision = Permit | Denial;
