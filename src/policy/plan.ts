import type { GraphqlLimitsIR, GraphqlSchemaIR } from "./graphql-ir.ts";
import type { Expression, FieldPathIR, MaskAction } from "./ir.ts";

/**
 * What the gateway still has to do after a request was allowed. Whatever the request determines is decided here; Lua in
 * Envoy does the rest, with data that only Envoy sees. Plain JSON; part of the IR and versioned with it.
 *
 * A rule without `when` always applies; one that can never apply is left out. `when` is residual IR: it reads nothing
 * that was known when the request was decided.
 */
export interface PlanIR {
  readonly ir: number;
  /** The digest of its set, in a plan that takes the place of a connection's first one: the record needs it. */
  readonly set?: string;
  readonly response?: ResponsePlanIR;
  /** The request was a CORS preflight: only the CORS headers of the response are delivered. */
  readonly preflight?: true;
  readonly websocket?: WebsocketPlanIR;
}

/** How a field of a document is masked. `null` is for denied GraphQL fields. */
export type FieldAction = MaskAction | { readonly kind: "null" };

/** A field to mask wherever it occurs, unless `when` is false (unknown masks). */
export interface PlannedField extends FieldPathIR {
  /** Id of the rule. */
  readonly rule: string;
  readonly action: FieldAction;
  /** May read `item` (the object that holds the field) and `response` (`status`, `headers`, `body`). */
  readonly when?: Expression;
}

/** An entry in the `errors` of a GraphQL response (GraphQL specification, section 7.1.2). */
export interface GraphqlErrorIR {
  readonly message: string;
  readonly path?: readonly string[];
  readonly extensions: { readonly code: string };
}

export interface ResponsePlanIR {
  /** In bytes. A larger body is not delivered. */
  readonly limit: number;
  readonly fields: readonly PlannedField[];
  /**
   * A response of a type that is certainly not JSON passes unchanged, because every rule that applies allows it. If
   * absent, it is refused.
   */
  readonly otherTypes?: "pass";
  /**
   * The response is the result of GraphQL operations that were evaluated. A document with other members than `data`,
   * `errors` and `extensions` is not delivered.
   */
  readonly graphql?: true;
  /** The response is the event stream of a GraphQL subscription: conditions that each of its events must meet. */
  readonly events?: PlannedEventsIR;
  /** Appended to `errors` at the root of the document; the member is created if it is missing. */
  readonly errors?: readonly GraphqlErrorIR[];
}

export interface PlannedEventsIR {
  /** `env.environment`. */
  readonly environment: string;
  readonly conditions: readonly PlannedEvent[];
}

/** An event is delivered if `when` is true of what it has under `key`, or of every item if that is a list. */
export interface PlannedEvent {
  readonly rule: string;
  /** The response key of the root field. */
  readonly key: string;
  /** May read `env`, and `roots`: members of the payload if they are among `members`, otherwise all of it. */
  readonly when: Expression | false;
  readonly roots: readonly string[];
  readonly members: readonly string[];
}

export interface WebsocketPlanIR {
  /** `env.environment`. */
  readonly environment: string;
  /**
   * An ordinary response instead of the upgrade may be delivered unchanged: the path rules permit it as well, no
   * response rule applies to it, and it cannot be the result of a GraphQL operation.
   */
  readonly plain: boolean;
  /** Maximum size of one message in bytes. A larger one closes the connection with 1009. */
  readonly limit: number;
  /**
   * Rules for messages from the client, by type. If absent, all pass; if present, types that are not listed are denied.
   */
  readonly send?: Readonly<Record<string, PlannedMessage>>;
  /** The same for messages from the server. */
  readonly receive?: Readonly<Record<string, PlannedMessage>>;
  /** Fields to mask in every message from the server. */
  readonly fields?: readonly PlannedField[];
  /** The endpoint speaks GraphQL: `send` and `receive` are absent. */
  readonly graphql?: GraphqlPlanIR;
}

/** A message is delivered if `when` is true. */
export interface PlannedMessage {
  readonly rule: string;
  /** May read `message` and `env`. Absent: always delivered. `false`: never. */
  readonly when?: Expression | false;
  readonly onDeny: "drop" | "close";
  /** Fields to mask in this message before delivery; only for messages from the server. */
  readonly fields?: readonly PlannedField[];
}

/** What decides on GraphQL operations: the remaining rules of a request, and the schema. */
export interface GraphqlPlanIR {
  readonly rules: readonly PlannedGraphqlRule[];
  readonly limits: GraphqlLimitsIR;
  readonly introspection: "allow" | "deny";
  /** The decision for a root field without a rule. */
  readonly default: "allow" | "deny";
  readonly schema?: GraphqlSchemaIR;
  /**
   * Names that response rules of any policy set in force mask or read at this endpoint. An operation that renames a
   * field from or to one of them with an alias is denied: the rule would look for the wrong name.
   */
  readonly guardedNames?: readonly string[];
}

export interface PlannedGraphqlRule {
  readonly rule: string;
  readonly operation: "query" | "mutation" | "subscription";
  readonly type?: string;
  readonly field: string;
  readonly onDeny: "reject" | "null";
  /**
   * Permits if it is true. May read `args`, `env` and, in a subscription, roots named after the payload
   * (`order.customer_id`). Absent: always permits. `false`: never.
   */
  readonly when?: Expression | false;
}
