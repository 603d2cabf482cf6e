import fc from "fast-check";
import { COMPARISON_OPERATORS, STRING_METHODS, type Expression } from "../../../src/policy/ir.ts";
import { UNAVAILABLE, type Attributes } from "../../../src/policy/value.ts";

const ROOTS = ["user", "path", "constructor"];
/** Lists of which an operand is the one value. */
const SENT = [
  ["request", "query", "a"],
  ["request", "headers", "a"],
];
const KEYS = ["a", "b", "x-y", "in", "__proto__", "length", ""];
const STRINGS = ["", "a", "ab", "b", 'q"\\', "é", "😀", "\uffff", "\u0000\n\u202e", "null"];
const NUMBERS = [0, 1, -1, 1.5, 1e21, 5e-324, 2 ** 53];

const string = fc.oneof(fc.constantFrom(...STRINGS), fc.string({ unit: "binary", maxLength: 5 }));
const number = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
);
const scalar = fc.oneof(string, number, fc.boolean(), fc.constant(null));

/** A path as the grammar can write it. */
export const path = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...ROOTS),
        fc.array(fc.oneof(fc.constantFrom(...KEYS), string), { maxLength: 3 }),
      )
      .map(([root, keys]) => [root, ...keys]),
  },
  fc.constantFrom(...SENT),
);

/** An expression as the compiler makes it: `and` and `or` are flat and hold two or more. */
export const expression: fc.Arbitrary<Expression> = expressionOf(true);

/** The same, without `exists`. */
export const expressionWithoutExists: fc.Arbitrary<Expression> = expressionOf(false);

function expressionOf(withExists: boolean): fc.Arbitrary<Expression> {
  const { any } = fc.letrec<{ any: Expression; leaf: Expression }>((tie) => {
    const some = tie("any");
    const several = (min: number) => fc.array(some, { minLength: min, maxLength: 4 });
    return {
      leaf: fc.oneof(
        scalar.map((value): Expression => ({ op: "literal", value })),
        path.map((at): Expression => ({ op: "attribute", path: at })),
        ...(withExists ? [path.map((at): Expression => ({ op: "exists", path: at }))] : []),
      ),
      any: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        tie("leaf"),
        fc
          .tuple(fc.constantFrom("and" as const, "or" as const), several(2))
          .map(([op, args]) => flat(op, args)),
        some.map((arg): Expression => ({ op: "not", arg })),
        fc
          .tuple(fc.constantFrom(...COMPARISON_OPERATORS), some, some)
          .map(([op, left, right]): Expression => ({ op, left, right })),
        fc.tuple(some, some).map(([value, list]): Expression => ({ op: "in", value, list })),
        fc
          .tuple(fc.constantFrom(...STRING_METHODS), some, some)
          .map(([op, target, arg]): Expression => ({ op, target, arg })),
        several(0).map((items): Expression => ({ op: "list", items })),
      ),
    };
  });
  return any;
}

function flat(op: "and" | "or", args: readonly Expression[]): Expression {
  return { op, args: args.flatMap((arg) => (arg.op === op ? arg.args : [arg])) };
}

const sentValues = fc.dictionary(fc.constantFrom("a", "b"), fc.array(scalar, { maxLength: 2 }), {
  maxKeys: 2,
});
const sent = fc.option(fc.record({ request: fc.record({ query: sentValues, headers: sentValues }) }));

/** Attributes that share names and values with the expressions, so that they meet; some are faulty. */
export const attributes: fc.Arbitrary<Attributes> = attributesOf(
  fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.constantFrom(NaN, Infinity, -0, "\ud800", UNAVAILABLE, undefined),
  ),
)
  .chain((made) => sent.map((request) => ({ ...made, ...request })))
  .map((made) => made as Attributes);

function attributesOf(leaf: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> {
  const { object } = fc.letrec<{ object: Record<string, unknown> }>((tie) => ({
    object: fc.dictionary(fc.constantFrom(...KEYS), fc.oneof({ maxDepth: 2 }, leaf, tie("object")), {
      maxKeys: 4,
    }),
  }));
  return fc.dictionary(fc.constantFrom(...ROOTS), fc.oneof({ weight: 4, arbitrary: object }, leaf), {
    maxKeys: 3,
  });
}

/** Values of any JavaScript kind, where attributes should be. */
export const anything: fc.Arbitrary<unknown> = fc.dictionary(
  fc.constantFrom(...ROOTS),
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withSparseArray: true,
    withNullPrototype: true,
  }),
);

/** `less`, and `more`: the same with something known that was missing or unavailable. */
export const growing: fc.Arbitrary<{ less: Attributes; more: Attributes }> = fc
  .tuple(attributes, fc.infiniteStream(fc.integer({ min: 0, max: 3 })))
  .map(([more, choices]) => ({ more, less: thinned(more, choices) as Attributes }));

function thinned(value: unknown, choices: Iterator<number>): unknown {
  const choice = choices.next().value as number;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
    const fate = choices.next().value as number;
    if (fate === 0) return [];
    return [[key, fate === 1 && choice > 1 ? UNAVAILABLE : thinned(member, choices)]];
  });
  return Object.fromEntries(kept);
}
