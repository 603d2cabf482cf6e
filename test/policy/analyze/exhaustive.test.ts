import assert from "node:assert/strict";
import fc from "fast-check";
import {
  FALSE,
  findAttributes,
  MISSING,
  only,
  TRUE,
  UNKNOWN,
  type Candidate,
  type Domains,
} from "../../../src/policy/analyze/index.ts";
import { evaluate } from "../../../src/policy/condition/index.ts";
import type { Expression } from "../../../src/policy/ir.ts";
import { UNAVAILABLE, type Attributes, type Value } from "../../../src/policy/value.ts";
import { runs } from "../../support/runs.ts";

const NAMES = ["a", "b", "c"] as const;
/** Lists are in it, too: an attribute may be the list of an `in`. */
const VALUES: readonly Candidate[] = ["a", "ab", 1, 2, true, null, ["a", 1], [], MISSING, UNAVAILABLE];
const DOMAINS: Domains = { of: () => ({ kind: "values", values: VALUES }) };
const ALL: readonly Attributes[] = VALUES.flatMap((a) =>
  VALUES.flatMap((b) => VALUES.map((c) => ({ user: userOf({ a, b, c }) }))),
);

function userOf(members: Readonly<Record<string, Candidate>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === MISSING ? [] : [[name, value as Value]])),
  );
}

const attribute = fc
  .constantFrom(...NAMES)
  .map((name): Expression => ({ op: "attribute", path: ["user", name] }));
const operand = fc.oneof(
  attribute,
  fc.constantFrom("a", "b", "ab", 1, 2, true, null).map((value): Expression => ({ op: "literal", value })),
);
const test = fc.oneof(
  fc
    .tuple(fc.constantFrom("==", "!=", "<", "<=", ">", ">="), operand, operand)
    .map(([op, left, right]): Expression => ({ op, left, right })),
  fc
    .tuple(fc.constantFrom("startsWith", "endsWith"), operand, operand)
    .map(([op, target, arg]): Expression => ({ op, target, arg })),
  fc.tuple(operand, attribute).map(([value, list]): Expression => ({ op: "in", value, list })),
  fc
    .tuple(operand, fc.array(operand, { maxLength: 2 }))
    .map(([value, items]): Expression => ({ op: "in", value, list: { op: "list", items } })),
  fc.constantFrom(...NAMES).map((name): Expression => ({ op: "exists", path: ["user", name] })),
  attribute,
);
const { condition } = fc.letrec<{ condition: Expression }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    test,
    fc
      .tuple(fc.constantFrom("and", "or"), fc.array(tie("condition"), { minLength: 2, maxLength: 3 }))
      .map(([op, args]): Expression => ({ op, args })),
    tie("condition").map((arg): Expression => ({ op: "not", arg })),
  ),
}));

describe("attributes that meet goals, of all combinations of a few values", () => {
  it("are found if and only if there are any", () => {
    let [found, none, undecided] = [0, 0, 0];
    fc.assert(
      fc.property(condition, condition, fc.constantFrom(TRUE, FALSE, UNKNOWN), (one, other, verdicts) => {
        const goals = [
          { expression: one, verdicts: TRUE },
          { expression: other, verdicts },
        ];
        const exists = ALL.some((attributes) =>
          goals.every(
            ({ expression, verdicts: own }) => (only(evaluate(expression, attributes)) & own) !== 0,
          ),
        );
        const { kind } = findAttributes(goals, DOMAINS);
        if (kind === "undecided") undecided += 1;
        else if (exists) found += 1;
        else none += 1;
        assert.notEqual(kind, exists ? "none" : "found");
      }),
      { numRuns: runs(1000) },
    );
    // most are decided, one way and the other
    assert.ok(found > 0 && none > 0 && undecided < found + none, `${found} ${none} ${undecided}`);
  });

  it("are not denied where attributes may be anything", () => {
    let none = 0;
    fc.assert(
      fc.property(condition, condition, fc.constantFrom(TRUE, FALSE, UNKNOWN), (one, other, verdicts) => {
        const goals = [
          { expression: one, verdicts: TRUE },
          { expression: other, verdicts },
        ];
        if (findAttributes(goals).kind !== "none") return;
        none += 1;
        for (const attributes of ALL) {
          const isMet = goals.every(
            ({ expression, verdicts: own }) => (only(evaluate(expression, attributes)) & own) !== 0,
          );
          assert.ok(!isMet, JSON.stringify(attributes));
        }
      }),
      { numRuns: runs(1000) },
    );
    assert.ok(none > 0);
  });
});
