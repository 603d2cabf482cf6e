import fc from "fast-check";
import { CHILDREN } from "../../src/policy/condition/operators.ts";
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
    ...["__index", ...Object.keys(CHILDREN)].map((op) => ({ op })),
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
  const { op, path, value, args, items } = part as Record<string, unknown>;
  if (op === "exists" || op === "attribute") {
    const keys = listOf(path);
    return keys?.every((key) => typeof key === "string") ? { op, path: keys } : UNKNOWN;
  }
  if (op === "literal") {
    const scalar = value !== undefined && (typeof value !== "object" || value === null);
    return scalar ? { op, value: value as LiteralValue } : UNKNOWN;
  }
  if (op === "and" || op === "or") {
    const list = listOf(args);
    return list ? { op, args: list.map(repaired) } : UNKNOWN;
  }
  if (op === "list") {
    const list = listOf(items);
    return list ? { op, items: list.map(repaired) } : UNKNOWN;
  }
  if (typeof op !== "string" || !Object.hasOwn(CHILDREN, op)) return UNKNOWN;
  const parts = Object.keys(CHILDREN[op as keyof typeof CHILDREN]).map((key): [string, Expression] => [
    key,
    repaired((part as Record<string, unknown>)[key]),
  ]);
  return { op, ...Object.fromEntries(parts) } as unknown as Expression;
}

/** Tables that come from JSON do not tell an empty object from an empty list. */
function listOf(part: unknown): unknown[] | undefined {
  if (Array.isArray(part)) return part as unknown[];
  return typeof part === "object" && part !== null && Object.keys(part).length === 0 ? [] : undefined;
}
