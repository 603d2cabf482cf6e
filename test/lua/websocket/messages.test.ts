import assert from "node:assert/strict";
import fc from "fast-check";
import type { LuaRunner } from "../../support/lua.ts";
import { runs } from "../../support/runs.ts";
import { madeMessage } from "./messages-arbitraries.ts";
import { RULES } from "./socket-support.ts";
import { startCases, type LuaCases } from "./support.ts";

const DRIVER = `
local condition = require("gatehouse.condition")
local json = require("gatehouse.json")
local mask = require("gatehouse.mask")
local messages = require("gatehouse.messages")
local values = require("gatehouse.values")
local context = {
  evaluate = condition.evaluate, mask = mask,
  env = function() return values.object({ environment = "test" }) end,
}
local tasks = {}
function tasks.evaluate(rules, text) return json.encode(messages.evaluate(json.plain(rules), text, context)) end
function tasks.binary(rules) return json.encode(messages.evaluate(json.plain(rules), nil, context)) end
function tasks.label(name) return messages.label(name) end
function tasks.notice(code, name) return messages.notice({ code = code, type = name }) end
-- twice, since the second time everything is remembered
function tasks.apply(lists, text)
  local plain, said = json.plain(lists), {}
  for i = 1, 2 do
    local changed, result = messages.apply(text, plain.own, plain.common, context)
    said[i] = json.encode({ text = changed or "none", paths = result and result.paths or "unchanged" })
  end
  assert(said[1] == said[2])
  return said[1]
end
function one(items) return { tasks[items[1]](items[2], items[3]) } end
`;

interface Verdict {
  readonly permit: boolean;
  readonly code: string;
  readonly type?: string;
  readonly rule?: string;
  readonly on_deny?: string;
  readonly fields?: readonly unknown[];
}

const ENVIRONMENT = {
  op: "==",
  left: { op: "attribute", path: ["env", "environment"] },
  right: { op: "literal", value: "test" },
};

const CHARACTERS = Array.from('{}[]",:\\ut0type chat1e-');

