import assert from "node:assert/strict";
import { compileCondition, explain, parseCondition } from "../../../src/policy/condition/index.ts";
import type { Expression } from "../../../src/policy/ir.ts";
import { coverageBySet } from "../../../src/policy/suite/coverage.ts";
import {
  partsOfTrace,
  renderCoverageReports,
  reportCoverage,
  runSuite,
  testsIn,
} from "../../../src/policy/suite/index.ts";
import type { Attributes } from "../../../src/policy/value.ts";
import { decided, suiteOf, testCase } from "./support.ts";

function expressionOf(text: string): Expression {
  const { ast } = parseCondition(text);
  assert.ok(ast, text);
  return compileCondition(ast, text).expression;
}

/** Tests that see a condition with these attributes, one after the other. */
async function coverageOf(text: string, users: readonly Attributes[], files = 1) {
  const expression = expressionOf(text);
  const ahead = [...users];
  const subject = {
    conditions: [{ id: "policies[0]", name: "orders", constant: false, expression }],
    decide: () => {
      const trace = explain(expression, { user: ahead.shift(), env: { hour: 1 } } as Attributes);
      const evaluated = [{ rule: "policies[0]", verdict: trace.verdict, parts: partsOfTrace(trace) }];
      return decided("deny", "CONDITION_FALSE", "policies[0]", { evaluated });
    },
  };
  const size = users.length / files;
  const results = [];
  for (let file = 0; file < files; file++) {
    const cases = Array.from({ length: size }, () => testCase("t", { decision: "deny" }));
    results.push(await runSuite(suiteOf(...cases), subject));
  }
  return reportCoverage("default", [...coverageBySet(results).values()].flat());
}

describe("policy suite: what tests show of conditions", () => {
  it("finds the parts that `and`, `or` and `not` combine", () => {
    const tests = testsIn(expressionOf("user.a == 1 and not (user.b or user.c in [1]) or exists(user.d)"));
    assert.deepEqual(
      tests.map(({ op }) => op),
      ["==", "attribute", "in", "exists"],
    );
  });

  it("counts each verdict of each part, over several files", async () => {
    for (const files of [1, 2]) {
      const { conditions, shown, possible } = await coverageOf(
        "user.a == 1 and not user.b",
        [{ a: 1, b: false }, { a: 1 }, { a: 2, b: true }, {}] as Attributes[],
        files,
      );
      const [condition] = conditions;
      assert.ok(condition);
      assert.deepEqual([condition.true, condition.false, condition.unknown], [1, 1, 2]);
      assert.deepEqual(
        condition.parts.map((part) => [part.text, part.true, part.false, part.unknown, part.missing]),
        [
          ["user.a == 1", 2, 1, 1, []],
          ["user.b", 1, 1, 2, []],
        ],
      );
      assert.deepEqual([shown, possible], [9, 9]);
    }
  });

  it("asks for no verdict that is impossible, or that only a failing source causes", async () => {
    const report = await coverageOf("exists(user.a) or env.hour < 24", [{ a: 1 }]);
    assert.deepEqual(
      report.conditions.flatMap(({ missing, parts }) => [missing, ...parts.map((part) => part.missing)]),
      [[], ["false"], []],
    );
    assert.deepEqual([report.shown, report.possible], [3, 4]);
  });

  it("has no parts for a single test, and shows a table of what is left out", async () => {
    const report = await coverageOf('not user.role.startsWith("a\\u001b")', [{ role: "b" }]);
    assert.deepEqual(report.conditions[0]?.parts, []);
    const none = await coverageOf("user.a", [{ a: true }, { a: false }, {}]);
    const parted = await coverageOf("user.a and user.b", [{ a: true, b: true }, { a: true }]);
    assert.equal(
      renderCoverageReports([report, none, parted, reportCoverage("empty", [])]),
      `policy set default: 1 of 3 outcomes shown (33.3 %)
  true  false  unknown
     1  never    never  policies[0] (orders): not user.role.startsWith("a\\\\u001b")

policy set default: 3 of 3 outcomes shown (100.0 %)

policy set default: 5 of 9 outcomes shown (55.5 %)
  true  false  unknown
     1  never        1  policies[0] (orders): user.a and user.b
     2  never    never    user.a
     1  never        1    user.b

policy set empty: 0 of 0 outcomes shown (100.0 %)
`.replace("\\\\", "\\"),
    );
  });
});
