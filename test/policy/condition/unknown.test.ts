import assert from "node:assert/strict";
import fc from "fast-check";
import {
  compileCondition,
  evaluate,
  parseCondition,
  whyUnknown,
} from "../../../src/policy/condition/index.ts";
import { UNAVAILABLE, type Attributes } from "../../../src/policy/value.ts";
import { runs } from "../../support/runs.ts";
import { attributes, expression } from "./arbitraries.ts";

const ATTRIBUTES: Attributes = {
  user: { id: "u-1", role: "viewer", age: 7, roles: ["a"], address: { city: "x" }, nothing: null },
  target: UNAVAILABLE,
  request: { query: { one: ["1"], two: ["1", "2"] } },
};

function why(text: string): string[] {
  const { ast } = parseCondition(text);
  assert.ok(ast, text);
  const { expression: compiled } = compileCondition(ast, text);
  return whyUnknown(compiled, ATTRIBUTES).map(({ path, why: reason, type }) =>
    [path.join("."), reason, ...(type === undefined ? [] : [type])].join(" "),
  );
}

describe("why a condition is unknown", () => {
  for (const [text, expected] of [
    ['user.department == "sales"', ["user.department missing"]],
    ['user.role == "admin" or user.department == "sales"', ["user.department missing"]],
    ['user.role == "viewer" and not (user.department == "sales")', ["user.department missing"]],
    ["user.department == target.department", ["user.department missing", "target.department unavailable"]],
    ["user.id == target.id", ["target.id unavailable"]],
    ["exists(target.id)", ["target.id unavailable"]],
    ["user.role.first == 1", ["user.role.first missing"]],
    ['request.query.two == "1"', ["request.query.two repeated"]],
    ['request.query.none in ["1"]', ["request.query.none missing"]],
    ["user.age == user.role", ["user.age type a number", "user.role type a string"]],
    ["user.roles == 1", ["user.roles type a list"]],
    ["user.address < 1", ["user.address type an object"]],
    ["user.nothing < 1", ["user.nothing type null"]],
    ['user.role.includes("x")', ["user.role type a string"]],
    ['user.gone.includes("x")', ["user.gone missing"]],
    ["user.roles.includes(1)", ["user.roles type a list with entries of another type"]],
    ["user.gone in user.roles", ["user.gone missing"]],
    ['user.role in ["x", user.gone]', ["user.gone missing"]],
    ["user.age.startsWith(user.role)", ["user.age type a number", "user.role type a string"]],
    ["user.role", ["user.role type a string"]],
    ["(user.gone == 1) == true", ["user.gone missing"]],
    ["user.gone == 1 and user.lost == 1 or user.gone == 2", ["user.gone missing", "user.lost missing"]],
    // decided all the same
    ['user.role == "viewer" or user.gone == 1', []],
    ["user.age == 8 and user.gone == 1", []],
    ['user.role == "viewer"', []],
    ["not exists(user.gone)", []],
  ] as const) {
    it(text, () => {
      assert.deepEqual(why(text), expected);
    });
  }

  it("is said where it is unknown, and nowhere else, and never throws", () => {
    fc.assert(
      fc.property(expression, attributes, (made, values) => {
        const found = whyUnknown(made, values);
        if (evaluate(made, values) !== undefined) assert.deepEqual(found, []);
        assert.ok(found.length <= 10);
      }),
      { numRuns: runs(500) },
    );
  });
});