describe("messages.lua", () => {
  let runner: LuaRunner;
  let cases: LuaCases;
  before(async () => {
    ({ runner, cases } = await startCases(DRIVER));
  });
  after(() => runner.close());

  async function call(...items: string[]): Promise<string> {
    return String((await cases([items]))[0]![0]);
  }
  async function evaluate(rules: object, text: string): Promise<Verdict> {
    return JSON.parse(await call("evaluate", JSON.stringify(rules), text)) as Verdict;
  }

  it("says by which rule a message is delivered or not, and what becomes of the connection", async () => {
    const field = { rule: "f", keys: ["x"], action: { kind: "full" } };
    const rules = {
      ...RULES,
      full: { rule: "m[4]", onDeny: "drop", fields: [field] },
      odd: { rule: "m[5]", when: false, onDeny: "explode" },
    };
    const verdicts = await Promise.all(
      ["chat", "full", "admin", "kick", "odd", "other"].map((type) =>
        evaluate(rules, JSON.stringify({ type })),
      ),
    );
    assert.deepEqual(verdicts, [
      { permit: true, code: "PERMITTED", type: "chat", rule: "m[0]" },
      { permit: true, code: "PERMITTED", type: "full", rule: "m[4]", fields: [field] },
      { permit: false, code: "CONDITION", type: "admin", rule: "m[1]", on_deny: "drop" },
      { permit: false, code: "CONDITION", type: "kick", rule: "m[2]", on_deny: "close" },
      { permit: false, code: "CONDITION", type: "odd", rule: "m[5]", on_deny: "close" },
      { permit: false, code: "UNLISTED", type: "other", on_deny: "drop" },
    ]);
    const binary = JSON.parse(await call("binary", JSON.stringify(RULES))) as Verdict;
    assert.deepEqual(binary, { permit: false, code: "UNREADABLE", on_deny: "drop" });
  });

  it("reads the environment, and takes a broken rule for one that denies", async () => {
    const rules = (when: unknown) => ({ chat: { rule: "m", onDeny: "drop", when } });
    const permits = async (when: unknown) => (await evaluate(rules(when), '{"type":"chat"}')).permit;
    assert.equal(await permits(ENVIRONMENT), true);
    assert.equal(await permits({ op: "not", arg: ENVIRONMENT }), false);
    for (const broken of [null, true, "true", 1, [], {}, { op: "none" }, { op: "literal", value: "true" }]) {
      assert.equal(await permits(broken), false, JSON.stringify(broken));
    }
    for (const broken of [null, true, "m", [], {}, { when: true }, { rule: null }]) {
      assert.equal((await evaluate({ chat: broken }, '{"type":"chat"}')).code, "UNLISTED");
    }
  });

  it("evaluates messages as they were made to be evaluated", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(madeMessage, { minLength: 200, maxLength: 200 }), async (made) => {
        const results = await cases(made.map(({ text }) => ["evaluate", JSON.stringify(RULES), text]));
        for (const [index, { text, verdict, type }] of made.entries()) {
          const evaluated = JSON.parse(String(results[index]![0])) as Verdict;
          assert.deepEqual([evaluated.code, evaluated.type], [verdict, type], text);
          assert.equal(evaluated.permit, verdict === "PERMITTED");
          seen.add(verdict);
        }
      }),
      { numRuns: runs(10) },
    );
    assert.equal(seen.size, 5);
  });

  it("delivers nothing that another reading of changed bytes would deny", async () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...CHARACTERS)), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(madeMessage, changes), { minLength: 200, maxLength: 200 }),
        async (made) => {
          const texts = made.map(([{ text }, all]) => {
            const characters = Array.from(text);
            for (const [at, character] of all) characters[at % characters.length] = character;
            return characters.join("");
          });
          const results = await cases(texts.map((text) => ["evaluate", JSON.stringify(RULES), text]));
          for (const [index, text] of texts.entries()) {
            const { permit } = JSON.parse(String(results[index]![0])) as Verdict;
            if (!permit) continue;
            const { type, n } = JSON.parse(text) as { type: unknown; n: unknown };
            assert.ok(type === "chat" || (type === "count" && typeof n === "number" && n < 5), text);
          }
        },
      ),
      { numRuns: runs(10) },
    );
  });

  it("shortens and cleans what a type says", async () => {
    for (const [name, label] of [
      ["chat", "chat"],
      ["x".repeat(101), "x".repeat(100)],
      [`${"x".repeat(99)}é`, "x".repeat(99)],
      [`${"x".repeat(98)}é`, `${"x".repeat(98)}é`],
      ["😀".repeat(30), "😀".repeat(25)],
      ["a\u0000b\u001fc\u007fd\u0080e\u009ff", "a?b?c?d?e?f"],
      ["\u2028\u2029\u202a\u202e\u2066\u2069\u200e\u200f", "????????"],
      ["\u00a0\u2027\u202f\u2065\u206a", "\u00a0\u2027\u202f\u2065\u206a"],
    ] as const) {
      assert.equal(await call("label", name), label);
    }
  });

  it("tells the sender in JSON", async () => {
    assert.deepEqual(JSON.parse(await call("notice", "CONDITION", 'a"b\u0000')), {
      type: "error",
      error: { code: "ACCESS_DENIED", message: "the message was denied" },
      message_type: 'a"b?',
    });
  });

  it("applies fields of the rule and of all messages, the stricter first", async () => {
    const field = (name: string, kind: string) => ({
      rule: "f",
      anchored: false,
      keys: [name],
      action: { kind },
    });
    const apply = async (lists: object, text: string) =>
      JSON.parse(await call("apply", JSON.stringify(lists), text)) as { text: string; paths: unknown };
    const own = [field("a", "partial")];
    const common = [field("a", "remove"), field("b", "full")];
    assert.deepEqual(await apply({ own }, '{"a":1,"b":2}'), { text: '{"a":"***","b":2}', paths: ["$.a"] });
    assert.deepEqual(await apply({ common }, '{"a":1,"b":2}'), {
      text: '{"b":"***"}',
      paths: ["$.a", "$.b"],
    });
    assert.deepEqual(await apply({ own, common }, '{"a":1,"b":2}'), {
      text: '{"b":"***"}',
      paths: ["$.a", "$.b"],
    });
    assert.deepEqual(await apply({ own: [], common }, '{"c":1}'), { text: '{"c":1}', paths: "unchanged" });
    assert.deepEqual(await apply({ own: [], common: [] }, "no JSON"), {
      text: "no JSON",
      paths: "unchanged",
    });
    assert.deepEqual(await apply({ own }, "no JSON"), { text: "none", paths: "unchanged" });
    for (const broken of [null, { a: 1 }, [{ keys: [] }]]) {
      assert.deepEqual(await apply({ own: broken }, "{}"), { text: "none", paths: "unchanged" });
      assert.deepEqual(await apply({ own, common: broken }, "{}"), { text: "none", paths: "unchanged" });
    }
  });
});
