import type { AttributePath, ConditionIR, Expression } from "../ir.ts";
import type { ConditionNode } from "./ast.ts";
import { isTest } from "./operators.ts";
import { pathsIn } from "./reads.ts";

/**
 * Compiles a parsed condition.
 *
 * @param ast the result of {@link parseCondition}, which limits its depth
 * @param text the text that `ast` was parsed from
 */
export function compileCondition(ast: ConditionNode, text: string): ConditionIR {
  const expression = expressionOf(ast);
  const reads = new Map(pathsIn(expression).map((path) => [JSON.stringify(path), path]));
  return { expression, source: text, reads: [...reads.values()].sort(comparePaths) };
}

/** @returns the expression of a node. */
export function expressionOf(node: ConditionNode): Expression {
  if (isTest(node)) {
    return "left" in node
      ? { op: node.op, left: expressionOf(node.left), right: expressionOf(node.right) }
      : { op: node.op, target: expressionOf(node.target), arg: expressionOf(node.arg) };
  }
  switch (node.op) {
    case "and":
    case "or":
      return { op: node.op, args: terms(node.op, node.args).map(expressionOf) };
    case "not":
      return { op: "not", arg: expressionOf(node.arg) };
    case "in":
      return { op: "in", value: expressionOf(node.value), list: expressionOf(node.list) };
    case "exists":
      return { op: "exists", path: canonicalPath(node.path) };
    case "attribute":
      return { op: "attribute", path: canonicalPath(node.path) };
    case "literal":
      // JSON can express negative zero, but its readers disagree about it
      return { op: "literal", value: node.value === 0 ? 0 : node.value };
    case "list":
      return { op: "list", items: node.items.map(expressionOf) };
  }
}

/** `a and (b and c)` has the terms a, b and c. */
function terms(op: "and" | "or", args: readonly ConditionNode[]): ConditionNode[] {
  return args.flatMap((arg) => (arg.op === op ? terms(op, arg.args) : [arg]));
}

/** Header names are case-insensitive (RFC 9110 section 5.1), and canonical requests have them in lower case. */
function canonicalPath(written: AttributePath): AttributePath {
  if (written[0] !== "request" || written[1] !== "headers") return written;
  return written.map((key, index) =>
    index === 2 ? key.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : key,
  );
}

/** Ordered by code unit, key by key; a parent precedes its children. */
function comparePaths(a: AttributePath, b: AttributePath): number {
  for (const [index, key] of a.entries()) {
    const other = b[index];
    if (other === undefined || key > other) return 1;
    if (key < other) return -1;
  }
  return a.length - b.length;
}
