import type { AttributePath, ConditionIR, Expression } from "../ir.ts";
import type { ConditionNode } from "./ast.ts";

/**
 * Compiles a parsed condition.
 *
 * @param ast of {@link parseCondition}, which bounds its depth
 * @param text what `ast` was parsed from
 */
export function compileCondition(ast: ConditionNode, text: string): ConditionIR {
  const reads = new Map<string, AttributePath>();
  const expression = compile(ast, reads);
  return { expression, source: text, reads: [...reads.values()].sort(comparePaths) };
}

function compile(node: ConditionNode, reads: Map<string, AttributePath>): Expression {
  const part = (of: ConditionNode): Expression => compile(of, reads);
  switch (node.op) {
    case "and":
    case "or":
      return { op: node.op, args: terms(node.op, node.args).map(part) };
    case "not":
      return { op: "not", arg: part(node.arg) };
    case "in":
      return { op: "in", value: part(node.value), list: part(node.list) };
    case "startsWith":
    case "endsWith":
      return { op: node.op, target: part(node.target), arg: part(node.arg) };
    case "exists":
      return { op: "exists", path: read(node.path, reads) };
    case "attribute":
      return { op: "attribute", path: read(node.path, reads) };
    case "literal":
      // JSON has a negative zero, its readers don't agree on it
      return { op: "literal", value: node.value === 0 ? 0 : node.value };
    case "list":
      return { op: "list", items: node.items.map(part) };
    default:
      return { op: node.op, left: part(node.left), right: part(node.right) };
  }
}

/** `a and (b and c)` has the terms a, b and c. */
function terms(op: "and" | "or", args: readonly ConditionNode[]): ConditionNode[] {
  return args.flatMap((arg) => (arg.op === op ? terms(op, arg.args) : [arg]));
}

/** Header names are case-insensitive (RFC 9110 section 5.1), and canonical requests have them in lower case. */
function read(written: AttributePath, reads: Map<string, AttributePath>): AttributePath {
  const path =
    written[0] === "request" && written[1] === "headers"
      ? written.map((key, index) =>
          index === 2 ? key.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : key,
        )
      : written;
  reads.set(JSON.stringify(path), path);
  return path;
}

/** By code unit, key by key; what is above comes before what is below. */
function comparePaths(a: AttributePath, b: AttributePath): number {
  for (const [index, key] of a.entries()) {
    const other = b[index];
    if (other === undefined || key > other) return 1;
    if (key < other) return -1;
  }
  return a.length - b.length;
}
