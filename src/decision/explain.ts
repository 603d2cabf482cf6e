import {
  explainMatch,
  type Attributes,
  type FailingPart,
  type PathRuleIR,
  type TraceNode,
  type TraceRead,
  UNAVAILABLE,
} from "../policy/index.ts";
import { REASONS } from "../reasons.ts";
import { attributesFor } from "./attributes.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Decision } from "./types.ts";

/** A rule as an explanation names it. */
export interface RuleReference {
  readonly id: string;
  readonly name?: string;
  /** `METHOD /pattern`. */
  readonly resource: string;
  /** `file:line`. */
  readonly at: string;
}

/** Why a request was decided as it was. Plain JSON. */
export interface Explanation {
  readonly rule?: RuleReference & { readonly condition: TraceNode };
  /** Other rules that came close, the closest first, and what first kept each from permitting the request. */
  readonly near: readonly (RuleReference & { readonly failing: FailingPart })[];
}

/**
 * Explains a decision from what it was made of: the same snapshot, the same attribute values. A request that was
 * refused before any rule was looked at has nothing to explain beyond its reason and detail.
 */
export function explainDecision(decision: Decision): Explanation {
  const { snapshot, request } = decision;
  if (snapshot === undefined || request === undefined) return { near: [] };
  const match = explainMatch(snapshot.matcher, request.method, request.segments, (rule, params) =>
    rule === decision.rule && decision.attributes !== undefined
      ? decision.attributes
      : attributesOfOther(rule, params, decision, snapshot),
  );
  const decided = match.match.kind === "rule" ? match.match.rule : undefined;
  return {
    ...(decided !== undefined &&
      match.trace !== undefined && { rule: { ...refer(decided), condition: match.trace } }),
    near: match.near.map(({ rule, failing }) => ({ ...refer(rule), failing })),
  };
}

/**
 * What a rule that did not decide would have seen. Nothing is looked up or read for it, and no other time than that of
 * the decision is shown: that stays unavailable.
 */
function attributesOfOther(
  rule: PathRuleIR,
  params: Readonly<Record<string, string>>,
  { request, identity, clientIp, attributes }: Decision,
  snapshot: Snapshot,
): Attributes {
  const needs = snapshot.needs.get(rule);
  if (needs === undefined || request === undefined) return {};
  const known = attributesFor(needs, {
    request,
    params,
    identity,
    clientIp,
    body: undefined,
    now: Date.now(),
    environment: "",
  });
  return {
    ...known,
    ...(needs.roots.has("env") && { env: attributes?.["env"] ?? UNAVAILABLE }),
    ...Object.fromEntries(needs.sources.map(({ root }) => [root, UNAVAILABLE])),
  };
}

/** The explanation for people, several lines. */
export function renderExplanation(decision: Decision, explanation: Explanation): string {
  const { verdict, reason, detail, snapshot } = decision;
  const { status, message } = REASONS[reason];
  const lines = [
    `${verdict} ${verdict === "ALLOW" ? "" : `(${status}) `}${reason}: ${message}${detail === undefined ? "" : ` (${detail})`}`,
    `policy set ${snapshot?.label ?? "-"}`,
  ];
  const { rule, near } = explanation;
  if (rule !== undefined) lines.push("", `rule ${describe(rule)}`, ...renderTrace(rule.condition, 1));
  if (near.length > 0) lines.push("", "other rules that came close:");
  for (const other of near) lines.push(`  ${describe(other)}`, `    ${describeFailing(other.failing)}`);
  return `${lines.join("\n")}\n`;
}

function renderTrace(node: TraceNode, depth: number): string[] {
  const indent = "  ".repeat(depth);
  const values = node.reads.map((read) => `${indent}        ${describeRead(read)}`);
  return [
    `${indent}${node.verdict.padEnd(7)} ${node.text}`,
    ...values,
    ...node.children.flatMap((child) => renderTrace(child, depth + 1)),
  ];
}

function describeRead({ path, state, value }: TraceRead): string {
  return state === "present" ? `${path} is ${JSON.stringify(value)}` : `${path} is ${state}`;
}

function describeFailing(failing: FailingPart): string {
  switch (failing.kind) {
    case "method":
      return `is for ${failing.expected}, the request is ${failing.actual}`;
    case "segment": {
      const expected = failing.expected === undefined ? "the end of the path" : `\`${failing.expected}\``;
      const actual = failing.actual === undefined ? "the path ends" : `the request has \`${failing.actual}\``;
      return `segment ${failing.number}: ${expected} is expected, ${actual}`;
    }
    case "condition":
      return `${failing.part.verdict}: ${failing.part.text}`;
    case "less-specific":
      return "its condition is true, but a more specific rule decides";
  }
}

function describe({ id, name, resource, at }: RuleReference): string {
  return `${resource}  ${name ?? id}  (${at})`;
}

function refer(rule: PathRuleIR): RuleReference {
  return {
    id: rule.id,
    ...(rule.name !== undefined && { name: rule.name }),
    resource: `${rule.method} ${rule.pattern}`,
    at: `${rule.at.file}:${rule.at.line}`,
  };
}
