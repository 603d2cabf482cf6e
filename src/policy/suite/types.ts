import type { VerdictName } from "../condition/index.ts";
import type { Expression, SourcePosition } from "../ir.ts";
import type { UNAVAILABLE, Value, ValueObject } from "../value.ts";

/** A request as written in a test, before decoding and normalization. */
export interface SuiteRequest {
  readonly method: string;
  /** The request target, query included. Absent: the set's first GraphQL endpoint. */
  readonly path?: string;
  /** Names in lower case, repeated headers apart. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Absent means any. */
  readonly host?: string;
  readonly clientIp?: string;
  readonly body?: Value;
}

/** Everything that a decision depends on. */
export interface SuiteInput {
  readonly request: SuiteRequest;
  /** Absent if nobody is signed in. */
  readonly user?: ValueObject;
  readonly customer?: ValueObject;
  /** What attribute sources would return, by root. For an absent root, they find nothing. */
  readonly attributes: Readonly<Record<string, ValueObject | typeof UNAVAILABLE>>;
  /**
   * `time` as `env.time` has it, `2026-01-31T23:59:59Z`; the other members of `env` follow from it. Absent means any.
   */
  readonly env: { readonly time?: string; readonly environment?: string };
}

export const VERDICTS = ["allow", "deny"] as const;
export type SuiteVerdict = (typeof VERDICTS)[number];

/** The application's assumed response. */
export interface SampleAnswer {
  readonly status: number;
  /** Names in lower case, repeated headers apart. */
  readonly headers: SuiteRequest["headers"];
  readonly text: string;
}

/** A message on a WebSocket connection, and the expected outcome. */
export interface SuiteMessage {
  readonly at: SourcePosition;
  /** `receive` means that the server sends it. */
  readonly direction: "send" | "receive";
  readonly text: string;
  readonly expected: {
    readonly decision: SuiteVerdict;
    /** Id or name of a rule. */
    readonly rule?: string;
    readonly delivered?: ExpectedDocument;
  };
}

/** The expected document: JSON to compare by value, or exact text. */
export type ExpectedDocument = { readonly json: Value } | { readonly text: string };

/** What a test expects. An absent member is not checked. */
export interface Expectation {
  readonly decision: SuiteVerdict;
  readonly reason?: string;
  /** A rule's id or its name. */
  readonly rule?: string;
  /** Response paths of all denied GraphQL fields. */
  readonly denied?: readonly string[];
  readonly answer?: {
    readonly body?: ExpectedDocument;
    /** The sample response is withheld. */
    readonly refused?: true;
    /** All masked paths. */
    readonly masked?: readonly string[];
  };
}

export interface SuiteCase {
  readonly name: string;
  readonly at: SourcePosition;
  readonly input: SuiteInput;
  readonly answer?: SampleAnswer;
  /** In order, on one connection. */
  readonly messages?: readonly SuiteMessage[];
  readonly expected: Expectation;
}

/** The tests of one `*.test.yaml` file, matrices expanded. */
export interface Suite {
  readonly file: string;
  readonly policySet: string;
  readonly cases: readonly SuiteCase[];
}

/** A condition that was evaluated, and its verdict. */
export interface EvaluatedCondition {
  /** Id of the rule. */
  readonly rule: string;
  /** For conditions of fields. */
  readonly field?: string;
  readonly verdict: VerdictName;
  /** Verdicts of its parts, by their index in `testsIn`. A part may have several, at several places of a document. */
  readonly parts?: readonly EvaluatedPart[];
}

export interface EvaluatedPart {
  readonly part: number;
  readonly verdict: VerdictName;
}

/** The decision on a case. */
export interface SuiteDecision {
  readonly decision: SuiteVerdict;
  readonly reason: string;
  /** Ids of the rules that decided. A GraphQL operation may have several. */
  readonly rules: readonly string[];
  /** Why, for people; may have several lines. */
  readonly explanation?: string;
  readonly denied: readonly string[];
  readonly evaluated: readonly EvaluatedCondition[];
  /** What happens to the application's response. */
  readonly answer: (sample: SampleAnswer) => SuiteAnswer;
  /** What happens to the next message on this connection. */
  readonly message: (direction: SuiteMessage["direction"], text: string) => SuiteDelivery;
}

export interface SuiteAnswer {
  /** Absent if the response is withheld. */
  readonly text?: string;
  /** Why it is withheld. */
  readonly reason?: string;
  readonly masked: readonly string[];
  readonly evaluated: readonly EvaluatedCondition[];
}

export interface SuiteDelivery {
  /** Absent if the message is not delivered. */
  readonly text?: string;
  readonly reason: string;
  readonly rule?: string;
  readonly evaluated: readonly EvaluatedCondition[];
}

/** A rule, or a field of one: anything with a condition for which tests can show both outcomes. */
export interface CoveredCondition {
  readonly id: string;
  readonly name?: string;
  readonly field?: string;
  /** The condition reads no attribute, so it always has the same verdict. */
  readonly constant: boolean;
  readonly expression: Expression;
}

/** The policy set under test. */
export interface SuiteSubject {
  /** Conditions of every section, in the set's order; see `conditionsOf`. */
  readonly conditions: readonly CoveredCondition[];
  readonly decide: (input: SuiteInput) => SuiteDecision | Promise<SuiteDecision>;
}

export interface CaseResult {
  readonly name: string;
  readonly line: number;
  readonly ok: boolean;
  readonly expected: Expectation;
  /** Absent if deciding failed; `problem` then says why. */
  readonly actual?: SuiteDecision;
  /** Differences from the expectation, besides the decision itself. */
  readonly differences: readonly string[];
  /** Why the case could not be decided. */
  readonly problem?: string;
  readonly evaluated: readonly EvaluatedCondition[];
}

/** How often a condition, or a part of one, had each verdict. */
export interface VerdictCounts {
  readonly true: number;
  readonly false: number;
  readonly unknown: number;
}

/** How often one condition was evaluated, by verdict. */
export interface RuleCoverage extends CoveredCondition, VerdictCounts {
  /** The same of its parts, in the order of `testsIn`. */
  readonly parts: readonly VerdictCounts[];
}

export interface SuiteResult {
  readonly file: string;
  readonly policySet: string;
  readonly cases: readonly CaseResult[];
  /** One entry per condition of the set, in the set's order. */
  readonly coverage: readonly RuleCoverage[];
}
