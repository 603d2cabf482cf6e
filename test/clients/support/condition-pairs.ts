import fc from "fast-check";
import { COMPARISON_OPERATORS, STRING_METHODS, type Expression } from "../../../src/policy/ir.ts";

/**
 * Pairs of conditions of which the second is often the first after a small change, or in other words. They share a few
 * attributes and literals, so that their parts depend on each other.
 */

const PATHS = ["user.a", "user.b", "user.c", "user.a.x", "user.id", "item.l", "item.m"].map((path) =>
  path.split("."),
);
const SENT = ["request.query.q", "request.headers.h"].map((path) => path.split("."));
const TEXTS = ["", "a", "ab", "abc", "b", "ba", "monday"];
const NUMBERS = [0, 1, 2, 2.5, 23];

const pathOf = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...PATHS) },
  { weight: 2, arbitrary: fc.constantFrom(...SENT) },
  { weight: 1, arbitrary: fc.constantFrom(["env", "hour"], ["env", "weekday"]) },
);
const attribute = pathOf.map((path): Expression => ({ op: "attribute", path }));
const literal = fc
  .oneof(fc.constantFrom(...TEXTS), fc.constantFrom(...NUMBERS), fc.boolean(), fc.constant(null))
  .map((value): Expression => ({ op: "literal", value }));
const text = fc.constantFrom(...TEXTS).map((value): Expression => ({ op: "literal", value }));

const { any: condition, operand } = fc.letrec<{ any: Expression; operand: Expression; test: Expression }>(
  (tie) => {
    const value = tie("operand");
    const some = tie("any");
    return {
      operand: fc.oneof(
        { weight: 6, arbitrary: attribute },
        { weight: 5, arbitrary: literal },
        { weight: 1, arbitrary: tie("test") },
      ),
      test: fc.oneof(
        { maxDepth: 2 },
        fc
          .tuple(
            fc.constantFrom(...COMPARISON_OPERATORS),
            attribute,
            fc.oneof({ weight: 3, arbitrary: literal }, value),
          )
          .map(([op, left, right]): Expression => ({ op, left, right })),
        fc
          .tuple(
            fc.constantFrom(...STRING_METHODS),
            attribute,
            fc.oneof({ weight: 3, arbitrary: text }, value),
          )
          .map(([op, target, arg]): Expression => ({ op, target, arg })),
        fc
          .tuple(value, fc.array(value, { maxLength: 3 }))
          .map(([one, items]): Expression => ({ op: "in", value: one, list: { op: "list", items } })),
        fc.tuple(value, attribute).map(([one, list]): Expression => ({ op: "in", value: one, list })),
        pathOf.map((path): Expression => ({ op: "exists", path })),
        attribute,
      ),
      any: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        tie("test"),
        fc
          .tuple(fc.constantFrom("and", "or"), fc.array(some, { minLength: 2, maxLength: 4 }))
          .map(([op, args]): Expression => ({ op, args })),
        some.map((arg): Expression => ({ op: "not", arg })),
      ),
    };
  },
);

function literalOf(value: string | number | boolean | null): Expression {
  return { op: "literal", value };
}

const few = fc.constantFrom("a", "b").map((name): Expression => ({ op: "attribute", path: ["user", name] }));
const list = fc.constantFrom(["item", "l"], ...SENT).map((path): Expression => ({ op: "attribute", path }));
const number = fc.constantFrom(...NUMBERS).map(literalOf);

/** Several tests of one or two attributes with literals of one type: what decides is what lies between these. */
const dense = fc
  .oneof(
    ...[
      fc
        .tuple(fc.constantFrom("<", ">", "!="), few, fc.oneof({ weight: 9, arbitrary: number }, few))
        .map(([op, left, right]): Expression => ({ op, left, right })),
      fc
        .tuple(fc.constantFrom("<", ">", "!=", "=="), few, text)
        .map(([op, left, right]): Expression => ({ op, left, right })),
      fc
        .tuple(fc.constantFrom(...STRING_METHODS), few, text)
        .map(([op, target, arg]): Expression => ({ op, target, arg })),
      fc.tuple(literal, list).map(([value, searched]): Expression => ({ op: "in", value, list: searched })),
    ].map((one) => {
      const negatable = fc
        .tuple(one, fc.nat(3))
        .map(([test, kind]): Expression => (kind === 0 ? { op: "not", arg: test } : test));
      return fc.array(negatable, { minLength: 2, maxLength: 5 });
    }),
  )
  .map((args): Expression => ({ op: "and", args }));
