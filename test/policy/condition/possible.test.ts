import assert from "node:assert/strict";
import fc from "fast-check";
import { canBecomeTrue } from "../../../src/policy/condition/index.ts";
import { evaluate } from "../../../src/policy/condition/evaluate.ts";
import { specialize } from "../../../src/policy/condition/specialize.ts";
import type { Expression } from "../../../src/policy/ir.ts";
import { runs } from "../../support/runs.ts";
import { livelyAttributes, livelyExpression } from "./lively.ts";

const attribute = (...path: string[]): Expression => ({ op: "attribute", path });
const literal = (value: boolean): Expression => ({ op: "literal", value });
const UNKNOWN = attribute();
const LATE = attribute("request", "x");

describe("conditions that may become true", () => {
  const cases: readonly (readonly [Expression, boolean])[] = [
    [literal(true), true],
    [literal(false), false],
    [LATE, true],
    [UNKNOWN, false],
    [{ op: "not", arg: literal(true) }, false],
    [{ op: "not", arg: LATE }, true],
    [{ op: "and", args: [LATE, UNKNOWN] }, false],
    [{ op: "or", args: [LATE, UNKNOWN] }, true],
    [{ op: "not", arg: { op: "or", args: [LATE, UNKNOWN] } }, false],
    [{ op: "not", arg: { op: "and", args: [LATE, UNKNOWN] } }, true],
    [{ op: "==", left: LATE, right: literal(true) }, true],
  ];
  for (const [expression, expected] of cases) {
    it(`${JSON.stringify(expression)}: ${expected}`, () => {
      assert.equal(canBecomeTrue(expression), expected);
    });
  }

  it("are all that do", () => {
    let hopeless = 0;
    // not known yet, and never true: that none is ruled out is no chance
    const impossible: Expression = { op: "and", args: [attribute("user", "b"), UNKNOWN] };
    const roots = fc.subarray(["user", "item", "message"]);
    fc.assert(
      fc.property(livelyExpression, livelyAttributes, roots, (made, values, late) => {
        const rest = specialize(made, values, new Set(late));
        if (rest.known || canBecomeTrue(rest.residual)) return;
        hopeless += 1;
        assert.notEqual(evaluate(made, values), true);
      }),
      { numRuns: runs(3000), examples: [[impossible, { user: {} }, ["user"]]] },
    );
    assert.ok(hopeless > 0, "none was ruled out");
  });
});
