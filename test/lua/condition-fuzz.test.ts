import assert from "node:assert/strict";
import fc from "fast-check";
import { evaluate, specialize } from "../../src/policy/condition/index.ts";
import { COMPARISON_OPERATORS, type Expression } from "../../src/policy/ir.ts";
import type { Attributes, Verdict } from "../../src/policy/value.ts";
import { attributes, expression } from "../policy/condition/arbitraries.ts";
import { livelyAttributes, livelyExpression } from "../policy/condition/lively.ts";
import { runs } from "../support/runs.ts";
import { brokenExpression, repaired } from "./condition-broken.ts";
import { startConditions, type LuaConditions, type LuaEvaluation } from "./condition-support.ts";

interface Claim extends LuaEvaluation {
  readonly expected: Verdict;
}

describe("conditions in Lua and in TypeScript", () => {
  let lua: LuaConditions;
  before(async () => {
    lua = await startConditions();
  });
  after(() => lua.close());

  /** Some hundred cases a call. */
  async function holds<Case>(one: fc.Arbitrary<Case>, batches: number, claimOf: (made: Case) => Claim) {
    const batch = fc.array(one, { minLength: 1, maxLength: 400, size: "max" });
    const property = fc.asyncProperty(batch, async (cases) => {
      const claims = cases.map(claimOf);
      const verdicts = await lua.verdicts(claims);
      for (const [index, { expected, ...claim }] of claims.entries()) {
        if (verdicts[index] !== expected)
          assert.fail(`${verdicts[index]}, not ${expected}: ${JSON.stringify(claim)}`);
      }
    });
    await fc.assert(property, { numRuns: runs(batches) });
  }

  it("come to the same", async () => {
    await holds(fc.tuple(livelyExpression, livelyAttributes), 12, ([made, values]) => ({
      expression: made,
      attributes: values,
      expected: evaluate(made, values),
    }));
  });

  it("come to the same for values and names of any kind", async () => {
    await holds(fc.tuple(expression, attributes), 12, ([made, values]) => ({
      expression: made,
      attributes: values,
      expected: evaluate(made, values),
    }));
  });

  it("order strings in the same way", async () => {
    const unit = fc.oneof(
      fc.string({ unit: "binary", maxLength: 3 }),
      fc.constantFrom(
        "\u0000",
        "\u007f",
        "\u0080",
        "\u07ff",
        "\u0800",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "\u{10000}",
        "a",
      ),
    );
    const operator = fc.constantFrom(...COMPARISON_OPERATORS);
    await holds(fc.tuple(operator, unit, unit, unit), 6, ([op, prefix, a, b]) => {
      const attribute = (key: string): Expression => ({ op: "attribute", path: ["v", key] });
      const made: Expression = { op, left: attribute("a"), right: attribute("b") };
      const values: Attributes = { v: { a: prefix + a, b: prefix + b } };
      return { expression: made, attributes: values, expected: evaluate(made, values) };
    });
  });

  it("come to the same in what is left of a condition, and in the whole", async () => {
    const late = fc.uniqueArray(fc.constantFrom("user", "item", "message", "path", "constructor"), {
      minLength: 1,
    });
    const both = fc.oneof(
      { weight: 3, arbitrary: fc.tuple(livelyExpression, livelyAttributes, late) },
      fc.tuple(expression, attributes, late),
    );
    let residuals = 0;
    await holds(both, 12, ([made, values, roots]) => {
      const names = new Set<string>(roots);
      const left = specialize(made, values, names);
      const residual = left.known ? verdictExpression(left.verdict) : left.residual;
      if (!left.known) residuals += 1;
      const after = Object.entries(values).filter(([root]) => names.has(root));
      return {
        expression: residual,
        attributes: Object.fromEntries(after),
        expected: evaluate(made, values),
      };
    });
    assert.ok(residuals > 100);
  });

  it("take what has no proper form for unknown, whatever stands there", async () => {
    await holds(fc.tuple(brokenExpression, livelyAttributes), 12, ([made, values]) => ({
      expression: made,
      attributes: values,
      expected: evaluate(repaired(made), values),
    }));
  });
});

function verdictExpression(verdict: Verdict): Expression {
  return verdict === undefined ? { op: "attribute", path: [] } : { op: "literal", value: verdict };
}
