import assert from "node:assert/strict";
import { compileCondition, parseCondition } from "../../../src/policy/condition/index.ts";
import type { ConditionIR } from "../../../src/policy/ir.ts";

function compiled(text: string): ConditionIR {
  const { ast } = parseCondition(text);
  assert.ok(ast, text);
  return compileCondition(ast, text);
}

describe("compileCondition", () => {
  it("keeps the text and lists what is read, sorted and once", () => {
    const text =
      'user.b == 1 and user.a in [user.b, path.id] and exists(user) and request.headers["X-A"] == user["a"]';
    const { source, reads } = compiled(text);
    assert.equal(source, text);
    assert.deepEqual(reads, [
      ["path", "id"],
      ["request", "headers", "x-a"],
      ["user"],
      ["user", "a"],
      ["user", "b"],
    ]);
  });

  it("tells paths apart that would be the same when joined", () => {
    assert.deepEqual(compiled('a.b == a["b.c"] and a.b.c').reads, [
      ["a", "b"],
      ["a", "b", "c"],
      ["a", "b.c"],
    ]);
  });

  it("flattens `and` and `or`, each into its own", () => {
    const at = (name: string) => ({ op: "attribute", path: [name] });
    assert.deepEqual(compiled("a and (b and (c and d)) and (e or (f or g))").expression, {
      op: "and",
      args: [at("a"), at("b"), at("c"), at("d"), { op: "or", args: [at("e"), at("f"), at("g")] }],
    });
  });

  it("makes `in` of `.includes`", () => {
    assert.deepEqual(
      compiled('user.roles.includes("x")').expression,
      compiled('"x" in user.roles').expression,
    );
    assert.deepEqual(compiled("not a in b").expression, compiled("a not in b").expression);
  });

  it("lowers header names and nothing else", () => {
    const { reads } = compiled(
      'exists(request.headers.Host) or request.headers["X-É"] or request.query.Page or user.headers.Host or request.Headers',
    );
    assert.deepEqual(reads, [
      ["request", "Headers"],
      ["request", "headers", "host"],
      ["request", "headers", "x-É"],
      ["request", "query", "Page"],
      ["user", "headers", "Host"],
    ]);
  });

  it("has no positions and no negative zero, and is plain JSON", () => {
    const { expression } = compiled("a == -0 or exists(b) or not c in [1]");
    assert.ok(expression.op === "or" && expression.args[0]?.op === "==");
    const { right } = expression.args[0];
    assert.ok(right.op === "literal" && Object.is(right.value, 0));
    assert.deepEqual(JSON.parse(JSON.stringify(expression)), expression);
    assert.doesNotMatch(JSON.stringify(expression), /start"|end"|form|text/);
  });
});
