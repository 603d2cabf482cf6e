import { isList } from "../../json/index.ts";
import { clip } from "../../text/index.ts";
import type { AttributePath, Expression } from "../ir.ts";
import type { Attributes, Value, Verdict } from "../value.ts";
import { evaluateAt, MAX_DEPTH } from "./evaluate.ts";
import { formatExpression, formatPath } from "./format.ts";
import { pathsIn } from "./reads.ts";
import { readAttribute } from "./values.ts";

/** A verdict in words, for JSON and for people: *unknown* has no JSON value of its own. */
export type VerdictName = "true" | "false" | "unknown";

/** One part of a condition with its verdict. Plain JSON. */
export interface TraceNode {
  readonly op: Expression["op"];
  readonly verdict: VerdictName;
  /** The part in canonical form, shortened if it is long. */
  readonly text: string;
  /** The attributes that this part reads. For `and` and `or`, see the children. */
  readonly reads: readonly TraceRead[];
  /** The arguments of `and`, `or` and `not`: all of them, including those that evaluation did not need. */
  readonly children: readonly TraceNode[];
}

/** An attribute and its value. */
export interface TraceRead {
  readonly path: string;
  readonly state: "present" | "missing" | "unavailable";
  /** The value, shortened if it is long or deep. */
  readonly value?: Value;
}

const LIMITS = { text: 400, string: 100, entries: 10, depth: 3, reads: 20 };

/** @returns the name of `verdict`. */
export function verdictName(verdict: Verdict): VerdictName {
  return verdict === undefined ? "unknown" : verdict ? "true" : "false";
}

/** Evaluates like `evaluate` and reports the verdict of each part. */
export function explain(expression: Expression, attributes: Attributes): TraceNode {
  return explainAt(expression, attributes, 0);
}

/**
 * @returns the first part that keeps the condition from being true, as deep as a single part is responsible: it
 *   descends into `and`, but not into `or`, where all parts fail together. Nothing if the condition is true.
 */
export function firstFailing(trace: TraceNode): TraceNode | undefined {
  if (trace.verdict === "true") return undefined;
  let node = trace;
  while (node.op === "and") {
    const failing = node.children.find((child) => child.verdict !== "true");
    if (failing === undefined) break;
    node = failing;
  }
  return node;
}

function explainAt(expression: Expression, attributes: Attributes, depth: number): TraceNode {
  const { op } = expression;
  const logical = op === "and" || op === "or";
  const children = logical ? expression.args : op === "not" ? [expression.arg] : [];
  return {
    op,
    verdict: verdictName(evaluateAt(expression, attributes, depth)),
    text: clip(formatExpression(expression), LIMITS.text),
    reads: logical ? [] : readsOf(expression).map((path) => traceRead(path, attributes)),
    children: depth < MAX_DEPTH ? children.map((child) => explainAt(child, attributes, depth + 1)) : [],
  };
}

function traceRead(path: AttributePath, attributes: Attributes): TraceRead {
  const value = readAttribute(path, attributes);
  const text = clip(formatPath(path), LIMITS.string);
  if (value === undefined) return { path: text, state: "missing" };
  if (typeof value === "symbol") return { path: text, state: "unavailable" };
  return { path: text, state: "present", value: bounded(value, LIMITS.depth) };
}

/** The first paths that `expression` reads, in the order in which they are written. */
function readsOf(expression: Expression): AttributePath[] {
  const found = new Map<string, AttributePath>();
  for (const path of pathsIn(expression)) {
    if (found.size === LIMITS.reads) break;
    found.set(JSON.stringify(path), path);
  }
  return [...found.values()];
}

/** A small copy of `value` that can be written as JSON in UTF-8. */
function bounded(value: Value, depth: number): Value {
  if (typeof value === "string") return clip(value.toWellFormed(), LIMITS.string);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "…";
  if (isList(value)) {
    const items = value.slice(0, LIMITS.entries).map((item) => bounded(item, depth - 1));
    return items.length < value.length ? [...items, `… ${value.length - items.length} more`] : items;
  }
  const entries = Object.entries(value);
  const members = entries
    .slice(0, LIMITS.entries)
    .map(([key, member]): [string, Value] => [
      clip(key.toWellFormed(), LIMITS.string),
      bounded(member, depth - 1),
    ]);
  if (members.length < entries.length) members.push(["…", `${entries.length - members.length} more`]);
  return Object.fromEntries(members);
}
