import assert from "node:assert/strict";
import { maskDocument } from "../../src/policy/mask/index.ts";
import type { LuaRunner } from "../support/lua.ts";
import { allMaskCases } from "../policy/mask-cases.ts";
import { startMasking, type LuaMasked, type MaskRequest } from "./mask-support.ts";
import { startCases, type LuaCases } from "./websocket/support.ts";

describe("masking in Lua", () => {
  let runner: LuaRunner;
  let mask: (requests: readonly MaskRequest[]) => Promise<LuaMasked[]>;
  before(async () => {
    ({ runner, mask } = await startMasking());
  });
  after(() => runner.close());

  for (const [file, cases] of allMaskCases()) {
    it(file, async () => {
      for (const [index, result] of (await mask(cases)).entries()) {
        const { name, expected } = cases[index]!;
        const seen = "reason" in result ? result : { text: result.text, paths: result.paths };
        assert.deepEqual(seen, expected, name);
      }
    });
  }

  const field = (change: object) => ({
    rule: "r",
    anchored: false,
    keys: ["a"],
    action: { kind: "full" },
    ...change,
  });

  it("refuses everything where the plan is bad", async () => {
    const plans = [
      {},
      { fields: null },
      { fields: "a" },
      { fields: [1] },
      { fields: [field({ keys: [] })] },
      { fields: [field({ keys: "a" })] },
      { fields: [field({ keys: ["a", 1] })] },
      { fields: [field({ keys: [null, "a"] })] },
      { fields: [field({ action: null })] },
      { fields: [field({ action: {} })] },
      { fields: [field({ action: { kind: "later" } })] },
      { fields: [field({}), field({ action: { kind: 1 } })] },
      { fields: { a: 1 } },
      { fields: [], errors: null },
      { fields: [], errors: 1 },
      null,
      7,
      { fields: [], errors: [1] },
      { fields: [], errors: [{ message: "m" }] },
      { fields: [], errors: [{ message: 1, extensions: { code: "X" } }] },
      { fields: [], errors: [{ message: "m", extensions: { code: 1 } }] },
      { fields: [], errors: [{ message: "m", extensions: { code: "X" }, path: "a" }] },
      { fields: [], errors: [{ message: "m", extensions: { code: "X" }, path: [1] }] },
    ];
    const results = await mask(plans.map((plan) => ({ document: '{"b":1}', plan })));
    assert.deepEqual(
      results,
      plans.map(() => ({ reason: "plan" })),
    );
  });

  it("masks where a condition has no form that is known", async () => {
    const when = [null, 1, "x", [], {}, { op: "later" }, { op: "literal", value: [] }, { op: "==", left: 1 }];
    const results = await mask(
      when.map((one) => ({ document: '{"a":1}', plan: { fields: [field({ when: one })] } })),
    );
    assert.deepEqual(
      results,
      when.map(() => ({ text: '{"a":"***"}', count: 1, paths: ["$.a"] })),
    );
  });

  it("tells at most 50 paths", async () => {
    const document = `{${Array.from({ length: 60 }, (_, index) => `"n${index}":{"a":1}`).join(",")}}`;
    const plan = { fields: [{ rule: "r", anchored: false, keys: ["a"], action: { kind: "full" } as const }] };
    const paths = Array.from({ length: 50 }, (_, index) => `$.n${index}.a`);
    const text = document.replaceAll('"a":1', '"a":"***"');
    assert.deepEqual(await mask([{ document, plan }]), [{ text, count: 60, paths }]);
    assert.deepEqual(maskDocument(document, plan, {}), { ok: true, text, count: 60, paths });
  });

  it("looks at a condition once for each object, however often a key stands in it", async () => {
    const times = 20_000;
    const document = `{${'"a":1,'.repeat(times)}"b":[${'{"a":1},'.repeat(times)}0]}`;
    const never = { op: "exists", path: ["item", "nothing"] };
    const results = await mask([
      { document, plan: { fields: [field({ when: never })] } },
      {
        document,
        plan: { fields: [field({ when: { op: "not", arg: never }, action: { kind: "remove" } })] },
      },
    ]);
    assert.deepEqual(results, [
      { text: document, count: 0, paths: [] },
      { text: `{"b":[${"{},".repeat(times)}0]}`, count: 2 * times, paths: ["$.a", "$.b[*].a"] },
    ]);
  });
});

describe("masking in Lua with other evaluators", () => {
  let runner: LuaRunner;
  let cases: LuaCases;
  before(async () => {
    ({ runner, cases } = await startCases(`
      local json = require("gatehouse.json")
      local mask = require("gatehouse.mask")
      local calls = 0
      local EVALUATORS = {
        raises = function() error("no") end,
        raises_nothing = function() error() end,
        ["true"] = function() return true end,
        ["false"] = function() calls = calls + 1 return false end,
        ["nil"] = function() end,
        text = function() return "false" end,
      }
      local plan = json.plain('{"fields":[{"keys":["a"],"action":{"kind":"full"},"when":{}}]}')
      function one(items)
        calls = 0
        local result = mask.apply('{"a":1,"a":2,"x":[{"a":3,"\\\\u0061":4}]}', plan, { evaluate = EVALUATORS[items[1]] })
        return { result.text, tostring(calls), tostring(result.changed) }
      end
    `));
  });
  after(() => runner.close());

  it("leaves a field as it is only where that says false, and asks once an object", async () => {
    const names = ["raises", "raises_nothing", "true", "nil", "text", "missing", "false"];
    const results = (await cases(names.map((name) => [name]))).map((items) => items.map(String));
    const changed = ['{"a":"***","a":"***","x":[{"a":"***","\\u0061":"***"}]}', "0", "true"];
    assert.deepEqual(results, [
      ...names.slice(1).map(() => changed),
      ['{"a":1,"a":2,"x":[{"a":3,"\\u0061":4}]}', "2", "false"],
    ]);
  });
});