const base = fc.oneof(condition, dense);

/** A change of one condition: the same in other words, or something else. */
type Change = (before: Expression, other: Expression, literal: Expression) => Expression;

const CHANGES: readonly Change[] = [
  (before) => ({ op: "not", arg: { op: "not", arg: before } }),
  (before) => (isLogical(before) ? otherWords(before) : before),
  (before) => (isLogical(before) ? { ...before, args: before.args.toReversed() } : before),
  (before) =>
    before.op === "in" && before.list.op === "list" ? asEqualities(before.value, before.list.items) : before,
  (before, other) => ({ op: "or", args: [before, { op: "and", args: [before, other] }] }),
  (before) => (isLogical(before) ? (before.args[0] ?? before) : before),
  (before) => (isLogical(before) ? { ...before, op: before.op === "and" ? "or" : "and" } : before),
  // true where it is not unknown
  (before) => ({ op: "or", args: [before, { op: "not", arg: before }] }),
  () => literalOf(true),
  () => literalOf(false),
  (before, other) => ({ op: "and", args: [before, other] }),
  (before, other) => ({ op: "or", args: [before, other] }),
  (before, _, value) => ("right" in before ? { ...before, right: value } : before),
  (before) => (before.op === "==" ? { ...before, op: "!=" } : before),
  (before, _, value) =>
    before.op === "in" && before.list.op === "list"
      ? { ...before, list: { op: "list", items: [...before.list.items, value] } }
      : before,
];

function isLogical(expression: Expression): expression is Extract<Expression, { op: "and" | "or" }> {
  return expression.op === "and" || expression.op === "or";
}

function otherWords({ op, args }: Extract<Expression, { op: "and" | "or" }>): Expression {
  const negated = args.map((arg): Expression => ({ op: "not", arg }));
  return { op: "not", arg: { op: op === "and" ? "or" : "and", args: negated } };
}

function asEqualities(left: Expression, items: readonly Expression[]): Expression {
  return { op: "or", args: items.map((right): Expression => ({ op: "==", left, right })) };
}

/** Applies a change to the part that `place` leads to. */
function changed(
  before: Expression,
  place: readonly number[],
  change: (part: Expression) => Expression,
): Expression {
  const [step = 0, ...rest] = place;
  if (place.length === 0) return change(before);
  if (before.op === "not") return { op: "not", arg: changed(before.arg, rest, change) };
  if (!isLogical(before)) return change(before);
  const at = step % before.args.length;
  return {
    ...before,
    args: before.args.map((arg, index) => (index === at ? changed(arg, rest, change) : arg)),
  };
}

const variation = fc
  .tuple(
    base,
    fc.array(fc.nat(3), { maxLength: 3 }),
    fc.constantFrom(...CHANGES),
    fc.constantFrom(...CHANGES),
    base,
    fc.oneof(literal, operand),
  )
  .map(([origin, place, first, second, other, value]) => {
    const before = first(origin, other, value);
    return { before, after: changed(before, place, (part) => second(part, other, value)) };
  });

/** Two conditions, and whether attributes are those of a request or may be anything. */
export interface ConditionPair {
  readonly before: Expression;
  readonly after: Expression;
  readonly request: boolean;
}

export const conditionPair: fc.Arbitrary<ConditionPair> = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: variation },
      { weight: 1, arbitrary: fc.record({ before: base, after: base }) },
      // whether it is ever true, or ever anything else
      { weight: 2, arbitrary: fc.record({ before: dense, after: fc.boolean().map(literalOf) }) },
    ),
    fc.boolean(),
  )
  .map(([pair, request]) => ({ ...pair, request }));
