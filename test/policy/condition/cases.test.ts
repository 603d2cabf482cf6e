import assert from "node:assert/strict";
import { contradictoryParts, Effort } from "../../../src/policy/analyze/index.ts";
import {
  checkCondition,
  compileCondition,
  evaluate,
  explain,
  formatCondition,
  parseCondition,
  verdictName,
  type ConditionNode,
} from "../../../src/policy/condition/index.ts";
import { allCases, type ConditionCase } from "./cases.ts";

const MORE = [contradictoryParts(new Effort(Infinity))];

function parsed(text: string): ConditionNode {
  const { ast, findings } = parseCondition(text);
  assert.deepEqual(findings, []);
  assert.ok(ast);
  return ast;
}

/** Every case's condition that parses goes through the formatter as well. */
function assertFormats(ast: ConditionNode, text: string): void {
  const formatted = formatCondition(ast);
  const again = parsed(formatted);
  assert.equal(formatCondition(again), formatted);
  assert.deepEqual(compileCondition(again, text), compileCondition(ast, text));
}

function assertCase(name: string, one: ConditionCase): void {
  const { condition, attributes } = one;
  if (one.findings !== undefined) {
    const { ast, findings } = parseCondition(condition);
    assert.deepEqual(
      findings.map(({ code }) => code),
      one.findings,
    );
    assert.equal(ast, undefined);
    if (one.marks)
      assert.deepEqual(
        findings.map(({ start, end }) => condition.slice(start, end)),
        one.marks,
      );
    if (one.hint) assert.equal(findings[0]?.hint, one.hint);
    return;
  }
  const ast = parsed(condition);
  assertFormats(ast, condition);
  if (one.verdict !== undefined) {
    const { expression } = compileCondition(ast, condition);
    assert.equal(verdictName(evaluate(expression, attributes)), String(one.verdict));
    assert.equal(explain(expression, attributes).verdict, String(one.verdict));
  } else if (name === "format.yaml") {
    assert.equal(formatCondition(ast), one.format ?? condition);
  } else {
    const findings = checkCondition(ast, one.context, MORE);
    const codes = (severity: string) =>
      findings.filter((found) => found.severity === severity).map(({ code }) => code);
    assert.deepEqual(
      { errors: codes("error"), warnings: codes("warning") },
      { errors: one.errors, warnings: one.warnings },
    );
    if (one.marks)
      assert.deepEqual(
        findings.map(({ start, end }) => condition.slice(start, end)),
        one.marks,
      );
    if (one.hint) assert.equal(findings[0]?.hint, one.hint);
  }
}

for (const [name, cases] of allCases()) {
  describe(`condition cases: ${name}`, () => {
    for (const [index, one] of cases.entries()) {
      it(`${index + 1}: ${one.title}`, () => {
        assertCase(name, one);
      });
    }
  });
}
