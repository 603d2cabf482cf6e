import assert from "node:assert/strict";
import fc from "fast-check";
import { contradictoryParts, Effort } from "../../../src/policy/analyze/index.ts";
import {
  checkCondition,
  compileCondition,
  evaluate,
  explain,
  formatCondition,
  formatExpression,
  parseCondition,
  verdictName,
  type ConditionNode,
  type TraceNode,
} from "../../../src/policy/condition/index.ts";
import type { Expression } from "../../../src/policy/ir.ts";
import type { Attributes, Verdict } from "../../../src/policy/value.ts";
import { anything, attributes, expression, expressionWithoutExists, growing } from "./arbitraries.ts";
import { sloppy } from "./sloppy.ts";
import { runs } from "../../support/runs.ts";

function parsed(text: string): ConditionNode {
  const { ast, findings } = parseCondition(text);
  assert.deepEqual(findings, [], text);
  assert.ok(ast);
  return ast;
}

function holds<Values extends [unknown, ...unknown[]]>(
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  claim: (...values: Values) => void,
): void {
  fc.assert(fc.property(...arbitraries, claim), { numRuns: runs(500) });
}

const and = (...args: Expression[]): Expression => ({ op: "and", args });
const or = (...args: Expression[]): Expression => ({ op: "or", args });
const not = (arg: Expression): Expression => ({ op: "not", arg });

describe("condition text", () => {
  it("comes back from the formatter with the same meaning", () => {
    holds([expression], (made) => {
      const text = formatExpression(made);
      assert.deepEqual(compileCondition(parsed(text), text).expression, made);
      assert.equal(formatCondition(parsed(text)), text);
    });
  });

  it("means the same however it is laid out, and has one canonical form", () => {
    holds([expression, fc.infiniteStream(fc.nat(3))], (made, choices) => {
      const text = sloppy(made, () => choices.next().value as number);
      const ast = parsed(text);
      assert.deepEqual(compileCondition(ast, text).expression, made);
      const canonical = formatCondition(ast);
      assert.deepEqual(compileCondition(parsed(canonical), text), compileCondition(ast, text));
      assert.equal(formatCondition(parsed(canonical)), canonical);
    });
  });

  it("of any kind gets a tree or findings within it, never an exception", () => {
    const words = [
      "a",
      "user",
      ".",
      "x",
      "(",
      ")",
      "[",
      "]",
      ",",
      "==",
      "<",
      "and",
      "or",
      "not",
      "in",
      '"s"',
      "1",
      "true",
    ];
    const foreign = [
      "&&",
      "!",
      "=",
      "includes",
      "exists",
      "'",
      '"',
      "\\",
      "/",
      "AND",
      "+",
      "é",
      "\ud800",
      "\u0000",
      "“",
    ];
    const soup = fc
      .array(fc.constantFrom(...words, ...foreign, " ", " "), { maxLength: 25 })
      .map((all) => all.join(""));
    holds([fc.oneof(soup, fc.string({ unit: "binary", maxLength: 40 }))], (text) => {
      const { ast, findings } = parseCondition(text);
      assert.equal(ast === undefined, findings.length > 0);
      for (const { start, end } of findings) {
        assert.ok(
          start >= 0 && start <= end && end <= text.length,
          `${start}..${end} in ${JSON.stringify(text)}`,
        );
        assert.ok(end > start || text === "", JSON.stringify(text));
      }
      const context = { roots: ["user"], parameters: [], types: { user: { x: "string" as const } } };
      if (ast) checkCondition(ast, context, [contradictoryParts(new Effort(Infinity))]);
    });
  });

  it("keeps every node within its parent", () => {
    holds([expression, fc.infiniteStream(fc.nat(3))], (made, choices) => {
      const text = sloppy(made, () => choices.next().value as number);
      const { start, end } = parsed(text);
      assert.equal(text.slice(start, end).length, text.length);
    });
  });
});

describe("condition evaluation", () => {
  it("never throws, whatever the attributes are", () => {
    holds([expression, fc.oneof(attributes, anything)], (made, values) => {
      assert.ok([true, false, undefined].includes(evaluate(made, values as Attributes)));
      JSON.stringify(explain(made, values as Attributes), (_, value: unknown) =>
        typeof value === "bigint" ? "" : value,
      );
    });
  });

  it("does not change what it is given", () => {
    holds([expression, attributes], (made, values) => {
      const before = structuredClone([made, Object.keys(values)]);
      evaluate(made, values);
      assert.deepEqual([made, Object.keys(values)], before);
    });
  });

  it("says in an explanation what it says alone, of every part", () => {
    const agrees = (trace: TraceNode, part: Expression, values: Attributes): void => {
      assert.equal(trace.verdict, verdictName(evaluate(part, values)));
      const parts = part.op === "and" || part.op === "or" ? part.args : part.op === "not" ? [part.arg] : [];
      assert.equal(trace.children.length, parts.length);
      for (const [index, below] of parts.entries()) agrees(trace.children[index]!, below, values);
    };
    holds([expression, attributes], (made, values) => {
      agrees(explain(made, values), made, values);
    });
  });

  it("follows Kleene", () => {
    holds([expression, expression, expression, attributes], (a, b, c, values) => {
      const verdict = (made: Expression): Verdict => evaluate(made, values);
      const same = (left: Expression, right: Expression): void => {
        assert.equal(verdict(left), verdict(right));
      };
      const sure = (made: Expression): Expression => ({
        op: "==",
        left: made,
        right: { op: "literal", value: true },
      });
      const [p, q, r] = [sure(a), sure(b), sure(c)];
      same(not(and(p, q)), or(not(p), not(q)));
      same(not(or(p, q)), and(not(p), not(q)));
      same(and(p, q), and(q, p));
      same(or(p, q), or(q, p));
      same(not(not(p)), p);
      same(and(p, and(q, r)), and(p, q, r));
      same(or(p, or(q, r)), or(p, q, r));
      same(and(p, or(q, r)), or(and(p, q), and(p, r)));
      same(and(p, p), p);
      same(or(p, and(p, q)), p);
    });
  });

  it("makes of `in` the `or` of equalities, and of `!=` the opposite of `==`", () => {
    holds([expression, fc.array(expression, { maxLength: 4 }), attributes], (value, items, values) => {
      const equalities = items.map((item): Expression => ({ op: "==", left: value, right: item }));
      const expected = items.length === 0 ? false : evaluate(or(...equalities), values);
      assert.equal(evaluate({ op: "in", value, list: { op: "list", items } }, values), expected);
      const [item] = items;
      if (item === undefined) return;
      assert.equal(
        evaluate({ op: "!=", left: value, right: item }, values),
        evaluate(not(equalities[0]!), values),
      );
    });
  });

  it("never takes back a verdict when more becomes known", () => {
    holds([expressionWithoutExists, growing], (made, { less, more }) => {
      const before = evaluate(made, less);
      if (before !== undefined) assert.equal(evaluate(made, more), before);
    });
  });

  it("orders strings as their UTF-8 bytes are ordered", () => {
    const string = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary", maxLength: 4 }));
    holds([string, string, string], (prefix, a, b) => {
      const [left, right] = [prefix + a, prefix + b];
      const literal = (value: string): Expression => ({ op: "literal", value });
      const bytes = Buffer.compare(Buffer.from(left), Buffer.from(right));
      assert.equal(evaluate({ op: "<", left: literal(left), right: literal(right) }, {}), bytes < 0);
      assert.equal(evaluate({ op: ">=", left: literal(left), right: literal(right) }, {}), bytes >= 0);
    });
  });
});
