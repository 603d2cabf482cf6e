import type { TextSpan } from "./ast.ts";

/** One thing wrong with a condition: a diagnostic whose position is still relative to the condition's own text. */
export interface ConditionFinding extends TextSpan {
  readonly severity: "error" | "warning";
  /** Stable and kebab-case; tests and tools match it, never the message. */
  readonly code: FindingCode;
  readonly message: string;
  readonly hint?: string;
}

/** Every code that a finding can have. */
export const FINDING_CODES = [
  // the text as a whole
  "condition-too-long",
  "condition-too-deep",
  "empty-condition",
  // characters and literals
  "unexpected-character",
  "control-character",
  "lookalike-quote",
  "unterminated-string",
  "invalid-escape",
  "lone-surrogate",
  "invalid-number",
  "number-out-of-range",
  // other languages
  "foreign-operator",
  "keyword-case",
  "regular-expression",
  "arithmetic",
  "unknown-operator",
  "unknown-function",
  "unknown-method",
  "index-access",
  "parenthesized-list",
  // grammar
  "unexpected-token",
  "unexpected-end",
  "chained-comparison",
  "wrong-arguments",
  "member-of-value",
  // static checks
  "unknown-root",
  "unknown-attribute",
  "unknown-path-parameter",
  "no-members",
  "type-mismatch",
  "not-ordered",
  "not-a-list",
  "not-a-string",
  "not-boolean",
  "inexact-integer",
  "constant-part",
  "contradiction",
  "always-true",
  "duplicate-entry",
  "any-value",
  "never-equal",
  "absent-header",
  "path-case",
] as const;
export type FindingCode = (typeof FINDING_CODES)[number];

/** The most findings per condition; more would not help the author. */
export const MAX_FINDINGS = 50;

/** @returns an error at `span`. */
export function errorAt(span: TextSpan, code: FindingCode, message: string, hint?: string): ConditionFinding {
  return finding("error", span, code, message, hint);
}

/** @returns a warning at `span`. */
export function warningAt(
  span: TextSpan,
  code: FindingCode,
  message: string,
  hint?: string,
): ConditionFinding {
  return finding("warning", span, code, message, hint);
}

/** @returns the findings in order of position, and no more than {@link MAX_FINDINGS}. */
export function arrange(findings: readonly ConditionFinding[]): ConditionFinding[] {
  return findings.toSorted((a, b) => a.start - b.start || a.end - b.end).slice(0, MAX_FINDINGS);
}

function finding(
  severity: ConditionFinding["severity"],
  { start, end }: TextSpan,
  code: FindingCode,
  message: string,
  hint?: string,
): ConditionFinding {
  return { severity, code, message, ...(hint !== undefined && { hint }), start, end };
}
