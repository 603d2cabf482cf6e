import assert from "node:assert/strict";
import { compileCondition, evaluate, parseCondition } from "../../src/policy/condition/index.ts";
import type { Expression } from "../../src/policy/ir.ts";
import type { Attributes, Verdict } from "../../src/policy/value.ts";
import { allCases } from "../policy/condition/cases.ts";
import { startLua, type LuaRunner } from "../support/lua.ts";
import { startConditions, type LuaConditions } from "./condition-support.ts";

function compiled(text: string): Expression {
  const { ast } = parseCondition(text);
  assert.ok(ast, text);
  return compileCondition(ast, text).expression;
}

describe("conditions in Lua", () => {
  let lua: LuaConditions;
  before(async () => {
    lua = await startConditions();
  });
  after(() => lua.close());

  for (const [name, all] of allCases()) {
    const cases = all.filter(({ findings }) => findings === undefined);
    if (cases.length === 0) continue; // conditions that are none

    it(`come to what the ${cases.length} of ${name} come to`, async () => {
      const evaluations = cases.map(({ condition, attributes }) => ({
        expression: compiled(condition),
        attributes,
      }));
      const verdicts = await lua.verdicts(evaluations);
      const shown = (verdict: Verdict | "unknown", at: number) =>
        `${cases[at]?.title}: ${verdict ?? "unknown"}`;
      assert.deepEqual(
        verdicts.map(shown),
        evaluations.map(({ expression, attributes }, at) =>
          shown(cases[at]?.verdict ?? evaluate(expression, attributes), at),
        ),
      );
    });
  }

  it("find members of any name, and none but own members", async () => {
    const names = ["kind", "n", "members", "__index", "__proto__", "1", "len", "constructor", ""];
    const everything = Object.fromEntries(names.map((name) => [name, true]));
    const attributes: Attributes = {
      full: everything,
      empty: {},
      text: "text",
      list: ["a", "b"],
      nothing: null,
      nested: { kind: "object", members: everything },
      ...everything,
    };
    const present = names.flatMap((name) => [["full", name], ["nested", "members", name], [name]]);
    const absent = ["empty", "text", "list", "nothing"].flatMap((root) => names.map((name) => [root, name]));
    const exists = (path: string[]): Expression => ({ op: "exists", path });
    const read = (path: string[]): Expression => ({ op: "attribute", path });
    const verdicts = async (expressions: Expression[]) =>
      lua.verdicts(expressions.map((expression) => ({ expression, attributes })));
    assert.deepEqual(new Set(await verdicts(present.map(exists))), new Set([true]));
    assert.deepEqual(new Set(await verdicts(present.map(read))), new Set([true]));
    assert.deepEqual(new Set(await verdicts(absent.map(exists))), new Set([false]));
    assert.deepEqual(new Set(await verdicts(absent.map(read))), new Set([undefined]));
  });

  it("take texts as they stand: no patterns, no numbers in them, bytes like any others", async () => {
    const table: Record<string, Verdict> = {
      '"a.c".startsWith("a.")': true,
      '"abc".startsWith("a.")': false,
      '"abc".endsWith(".c")': false,
      '"a%c".endsWith("%c")': true,
      '"^a".startsWith("^")': true,
      '"abc".startsWith("^a")': false,
      '"abc".endsWith("c$")': false,
      '"a[b".startsWith("a[")': true,
      '"a".endsWith("aa")': false,
      '"".endsWith("")': true,
      '"a\\u0000b".startsWith("a\\u0000")': true,
      '"a\\u0000b" == "a\\u0000c"': false,
      '"a\\u0000b" < "a\\u0000c"': true,
      '"a" < "a\\u0000"': true,
      '"10" < 9': undefined,
      '"10" == 10': undefined,
      '"1e1" == "10"': false,
      '"0x10" < "9"': true,
      "10 in ['10']": undefined,
      "0 == -0": true,
      "-0 < 0": false,
      '"\uffff" < "😀"': true,
      '"Z" < "a"': true,
      '"a" < "é"': true,
    };
    const evaluations = Object.keys(table).map((text) => ({ expression: compiled(text), attributes: {} }));
    const verdicts = await lua.verdicts(evaluations);
    assert.deepEqual(Object.fromEntries(Object.keys(table).map((text, at) => [text, verdicts[at]])), table);
  });

  it("are unknown below the same depth", async () => {
    const wrappers: ((arg: Expression) => Expression)[] = [
      (arg) => ({ op: "not", arg }),
      (arg) => ({ op: "and", args: [arg] }),
      (arg) => ({ op: "==", left: arg, right: { op: "literal", value: true } }),
      (arg) => ({ op: "in", value: arg, list: { op: "list", items: [arg.op === "in" ? TRUE : arg] } }),
    ];
    const innermost: Expression[] = [
      TRUE,
      { op: "exists", path: ["user"] },
      { op: "attribute", path: ["yes"] },
    ];
    const evaluations = wrappers.flatMap((wrap) =>
      innermost.flatMap((inner) => {
        const made: { expression: Expression; attributes: Attributes }[] = [];
        let expression = inner;
        for (let depth = 1; depth <= 516; depth++) {
          expression = wrap(expression);
          if (depth >= 509) made.push({ expression, attributes: { user: {}, yes: true } });
        }
        return made;
      }),
    );
    const expected = evaluations.map(({ expression, attributes }) => evaluate(expression, attributes));
    assert.deepEqual(new Set(expected), new Set([true, false, undefined]));
    assert.deepEqual(await lua.verdicts(evaluations), expected);
  });
});

