import type { Diagnostic, PolicyFile } from "../../../src/policy/diagnostic.ts";
import type { PastDecision, PlainExplanation } from "../../../src/decision/explain/index.ts";

export type { PastDecision, PlainExplanation };

/** What the fields of an example are; each holds text as somebody typed it. */
export const EXAMPLE_FIELDS = [
  "line",
  "headers",
  "body",
  "user",
  "customer",
  "attributes",
  "by_cookie",
  "client_ip",
  "time",
  "environment",
  "response",
  "response_status",
  "response_headers",
  "messages",
] as const;
export type ExampleField = (typeof EXAMPLE_FIELDS)[number];

/** A request with what is known of its caller, and what the application answers. An empty field is absent. */
export type Example = Readonly<Record<ExampleField, string>>;

export const EMPTY_EXAMPLE: Example = {
  line: "",
  headers: "",
  body: "",
  user: "",
  customer: "",
  attributes: "",
  by_cookie: "",
  client_ip: "127.0.0.1",
  time: "",
  environment: "",
  response: "",
  response_status: "200",
  response_headers: "",
  messages: "",
};

export interface ExplainAsked {
  readonly set: {
    readonly name: string;
    readonly files: readonly PolicyFile[];
    /** Of a published set, as the control plane has it. */
    readonly digest?: string;
  };
  readonly example: Example;
  /** The record that the example was made from. */
  readonly record?: PastDecision;
}

/** The request as rules see it. */
export interface RequestReading {
  readonly method: string;
  readonly path: string;
  readonly segments: readonly string[];
  readonly host: string;
  readonly scheme: string;
  readonly query: readonly (readonly [name: string, values: readonly string[]])[];
  readonly headers: readonly (readonly [name: string, values: readonly string[]])[];
  /** Checks that are switched off and would have refused it. */
  readonly accepted: readonly string[];
  /** Other readings, which must be permitted too. */
  readonly others: readonly { readonly method: string; readonly path: string }[];
}

export type ExplainGiven =
  | { readonly kind: "invalid_set"; readonly diagnostics: readonly Diagnostic[] }
  /** This dashboard compiles the set to something else than the control plane did. */
  | { readonly kind: "other_digest"; readonly digest: string }
  | { readonly kind: "invalid_example"; readonly field: ExampleField; readonly message: string }
  /** The record does not contain what decided. */
  | { readonly kind: "not_in_record"; readonly text: string }
  | {
      readonly kind: "explained";
      readonly set: string;
      readonly digest: string;
      readonly explanation: PlainExplanation;
      /** What the reason means. */
      readonly meaning: string;
      /** Absent if the request was refused before it was read. */
      readonly reading?: RequestReading;
      /** As `gatehouse policy explain` prints it. */
      readonly text: string;
      /** Whether the record has the same verdict, reason and rule; absent without a record. */
      readonly same?: boolean;
    };
