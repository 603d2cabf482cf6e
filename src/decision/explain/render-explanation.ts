import type { FailingPart, TraceNode, TraceRead } from "../../policy/index.ts";
import { REASONS } from "../../reasons.ts";
import { detailOf } from "./detail-of.ts";
import type { ExplainedRule, Explanation } from "./explain.ts";
import type { ExplainedAnswer, OfflineExplanation } from "./explain-offline.ts";
import type { FieldRuleExplanation, OperationExplanation } from "./explain-operations.ts";
import type { FieldExplanation } from "./explain-responses.ts";
import type { ExplainedMessage } from "./message-verdict.ts";
import type { RuleReference } from "../policies/rule-reference.ts";
import type { Decision } from "../types.ts";

/** Renders the explanation for people, on several lines. */
export function renderExplanation(decision: Decision, explanation: Explanation | OfflineExplanation): string {
  const { verdict, reason, snapshot, accepted, readAs, alsoRead = [] } = decision;
  const detail = detailOf(decision);
  const { status, message } = REASONS[reason];
  const { rule, connection, near } = explanation;
  const lines = [
    `${verdict} ${verdict === "ALLOW" ? "" : `(${status}) `}${reason}: ${message}${detail === undefined ? "" : ` (${detail})`}`,
    `policy set ${snapshot?.label ?? "-"}`,
    ...(accepted.length === 0
      ? []
      : [
          `accepted although ambiguous: ${accepted.join(", ")}; ` +
            (readAs === undefined ? "every reading must be permitted" : `the path is read as \`${readAs}\``),
        ]),
    ...alsoRead.map(({ method, path }) => `also permitted as ${method} ${path}`),
    ...renderRule("rule", rule),
    ...renderRule("connection", connection),
  ];
  if ("operation" in explanation) {
    lines.push(...renderOperation(explanation.operation));
  }
  if ("fields" in explanation && explanation.fields.length > 0) {
    lines.push("", "in the response:", ...explanation.fields.flatMap((field) => renderField(field)));
  }
  if (near.length > 0) lines.push("", "other rules that nearly matched:");
  for (const other of near) lines.push(`  ${describe(other)}`, `    ${describeFailing(other.failing)}`);
  return `${lines.join("\n")}\n`;
}

/** What happens to a sample response. */
export function renderAnswer({ outcome, fields }: ExplainedAnswer): string {
  const lines = outcome.ok
    ? [
        outcome.paths.length === 0
          ? "the response is delivered unchanged"
          : "the response is delivered with changes:",
        ...outcome.paths.map((path) => `  ${path}${byRules(path, fields)}`),
        "",
        outcome.text,
      ]
    : [`the response is withheld (${outcome.status}): ${outcome.reason}`];
  return `${lines.join("\n")}\n`;
}

/** What happens to a message. */
export function renderDelivery(delivery: ExplainedMessage): string {
  const { direction, delivered, code, rule, condition, fields, operation } = delivery;
  const what = direction === "send" ? "the client's message" : "the server's message";
  const lines = [
    `${what} is ${delivered === undefined ? "NOT delivered" : "delivered"}: ${code}`,
    ...renderRule("rule", rule && condition && { ...rule, condition }),
    ...(rule !== undefined && condition === undefined ? ["", `rule ${describe(rule)}`] : []),
    ...(operation === undefined ? [] : renderOperation(operation)),
  ];
  if (fields.length > 0) lines.push("", "in the message:", ...fields.flatMap((field) => renderField(field)));
  if (delivered !== undefined) lines.push("", delivered);
  return `${lines.join("\n")}\n`;
}

function renderRule(what: string, rule: ExplainedRule | undefined): string[] {
  return rule === undefined ? [] : ["", `${what} ${describe(rule)}`, ...renderTrace(rule.condition, 1)];
}

function renderOperation({ verdict, message, denied, rules }: OperationExplanation): string[] {
  return [
    "",
    `the operation is ${verdict}${message === undefined ? "" : `: ${message}`}`,
    ...denied.map(({ path, code, message: why }) =>
      verdict === "allowed" ? `  ${path} is returned as null: ${why}` : `  ${path}: ${code}, ${why}`,
    ),
    ...rules.flatMap(renderFieldRule),
  ];
}

function renderFieldRule({ rule, path, condition, left }: FieldRuleExplanation): string[] {
  return [
    "",
    `field ${path}: ${describe(rule)}`,
    ...(left === undefined ? renderTrace(condition, 1) : [`  for each event: ${left}`]),
  ];
}

function renderField({ rule, field, action, verdict, condition, left, masked }: FieldExplanation): string[] {
  return [
    `  ${field}: ${verdict === "false" ? "not masked" : action}  ${describe(rule)}`,
    ...(left === undefined ? [] : [`    unless this is false: ${left}`]),
    ...(condition === undefined ? [] : renderTrace(condition, 2)),
    ...(masked === undefined || masked.length === 0 ? [] : [`    here: ${masked.join(", ")}`]),
  ];
}

/** The rules that each change the value at a path. */
function byRules(path: string, fields: readonly FieldExplanation[]): string {
  const rules = fields.filter(({ masked }) => masked?.includes(path) === true);
  return rules.map(({ rule, action }) => `  ${action}, ${rule.name ?? rule.id}`).join(";");
}

function renderTrace(node: TraceNode, depth: number): string[] {
  const indent = "  ".repeat(depth);
  const values = node.reads.map((read) => `${indent}        ${describeRead(read, node)}`);
  return [
    `${indent}${node.verdict.padEnd(7)} ${node.text}`,
    ...values,
    ...node.children.flatMap((child) => renderTrace(child, depth + 1)),
  ];
}

function describeRead({ path, state, value }: TraceRead, { verdict }: TraceNode): string {
  if (state !== "present") return `${path} is ${state}`;
  const several = verdict === "unknown" && Array.isArray(value) && value.length > 1 && SENT.test(path);
  return `${path} is ${JSON.stringify(value)}${several ? ": sent several times, but a single value is compared" : ""}`;
}

const SENT = /^request\.(?:query|headers)[.[]/;

function describeFailing(failing: FailingPart): string {
  switch (failing.kind) {
    case "method":
      return `is for ${failing.expected}, but the request is ${failing.actual}`;
    case "segment": {
      const expected = failing.expected === undefined ? "the end of the path" : `\`${failing.expected}\``;
      const actual = failing.actual === undefined ? "the path ends" : `the request has \`${failing.actual}\``;
      return `segment ${failing.number}: expected ${expected}, but ${actual}`;
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
