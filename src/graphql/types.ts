import type { Expression, GraphqlErrorIR, PlannedField, UNAVAILABLE, Verdict } from "../policy/index.ts";
import { GRAPHQL } from "./refusals.ts";

export type OperationKind = "query" | "mutation" | "subscription";

/** One operation that is asked for, as its members say (GraphQL over HTTP, section 5.1). */
export interface GraphqlPayload {
  readonly query: string;
  readonly operationName?: string;
  /** A number that no double holds is NaN; where a file goes there is UNAVAILABLE. */
  readonly variables: InputObject;
}

/** What an argument or a variable holds: what JSON can say, and UNAVAILABLE anywhere in it. */
export type InputValue =
  string | number | boolean | null | typeof UNAVAILABLE | readonly InputValue[] | InputObject;
export interface InputObject {
  readonly [name: string]: InputValue;
}

/** What a request asks for, and what its transport takes. */
export interface GraphqlRequest {
  readonly payloads: readonly GraphqlPayload[];
  /** True for a list of payloads, also for a list of one: the answer is a list, too. */
  readonly batch: boolean;
  /** Kinds of operations that may stand in the documents. */
  readonly kinds: readonly OperationKind[];
  /** Denied fields may come back null: the answer is one JSON document that goes through masking. */
  readonly nullable: boolean;
}

export type RefusalCode = Extract<keyof typeof GRAPHQL, `GRAPHQL_${string}`>;

/** A request that cannot be read in one way only, or that is larger than the limits. */
export interface GraphqlRefused {
  readonly code: RefusalCode;
  /** Printable ASCII; quotes nothing of the request. */
  readonly message: string;
}

/** A field that is not permitted. */
export interface GraphqlDenial {
  /** Id of the rule; absent where there is none: no rule names the field, introspection, an alias. */
  readonly rule?: string;
  readonly code: Exclude<keyof typeof GRAPHQL, RefusalCode>;
  readonly message: string;
  /** Response keys from the root field on. */
  readonly path: readonly string[];
  readonly onDeny: "reject" | "null";
}

/** A condition on what a subscription delivers, evaluated for each event. */
export interface GraphqlEvent {
  readonly rule: string;
  readonly when: Expression;
  /** Response key of the root field: `data[key]` is what is delivered. */
  readonly key: string;
  /** Roots that stand for a member of what is delivered; other late roots stand for all of it. */
  readonly members: readonly string[];
  /** Late roots of the condition. */
  readonly roots: readonly string[];
  /** What the condition reads, from what is delivered on. */
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
      /** Denied fields that the answer must not hold. */
      readonly nulls: readonly PlannedField[];
      /** What the answer has to say about them. */
      readonly errors: readonly GraphqlErrorIR[];
      /** Conditions that every event of a subscription must fulfil. */
      readonly events: readonly GraphqlEvent[];
    };

export interface EvaluationOptions {
  /** The root `env` of conditions. */
  readonly env: InputValue;
  /** Told of each rule at each field that it is for, in order: for explanations and coverage. */
  readonly evaluated?: (evaluated: EvaluatedRule) => void;
}

export interface EvaluatedRule {
  readonly rule: string;
  /** Response keys from the root field on. */
  readonly path: readonly string[];
  readonly args: InputObject;
  readonly verdict: Verdict;
  /** The verdict is left for each event. */
  readonly event: boolean;
}

/** Denied fields that an answer names. */
export const MAX_DENIALS = 20;

/** Ends the reading of a request; caught where the request came in. */
export class GraphqlRefusal extends Error {
  override readonly name = "GraphqlRefusal";
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** @throws always: what was sent cannot be read in one way only */
export function malformed(message: string): never {
  throw new GraphqlRefusal(GRAPHQL.GRAPHQL_MALFORMED, message);
}

/** @throws always: what was sent is larger than a limit */
export function overLimit(message: string): never {
  throw new GraphqlRefusal(GRAPHQL.GRAPHQL_LIMIT_EXCEEDED, message);
}
