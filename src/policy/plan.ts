import type { GraphqlLimitsIR, GraphqlSchemaIR } from "./graphql-ir.ts";
import type { Expression, FieldPathIR, MaskAction } from "./ir.ts";

/**
 * What the gateway still has to do after a request was allowed: decided here as far as the request tells, and left to
 * Lua in Envoy for what only Envoy sees. Plain JSON; a part of the IR, and versioned with it.
 *
 * Where a rule has no `when`, it holds always; one that can never hold is left out. `when` is residual IR: it reads
 * nothing that was known at the request.
 */
export interface PlanIR {
  readonly ir: number;
  readonly response?: ResponsePlanIR;
  /** The request was a CORS preflight: only headers of CORS are delivered of the answer. */
  readonly preflight?: true;
  readonly websocket?: WebsocketPlanIR;
}

/** How a field of a document is changed. `null` is for denied GraphQL fields. */
export type FieldAction = MaskAction | { readonly kind: "null" };

/** A field to change wherever it stands, unless `when` is false (unknown masks). */
export interface PlannedField extends FieldPathIR {
  /** Id of the rule. */
  readonly rule: string;
  readonly action: FieldAction;
  /** May read `item` (the object that holds the field) and `response` (`status`, `headers`, `body`). */
  readonly when?: Expression;
}

/** An entry of a GraphQL answer's `errors` (GraphQL specification, section 7.1.2). */
export interface GraphqlErrorIR {
  readonly message: string;
  readonly path?: readonly string[];
  readonly extensions: { readonly code: string };
}

export interface ResponsePlanIR {
  /** Bytes; a larger body is not delivered. */
  readonly limit: number;
  readonly fields: readonly PlannedField[];
  /** An answer of a type that is surely not JSON passes as it is: every rule that applies says so. Absent: refused. */
  readonly otherTypes?: "pass";
  /** Added to `errors` at the root of the document, which is made if it is missing. */
  readonly errors?: readonly GraphqlErrorIR[];
}

export interface WebsocketPlanIR {
  /** `env.environment`. */
  readonly environment: string;
  /**
   * An ordinary answer instead of the upgrade may be delivered as it is: the path rules permit it, too, no response rule
   * looks for anything in it, and no GraphQL operation can have brought it about.
   */
  readonly plain: boolean;
  /** Bytes of one message; a larger one ends the connection with 1009. */
  readonly limit: number;
  /** Messages from the client, by type. Absent: all pass. Present: types that are not in it are denied. */
  readonly send?: Readonly<Record<string, PlannedMessage>>;
  /** Messages from the server, in the same way. */
  readonly receive?: Readonly<Record<string, PlannedMessage>>;
  /** Changed in every message from the server. */
  readonly fields?: readonly PlannedField[];
  /** The endpoint speaks GraphQL: `send` and `receive` are absent. */
  readonly graphql?: GraphqlPlanIR;
}

/** A message is delivered where `when` is true. */
export interface PlannedMessage {
  readonly rule: string;
  /** May read `message` and `env`. Absent: always. `false`: never. */
  readonly when?: Expression | false;
  readonly onDeny: "drop" | "close";
  /** Changed in this message before it is delivered; only for messages from the server. */
  readonly fields?: readonly PlannedField[];
}

/** What decides about GraphQL operations: the rules that are left of a request's, and the schema. */
export interface GraphqlPlanIR {
  readonly rules: readonly PlannedGraphqlRule[];
  readonly limits: GraphqlLimitsIR;
  readonly introspection: "allow" | "deny";
  /** What a root field gets that no rule names. */
  readonly default: "allow" | "deny";
  readonly schema?: GraphqlSchemaIR;
  /**
   * Names that response rules of any policy set in force mask or read at this endpoint. An operation that gives or takes one of them by an alias
   * is denied: the rule would look for it under the wrong name.
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
   * Permits where it is true. May read `args` and `env`, and, in a subscription, roots that are named for what is
   * delivered (`order.customer_id`). Absent: always permits. `false`: never.
   */
  readonly when?: Expression | false;
}
