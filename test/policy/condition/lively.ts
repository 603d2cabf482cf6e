import fc from "fast-check";
import {
  COMPARISON_OPERATORS,
  STRING_METHODS,
  type Expression,
  type LiteralValue,
} from "../../../src/policy/ir.ts";
import { UNAVAILABLE, type Attributes } from "../../../src/policy/value.ts";

/**
 * Conditions and attributes that share a few names and values, and mostly the types that operators take, so that many
 * verdicts are true or false.
 */

const ROOTS = ["user", "item", "message"];
const SCALARS = { s: ["", "a", "ab", "bab"], n: [0, 1, 2.5], b: [true, false] };
const KEYS = [...Object.keys(SCALARS), "l", "z"];

const strings = fc.constantFrom<LiteralValue[]>(...SCALARS.s);
const numbers = fc.constantFrom<LiteralValue[]>(...SCALARS.n);
const booleans = fc.constantFrom<LiteralValue[]>(...SCALARS.b);
const scalars = fc.oneof(strings, numbers, booleans, fc.constant(null));

function attributeOf(...keys: string[]): fc.Arbitrary<Expression> {
  return fc
    .tuple(fc.constantFrom(...ROOTS), fc.constantFrom(...keys))
    .map(([root, key]) => ({ op: "attribute", path: [root, key] }));
}

function operandOf(key: string, values: fc.Arbitrary<LiteralValue>): fc.Arbitrary<Expression> {
  const literal = values.map((value): Expression => ({ op: "literal", value }));
  return fc.oneof({ weight: 2, arbitrary: attributeOf(key) }, literal);
}

/** Conditions by way of `fc.letrec`; `and` and `or` may hold a single argument. */
export const livelyExpression: fc.Arbitrary<Expression> = fc.letrec<{ condition: Expression }>((tie) => {
  const condition = tie("condition");
  const text = operandOf("s", strings);
  const number = operandOf("n", numbers);
  const truth = fc.oneof(operandOf("b", booleans), condition);
  const any = fc.oneof(text, number, truth, operandOf("z", scalars), attributeOf(...KEYS));
  const pair = fc.oneof(...[text, number, truth, any].map((one) => fc.tuple(one, one)));
  const list = fc.oneof(
    attributeOf("l"),
    ...[text, number, any].map((one) =>
      fc.array(one, { maxLength: 3 }).map((items): Expression => ({ op: "list", items })),
    ),
  );
  const leaf = fc.oneof(
    operandOf("b", booleans),
    attributeOf(...KEYS).map((read) => ({ ...read, op: "exists" }) as Expression),
  );
  const args = fc.array(condition, { minLength: 1, maxLength: 4 });
  return {
    condition: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc
        .tuple(fc.constantFrom(...COMPARISON_OPERATORS), pair)
        .map(([op, [left, right]]): Expression => ({ op, left, right })),
      fc.tuple(fc.constantFrom("and", "or"), args).map(([op, all]): Expression => ({ op, args: all })),
      condition.map((arg): Expression => ({ op: "not", arg })),
      fc.tuple(any, list).map(([value, items]): Expression => ({ op: "in", value, list: items })),
      fc
        .tuple(fc.constantFrom(...STRING_METHODS), text, text)
        .map(([op, target, arg]): Expression => ({ op, target, arg })),
    ),
  };
}).condition;

const faulty = fc.constantFrom(UNAVAILABLE, undefined, NaN, "\ud800", null, { s: "a" }, []);

function mostly(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: values }, faulty);
}

/** An object for each root. */
export const livelyAttributes: fc.Arbitrary<Attributes> = fc
  .tuple(
    ...ROOTS.map(() =>
      fc.record({
        s: mostly(strings),
        n: mostly(numbers),
        b: mostly(booleans),
        l: mostly(fc.oneof(...[strings, numbers, scalars].map((one) => fc.array(one, { maxLength: 3 })))),
        z: mostly(fc.constant(null)),
      }),
    ),
  )
  .map((objects) => Object.fromEntries(objects.map((object, index) => [ROOTS[index], object])) as Attributes);