const TRUE: Expression = { op: "literal", value: true };

describe("the condition module", () => {
  let lua: LuaRunner;
  before(async () => {
    lua = await startLua(`
      local values = require("gatehouse.values")
      function run(source)
        local evaluate = require("gatehouse.condition").evaluate
        return tostring(assert(loadstring("local evaluate, values = ... return " .. source))(evaluate, values))
      end
    `);
  });
  after(() => lua.close());

  const READ = "{ op = 'attribute', path = { 'a', 'b' } }";
  const table: Record<string, string> = {
    "evaluate({ op = 'literal', value = true }, nil)": "nil",
    "evaluate({ op = 'literal', value = true }, 'roots')": "nil",
    "evaluate(nil, {})": "nil",
    "evaluate(print, {})": "nil",
    "evaluate(values.null, {})": "nil",
    "evaluate({ op = 'literal', value = true }, {})": "true",
    "evaluate({ op = 0 / 0 }, {})": "nil",
    "evaluate({ op = 'literal', value = print }, {})": "nil",
    "evaluate({ op = 'literal', value = values.list({ true }) }, {})": "nil",
    "evaluate({ op = 'in', value = { op = 'literal', value = 1 }, list = { op = 'literal', value = values.list({ 1 }) } }, {})":
      "nil",
    [`evaluate(${READ}, { a = print })`]: "nil",
    [`evaluate(${READ}, { a = values.object({ b = true }) })`]: "true",
    [`evaluate(${READ}, { a = values.object({ b = print }) })`]: "nil",
    // members that are found when they are asked for
    [`evaluate(${READ}, { a = values.object(setmetatable({}, { __index = function(_, name) return name == "b" end })) })`]:
      "true",
    "evaluate({ op = 'attribute', path = {} }, setmetatable({}, { __index = function() return true end }))":
      "nil",
    "evaluate({ op = 'exists', path = {} }, {})": "false",
    "evaluate({ op = 'and', args = {} }, {})": "nil",
    "evaluate({ op = 'or', args = {} }, {})": "nil",
    // a list that is none differs from no value
    "evaluate({ op = '==', left = { op = 'list', items = {} }, right = { op = 'literal', value = values.null } }, {})":
      "false",
    "evaluate({ op = '==', left = { op = 'list' }, right = { op = 'literal', value = values.null } }, {})":
      "nil",
    // a list whose last element is none
    "evaluate({ op = 'in', value = { op = 'literal', value = 1 }, list = { op = 'attribute', path = { 'l' } } }, { l = values.list({ 1 }, 2) })":
      "true",
    "evaluate({ op = 'in', value = { op = 'literal', value = 2 }, list = { op = 'attribute', path = { 'l' } } }, { l = values.list({ 1 }, 2) })":
      "nil",
  };
  for (const [source, expected] of Object.entries(table)) {
    it(`${source} is ${expected}`, async () => {
      assert.equal((await lua.call(source)).toString(), expected);
    });
  }
});
