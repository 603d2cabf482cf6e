import type { GraphqlDocumentsIR, GraphqlLimitsIR, GraphqlSchemaIR } from "./graphql-ir.ts";

/**
 * The intermediate form that policies are compiled to: plain JSON, versioned, read as data by every evaluator
 * (TypeScript here, Lua in Envoy). Only `at` refers to YAML or source text; it is for people.
 */
export const IR_VERSION = 1;

/** The position of a rule in its source. Lines and columns count from 1; columns count UTF-16 units. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Infix operators: `left == right`. */
export const COMPARISON_OPERATORS = ["==", "!=", "<", "<=", ">", ">="] as const;
/** Methods of strings: `target.startsWith(arg)`. */
export const STRING_METHODS = ["startsWith", "endsWith"] as const;
export type ComparisonOperator = (typeof COMPARISON_OPERATORS)[number];
export type StringMethod = (typeof STRING_METHODS)[number];
export type LiteralValue = string | number | boolean | null;

/**
 * An expression that has a truth value, or, as an operand, a value. `and`/`or` are flattened and have two or more
 * arguments.
 */
export type Expression =
  | { readonly op: "and" | "or"; readonly args: readonly Expression[] }
  | { readonly op: "not"; readonly arg: Expression }
  | { readonly op: ComparisonOperator; readonly left: Expression; readonly right: Expression }
  /** `value in list`, and `list.includes(value)`, which means the same. */
  | { readonly op: "in"; readonly value: Expression; readonly list: Expression }
  | { readonly op: StringMethod; readonly target: Expression; readonly arg: Expression }
  | { readonly op: "exists"; readonly path: AttributePath }
  | { readonly op: "attribute"; readonly path: AttributePath }
  | { readonly op: "literal"; readonly value: LiteralValue }
  | { readonly op: "list"; readonly items: readonly Expression[] };

/** Root first: `request.headers["x-a"]` is `["request", "headers", "x-a"]`. */
export type AttributePath = readonly string[];

/** A compiled condition: the expression, its text, and every attribute path it reads (sorted, without repetition). */
export interface ConditionIR {
  readonly expression: Expression;
  readonly source: string;
  readonly reads: readonly AttributePath[];
}

export type SegmentIR =
  | { readonly kind: "literal"; readonly value: string }
  | { readonly kind: "param"; readonly name: string }
  /** exactly one segment */
  | { readonly kind: "any" }
  /** everything below, the path itself included; only as the last segment */
  | { readonly kind: "rest" };

export type SectionName =
  | "policies"
  | "web_policies"
  | "response_filters"
  | "response_masks"
  | "graphql_policies"
  | "websocket_policies";

interface RuleIR {
  /**
   * Unique in the set, and stable across reloads of unchanged content: `policies[2]`,
   * `websocket_policies[0].connection`.
   */
  readonly id: string;
  /** The name that the author gave the rule. */
  readonly name?: string;
  readonly at: SourcePosition;
  readonly auditRequired: boolean;
}

/** A rule of `policies` or `web_policies`. */
export interface PathRuleIR extends RuleIR {
  readonly section: "policies" | "web_policies";
  /** An HTTP method in capitals, or `*`. */
  readonly method: string;
  /** The path as written, e.g. `/api/customers/{customer_id}`. */
  readonly pattern: string;
  readonly segments: readonly SegmentIR[];
  readonly condition: ConditionIR;
}

/** `$.a.b` is anchored with keys `["a", "b"]`; `a.b` matches as a suffix at any depth. */
export interface FieldPathIR {
  readonly anchored: boolean;
  readonly keys: readonly string[];
}

/** How a field is changed without a word about it in the rule: the values of `mask_type`. */
export const MASK_TYPES = ["partial", "full", "remove"] as const;
export type MaskType = (typeof MASK_TYPES)[number];

export type MaskAction =
  | { readonly [Type in MaskType]: { readonly kind: Type } }[MaskType]
  | { readonly kind: "replace"; readonly replacement: string };

