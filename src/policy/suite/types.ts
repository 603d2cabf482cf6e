import type { VerdictName } from "../condition/index.ts";
import type { SourcePosition } from "../ir.ts";
import type { UNAVAILABLE, Value, ValueObject } from "../value.ts";

/** A request as a test writes it: nothing is decoded or normalized yet. */
export interface SuiteRequest {
  readonly method: string;
  /** The request target, query included. Absent: the set's first GraphQL endpoint. */
  readonly path?: string;
  /** Names in lower case, repeated headers apart. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Absent: any. */
  readonly host?: string;
  readonly clientIp?: string;
  readonly body?: Value;
}

/** Everything one decision is made from. */
export interface SuiteInput {
  readonly request: SuiteRequest;
  /** Absent: nobody is signed in. */
  readonly user?: ValueObject;
  readonly customer?: ValueObject;
  /** What attribute sources would find, by root; a root that is absent has no entry. */
  readonly attributes: Readonly<Record<string, ValueObject | typeof UNAVAILABLE>>;
  /** `time` as `env.time` has it, `2026-01-31T23:59:59Z`; the other members of `env` follow from it. Absent: any. */
  readonly env: { readonly time?: string; readonly environment?: string };
}

export const VERDICTS = ["allow", "deny"] as const;
export type SuiteVerdict = (typeof VERDICTS)[number];

/** What the application is taken to answer. */
export interface SampleAnswer {
  readonly status: number;
  /** Names in lower case, repeated headers apart. */
  readonly headers: SuiteRequest["headers"];
  readonly text: string;
}

/** A message on a WebSocket connection, and what is to become of it. */
export interface SuiteMessage {
  readonly at: SourcePosition;
  /** `receive`: the server sends it. */
  readonly direction: "send" | "receive";
  readonly text: string;
  readonly expected: {
    readonly decision: SuiteVerdict;
    /** Id or name of a rule. */
    readonly rule?: string;
    readonly delivered?: ExpectedDocument;
  };
}

/** A document as it should come out: JSON to compare by its meaning, or the very text. */
export type ExpectedDocument = { readonly json: Value } | { readonly text: string };

/** What a test expects; an absent member is not looked at. */
export interface Expectation {
  readonly decision: SuiteVerdict;
  readonly reason?: string;
  /** A rule's id or its name. */
  readonly rule?: string;
  /** Response paths of GraphQL fields, all that are denied. */
  readonly denied?: readonly string[];
  readonly answer?: {
    readonly body?: ExpectedDocument;
    /** The sample answer is withheld. */
    readonly refused?: true;
    /** All paths that are masked. */
    readonly masked?: readonly string[];
  };
}

export interface SuiteCase {
  readonly name: string;
  readonly at: SourcePosition;
  readonly input: SuiteInput;
  readonly answer?: SampleAnswer;
  /** One after the other, on one connection. */
  readonly messages?: readonly SuiteMessage[];
  readonly expected: Expectation;
}

/** The tests of one `*.test.yaml`, tables written out. */
export interface Suite {
  readonly file: string;
  readonly policySet: string;
  readonly cases: readonly SuiteCase[];
}

/** A condition that was evaluated, and what it came to. */
export interface EvaluatedCondition {
  /** Id of the rule. */
  readonly rule: string;
  /** For conditions of fields. */
  readonly field?: string;
  readonly verdict: VerdictName;
}

/** What was decided about a case. */
export interface SuiteDecision {
  readonly decision: SuiteVerdict;
  readonly reason: string;
  /** Ids of the rules that decided; several for a GraphQL operation. */
  readonly rules: readonly string[];
  /** Why, for people; may have several lines. */
  readonly explanation?: string;
  readonly denied: readonly string[];
  readonly evaluated: readonly EvaluatedCondition[];
  /** What becomes of the application's answer. */
  readonly answer: (sample: SampleAnswer) => SuiteAnswer;
  /** What becomes of the next message on the connection that was decided about. */
  readonly message: (direction: SuiteMessage["direction"], text: string) => SuiteDelivery;
}

export interface SuiteAnswer {
  /** Absent: the answer is withheld. */
  readonly text?: string;
  /** Why it is. */
  readonly reason?: string;
  readonly masked: readonly string[];
  readonly evaluated: readonly EvaluatedCondition[];
}

export interface SuiteDelivery {
  /** Absent: the message is not delivered. */
  readonly text?: string;
  readonly reason: string;
  readonly rule?: string;
  readonly evaluated: readonly EvaluatedCondition[];
}

/** A rule, or a field of one: what has a condition that tests can show from both sides. */
export interface CoveredCondition {
  readonly id: string;
  readonly name?: string;
  readonly field?: string;
  /** The condition reads nothing, so it can only ever be one of the three. */
  readonly constant: boolean;
}

/** The policy set under test. */
export interface SuiteSubject {
  /** Of every section, in the set's order; see `conditionsOf`. */
  readonly conditions: readonly CoveredCondition[];
  readonly decide: (input: SuiteInput) => SuiteDecision | Promise<SuiteDecision>;
}

export interface CaseResult {
  readonly name: string;
  readonly line: number;
  readonly ok: boolean;
  readonly expected: Expectation;
  /** Absent when deciding failed; `problem` then says how. */
  readonly actual?: SuiteDecision;
  /** What is not as expected, beside the decision itself. */
  readonly differences: readonly string[];
  /** Why the case could not be evaluated at all. */
  readonly problem?: string;
  readonly evaluated: readonly EvaluatedCondition[];
}

/** How often one condition was evaluated, by what it came to. */
export interface RuleCoverage extends CoveredCondition {
  readonly true: number;
  readonly false: number;
  readonly unknown: number;
}

export interface SuiteResult {
  readonly file: string;
  readonly policySet: string;
  readonly cases: readonly CaseResult[];
  /** One entry a condition of the set, in the set's order. */
  readonly coverage: readonly RuleCoverage[];
}
