import fc from "fast-check";
import type { Expression, LiteralValue } from "../../src/policy/ir.ts";
import { livelyExpression } from "../policy/condition/lively.ts";

const UNKNOWN: Expression = { op: "attribute", path: [] };

const LITERAL = { op: "literal", value: true };

/** What stands in place of an expression, a list of them, a path, an operator or a value. */
const junk = fc.oneof(
  fc.constantFrom<unknown[]>(
    null,
    0,
    "",
    "and",
    true,
    [],
    {},
    [null],
    [[]],
    { op: null },
    { op: 1 },
    { op: [] },
  ),
  fc.constantFrom<unknown[]>(
    ...[
      "__index",
      "literal",
      "and",
      "or",
      "not",
      "==",
      "<",
      "in",
      "startsWith",
      "exists",
      "attribute",
      "list",
    ].map((op) => ({ op })),
    { op: "list", items: { 1: LITERAL } },
    { op: "list", items: [1, LITERAL] },
    { op: "literal", value: [true] },
    { op: "literal", value: { kind: "list", n: 0 } },
    { op: "attribute", path: ["user", 1] },
    { op: "attribute", path: ["user", null] },
    { op: "exists", path: "user" },
    { op: "exists", path: { 1: "user" } },
    { op: "matches", left: LITERAL, right: LITERAL },
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

/** IR of which parts are replaced or missing; as JSON gives it. */
export const brokenExpression: fc.Arbitrary<unknown> = fc
  .tuple(livelyExpression, fc.infiniteStream(fc.integer({ min: 0, max: 30 })), fc.infiniteStream(junk))
  .map(([made, choices, replacements]): unknown => {
    const copy = (part: unknown): unknown => {
      const choice = choices.next().value as number;
      if (choice === 0) return replacements.next().value;
      if (Array.isArray(part)) return part.map(copy);
      if (typeof part !== "object" || part === null) return part;
      const members = Object.entries(part).map(([name, member]) => [name, copy(member)] as const);
      if (choice === 1) members.pop();
      return Object.fromEntries(members);
    };
    return JSON.parse(JSON.stringify(copy(made)));
  });

/** What an evaluator must take `part` for: the same with all that has no proper form unknown. */
export function repaired(part: unknown): Expression {
  if (typeof part !== "object" || part === null) return UNKNOWN;
  const { op, ...rest } = part as Record<string, unknown>;
  switch (op) {
    case "and":
    case "or": {
      const args = listOf(rest["args"]);
      return args ? { op, args: args.map(repaired) } : UNKNOWN;
    }
    case "not":
      return { op, arg: repaired(rest["arg"]) };
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return { op, left: repaired(rest["left"]), right: repaired(rest["right"]) };
    case "in":
      return { op, value: repaired(rest["value"]), list: repaired(rest["list"]) };
    case "startsWith":
    case "endsWith":
      return { op, target: repaired(rest["target"]), arg: repaired(rest["arg"]) };
    case "exists":
    case "attribute": {
      const path = listOf(rest["path"]);
      return path?.every((key) => typeof key === "string") ? { op, path } : UNKNOWN;
    }
    case "literal":
      return rest["value"] === undefined || (typeof rest["value"] === "object" && rest["value"] !== null)
        ? UNKNOWN
        : { op, value: rest["value"] as LiteralValue };
    case "list": {
      const items = listOf(rest["items"]);
      return items ? { op, items: items.map(repaired) } : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}

/** Tables that come from JSON do not tell an empty object from an empty list. */
function listOf(part: unknown): unknown[] | undefined {
  if (Array.isArray(part)) return part as unknown[];
  return typeof part === "object" && part !== null && Object.keys(part).length === 0 ? [] : undefined;
}
