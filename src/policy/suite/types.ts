import type { PathRuleIR, SourcePosition } from "../ir.ts";
import type { UNAVAILABLE, Value, ValueObject } from "../value.ts";

/** A request as a test writes it: nothing is decoded or normalized yet. */
export interface SuiteRequest {
  readonly method: string;
  /** The request target, query included. */
  readonly path: string;
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

/** What a test expects; an absent member is not looked at. */
export interface Expectation {
  readonly decision: SuiteVerdict;
  readonly reason?: string;
  /** A rule's id or its name. */
  readonly rule?: string;
}

export interface SuiteCase {
  readonly name: string;
  readonly at: SourcePosition;
  readonly input: SuiteInput;
  readonly expected: Expectation;
}

/** The tests of one `*.test.yaml`, tables written out. */
export interface Suite {
  readonly file: string;
  readonly policySet: string;
  readonly cases: readonly SuiteCase[];
}

/** What was decided about a case. */
export interface SuiteDecision {
  readonly decision: SuiteVerdict;
  readonly reason: string;
  /** Id of the rule that decided. */
  readonly rule?: string;
  /** Why, for people; may have several lines. */
  readonly explanation?: string;
}

/** The policy set under test. */
export interface SuiteSubject {
  /** All path rules of the set, `PolicySetIR.rules`. */
  readonly rules: readonly Pick<PathRuleIR, "id" | "name" | "condition">[];
  readonly decide: (input: SuiteInput) => SuiteDecision | Promise<SuiteDecision>;
}

export interface CaseResult {
  readonly name: string;
  readonly line: number;
  readonly ok: boolean;
  readonly expected: Expectation;
  /** Absent when deciding failed; `problem` then says how. */
  readonly actual?: SuiteDecision;
  /** Why the case could not be judged at all. */
  readonly problem?: string;
}

/** How often one rule decided a case, by what its condition was. */
export interface RuleCoverage {
  readonly id: string;
  readonly name?: string;
  readonly true: number;
  readonly false: number;
  readonly unknown: number;
  /** The condition reads nothing, so it can only ever be one of the three. */
  readonly constant: boolean;
}

export interface SuiteResult {
  readonly file: string;
  readonly policySet: string;
  readonly cases: readonly CaseResult[];
  /** One entry a rule of the set, in the set's order. */
  readonly coverage: readonly RuleCoverage[];
}
