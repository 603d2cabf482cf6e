import assert from "node:assert/strict";
import fc from "fast-check";
import { checkCondition, evaluate, parseCondition } from "../../../src/policy/condition/index.ts";
import { contradictoryParts, Effort } from "../../../src/policy/analyze/index.ts";
import { COMPARISON_OPERATORS, STRING_METHODS } from "../../../src/policy/ir.ts";
import type { Attributes } from "../../../src/policy/value.ts";
import { runs } from "../../support/runs.ts";

const MORE = [contradictoryParts(new Effort(Infinity))];

/** Few letters, so that strings begin and end alike. */
const text = fc.string({ unit: fc.constantFrom("a", "b", "\u{10ffff}"), maxLength: 3 });
const number = fc.constantFrom(-1.5, 0, 1, 1.5, 2, 1e300);
const literal = fc.oneof(text, number, fc.boolean(), fc.constant(null)).map((value) => JSON.stringify(value));
const attribute = fc.constantFrom("user.a", "user.a", "user.a", "user.a.b", "request.query.a");

const part = fc.oneof(
  fc.tuple(attribute, fc.constantFrom(...COMPARISON_OPERATORS), literal).map((words) => words.join(" ")),
  fc.tuple(literal, fc.constantFrom("<", ">="), attribute).map((words) => words.join(" ")),
  fc
    .tuple(attribute, fc.constantFrom("in", "not in"), fc.array(literal, { maxLength: 3 }))
    .map(([name, op, items]) => `${name} ${op} [${items.join(", ")}]`),
  fc
    .tuple(attribute, fc.constantFrom(...STRING_METHODS, "includes"), literal)
    .map(([name, method, value]) => `${name}.${method}(${value})`),
  fc
    .tuple(text, fc.constantFrom(...STRING_METHODS), attribute)
    .map(([value, method, name]) => `${JSON.stringify(value)}.${method}(${name})`),
  attribute,
  attribute.map((name) => `exists(${name})`),
);
const term = fc.tuple(part, fc.boolean()).map(([written, not]) => (not ? `not (${written})` : written));

const scalar = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", "\u0000", "\u{10ffff}"), maxLength: 6 }),
  number,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.record({ b: scalar }), fc.constant({}));
const attributes: fc.Arbitrary<Attributes> = fc
  .tuple(fc.record({ a: value }, { requiredKeys: [] }), fc.array(text, { maxLength: 3 }))
  .map(([user, a]) => ({ user, request: { query: { a } } }));

describe("a condition that contradicts itself", () => {
  for (const [op, code, not] of [
    ["and", "contradiction", true],
    ["or", "always-true", false],
  ] as const) {
    it(`in \`${op}\` is said to only where it never is ${String(not)}`, () => {
      let found = 0;
      fc.assert(
        fc.property(
          term,
          term,
          fc.array(attributes, { minLength: 30, maxLength: 30 }),
          (one, other, tries) => {
            const { ast } = parseCondition(`${one} ${op} ${other}`);
            assert.ok(ast, `${one} ${op} ${other}`);
            const codes = checkCondition(ast, { roots: ["user", "request"] }, MORE).map(
              (finding) => finding.code,
            );
            if (!codes.includes(code)) return;
            found += 1;
            for (const each of tries) assert.notEqual(evaluate(ast, each), not);
          },
        ),
        { numRuns: runs(2000) },
      );
      assert.ok(found > 0);
    });
  }

  it("takes bounded time to find", () => {
    const long = Array.from({ length: 20_000 }, (_, index) => `user.a != ${index}`).join(" and ");
    const { ast } = parseCondition(`user.a == 1 and user.a == 2 and ${long}`);
    assert.ok(ast);
    const codes = checkCondition(ast, { roots: ["user"] }, MORE).map(({ code }) => code);
    assert.deepEqual(new Set(codes), new Set(["contradiction"]));
  });
});
