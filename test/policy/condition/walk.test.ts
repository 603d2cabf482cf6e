import assert from "node:assert/strict";
import fc from "fast-check";
import {
  compileCondition,
  explain,
  formatExpression,
  parseCondition,
  pathsIn,
  readsBelow,
} from "../../../src/policy/condition/index.ts";
import { childrenOf, visit } from "../../../src/policy/condition/walk.ts";
import type { Expression } from "../../../src/policy/ir.ts";
import { runs } from "../../support/runs.ts";
import { expression } from "./arbitraries.ts";
import { sloppy } from "./sloppy.ts";

/** Every object with an `op`, each before those within it: what a walk that knows no operator finds. */
function everyNode(part: unknown): unknown[] {
  if (typeof part !== "object" || part === null) return [];
  const below = Object.values(part).flatMap(everyNode);
  return "op" in part ? [part, ...below] : below;
}

function compiled(text: string): Expression {
  const { ast } = parseCondition(text);
  assert.ok(ast, text);
  return compileCondition(ast, text).expression;
}

describe("the walk over a condition", () => {
  it("visits every part of an expression once, in the order of the text", () => {
    fc.assert(
      fc.property(expression, (made) => {
        const visited: Expression[] = [];
        visit(made, (part) => visited.push(part));
        assert.deepEqual(visited, everyNode(made));
      }),
      { numRuns: runs(300) },
    );
  });

  it("visits every node of a tree once", () => {
    fc.assert(
      fc.property(expression, fc.infiniteStream(fc.nat(3)), (made, choices) => {
        const { ast } = parseCondition(sloppy(made, () => choices.next().value as number));
        assert.ok(ast);
        const visited = new Set<unknown>();
        visit(ast, (node) => visited.add(node));
        assert.deepEqual(visited, new Set(everyNode(ast)));
      }),
      { numRuns: runs(300) },
    );
  });

  it("goes into no part of an operator of a later version", () => {
    const later = { op: "xor", left: compiled("a.b"), right: compiled("a.c") } as unknown as Expression;
    assert.deepEqual(childrenOf(later), []);
    assert.deepEqual(pathsIn(later), []);
    assert.equal(formatExpression({ op: "not", arg: later }), "not …");
    assert.equal(explain(later, {}).verdict, "unknown");
  });

  it("finds the paths that are read, in order and as often as they are", () => {
    const made = compiled('a.b == 1 and exists(c.d) or "x" in [a.e, a.b] and c.f.startsWith(a)');
    assert.deepEqual(
      pathsIn(made).map((path) => path.join(".")),
      ["a.b", "c.d", "a.e", "a.b", "c.f", "a"],
    );
    assert.deepEqual(readsBelow(made, "a"), [["b"], ["e"], ["b"]]);
  });
});
