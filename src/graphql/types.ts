import type { Expression, GraphqlErrorIR, PlannedField, UNAVAILABLE, Verdict } from "../policy/index.ts";
import { GRAPHQL, GRAPHQL_TEXT } from "./refusals.ts";

export type OperationKind = "query" | "mutation" | "subscription";

/** One requested operation (GraphQL over HTTP, section 5.1). */
export interface GraphqlPayload {
  readonly query: string;
  readonly operationName?: string;
  /** An inexact number is NaN; UNAVAILABLE takes the place of a file. */
  readonly variables: InputObject;
  /** The result may be delivered in the response to another request (graphql-sse, "single connection mode"). */
  readonly elsewhere?: true;
}

/** The value of an argument or variable: JSON, with UNAVAILABLE anywhere in it. */
export type InputValue =
  string | number | boolean | null | typeof UNAVAILABLE | readonly InputValue[] | InputObject;
export interface InputObject {
  readonly [name: string]: InputValue;
}

/** The content of a request, and what its transport allows. */
export interface GraphqlRequest {
  readonly payloads: readonly GraphqlPayload[];
  /** True for a list of payloads, even of one: the response is then also a list. */
  readonly batch: boolean;
  /** Kinds of operations that the documents may contain. */
  readonly kinds: readonly OperationKind[];
  /** Denied fields may be returned as null: the response is one JSON document that goes through masking. */
  readonly nullable: boolean;
}

export type RefusalCode = Extract<keyof typeof GRAPHQL, `GRAPHQL_${string}` | `PERSISTED_${string}`>;

/** A request that is malformed, ambiguous or over the limits, or that names a document which is not known. */
export interface GraphqlRefused {
  readonly code: RefusalCode;
  /** Printable ASCII without text from the request. */
  readonly message: string;
}

/** A field that is not permitted. */
export interface GraphqlDenial {
  /** Id of the rule; absent if no rule denied it: the field has no rule, introspection, an alias. */
  readonly rule?: string;
  readonly code: Exclude<keyof typeof GRAPHQL, RefusalCode>;
  readonly message: string;
  /** Response keys, starting at the root field. */
  readonly path: readonly string[];
  readonly onDeny: "reject" | "null";
}

/** A condition on a subscription's payload, evaluated for each event. */
export interface GraphqlEvent {
  readonly rule: string;
  readonly when: Expression;
  /** Response key of the root field: `data[key]` is the payload. */
  readonly key: string;
  /** Roots that name a member of the payload; other late roots name the whole payload. */
  readonly members: readonly string[];
  /** Late roots of the condition. */
  readonly roots: readonly string[];
  /** The paths that the condition reads, relative to the payload. */
  readonly paths: readonly string[];
  /** The arguments of the root field. */
  readonly args: InputObject;
}

export type GraphqlVerdict =
  | ({ readonly kind: "refused" } & GraphqlRefused)
  | {
      readonly kind: "denied";
      /** In document order, at most {@link MAX_DENIALS}. */
      readonly denials: readonly GraphqlDenial[];
    }
  | {
      readonly kind: "allowed";
      /** Denied fields that the response must not contain. */
      readonly nulls: readonly PlannedField[];
      /** The errors to add to the response for them. */
      readonly errors: readonly GraphqlErrorIR[];
      /** Conditions that every event of a subscription must meet. */
      readonly events: readonly GraphqlEvent[];
    };

export interface EvaluationOptions {
  /** The root `env` of conditions. */
  readonly env: InputValue;
  /** Called for each rule at each field that it applies to, in order; for explanations and coverage. */
  readonly evaluated?: (evaluated: EvaluatedRule) => void;
}

export interface EvaluatedRule {
  readonly rule: string;
  /** Response keys, starting at the root field. */
  readonly path: readonly string[];
  readonly args: InputObject;
  readonly verdict: Verdict;
  /** The verdict depends on each event. */
  readonly event: boolean;
}

/** Maximum number of denied fields listed in a response. */
export const MAX_DENIALS = 20;

/** Stops reading a request; caught at the entry point. */
export class GraphqlRefusal extends Error {
  override readonly name = "GraphqlRefusal";
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** @throws always: the request is malformed or ambiguous */
export function malformed(message: string): never {
  throw new GraphqlRefusal(GRAPHQL.GRAPHQL_MALFORMED, message);
}

/** @throws always: the request exceeds a limit */
export function overLimit(message: string): never {
  throw new GraphqlRefusal(GRAPHQL.GRAPHQL_LIMIT_EXCEEDED, message);
}

/** @throws always: the request names a document, and none are configured */
export function notSupported(): never {
  throw new GraphqlRefusal(GRAPHQL.PERSISTED_QUERY_NOT_SUPPORTED, GRAPHQL_TEXT.persisted_not_supported);
}

/** @throws always: the request names a document that is not known */
export function notFound(): never {
  throw new GraphqlRefusal(GRAPHQL.PERSISTED_QUERY_NOT_FOUND, GRAPHQL_TEXT.persisted_not_found);
}