export interface ResponseFieldIR {
  readonly field: FieldPathIR;
  readonly action: MaskAction;
  readonly condition: ConditionIR;
  readonly at: SourcePosition;
}

/** An entry of `response_filters` or `response_masks`; every entry that matches a request applies. */
export interface ResponseRuleIR extends RuleIR {
  readonly section: "response_filters" | "response_masks";
  readonly method: string;
  readonly pattern: string;
  readonly segments: readonly SegmentIR[];
  readonly fields: readonly ResponseFieldIR[];
  /** Responses of a type that is certainly not JSON pass unchanged. If absent, they are refused. */
  readonly otherTypes?: "pass";
}

export interface GraphqlRuleIR extends RuleIR {
  readonly section: "graphql_policies";
  readonly operation: "query" | "mutation" | "subscription";
  /** If absent, `field` is a root field. */
  readonly type?: string;
  readonly field: string;
  readonly condition: ConditionIR;
  readonly onDeny: "reject" | "null";
}

/** The `graphql` head of a set. */
export interface GraphqlSettingsIR {
  /** Endpoints, each with everything below it. */
  readonly paths: readonly string[];
  /** What below them is not GraphQL; absent if nothing is listed. */
  readonly otherPaths?: readonly { readonly method: string; readonly path: string }[];
  /** What the SDL file, if `graphql.schema` names one. */
  readonly schema?: GraphqlSchemaIR;
  /** The documents in the file that `graphql.persisted` names; absent without it. */
  readonly documents?: GraphqlDocumentsIR;
  /** Whether multipart requests, which carry files along with the operation, are accepted. */
  readonly multipart: "allow" | "deny";
  readonly introspection: "allow" | "deny";
  readonly limits: GraphqlLimitsIR;
}

export interface WebsocketConnectionIR extends RuleIR {
  readonly section: "websocket_policies";
  readonly pattern: string;
  readonly segments: readonly SegmentIR[];
  readonly condition: ConditionIR;
  /** The message rules of this connection, in source order. */
  readonly messages: readonly WebsocketMessageIR[];
}

export interface WebsocketMessageIR extends RuleIR {
  readonly section: "websocket_policies";
  readonly pattern: string;
  readonly segments: readonly SegmentIR[];
  readonly type: string;
  readonly direction: "send" | "receive";
  readonly condition: ConditionIR;
  readonly onDeny: "drop" | "close";
  /** The fields to mask in a message from the server before delivery. Empty for messages from the client. */
  readonly fields: readonly ResponseFieldIR[];
}

export type AttributeType = "string" | "number" | "boolean" | "list" | "object";

/** A declared attribute root: the types of its members and, if it is looked up, its source and key. */
export interface AttributeRootIR {
  readonly types: Readonly<Record<string, AttributeType>>;
  readonly source?: { readonly name: string; readonly key: AttributePath };
}

/** The `cors` head of a set: which pages of other origins may read answers of the gateway, and what they may send. */
export interface CorsIR {
  /** Serialized as browsers do; `*` for any, `null` for pages without an origin. */
  readonly origins: readonly string[];
  readonly credentials: boolean;
  readonly methods: readonly string[];
  /** Names of request headers, in lower case. */
  readonly headers: readonly string[];
  /** How long browsers may keep the answer to a preflight; seconds. */
  readonly maxAge: number;
}

/** One compiled policy set. */
export interface PolicySetIR {
  readonly ir: typeof IR_VERSION;
  readonly name: string;
  readonly version: string;
  readonly default: "deny" | "allow";
  readonly preflight: "deny" | "allow";
  /** Without it, the gateway's own answers have no CORS headers. */
  readonly cors?: CorsIR;
  readonly auditRequired: boolean;
  readonly attributes: Readonly<Record<string, AttributeRootIR>>;
  /** `policies`, then `web_policies`, each in source order. */
  readonly rules: readonly PathRuleIR[];
  readonly responses: readonly ResponseRuleIR[];
  readonly graphql: { readonly settings: GraphqlSettingsIR; readonly rules: readonly GraphqlRuleIR[] };
  readonly websocket: { readonly connections: readonly WebsocketConnectionIR[] };
}
