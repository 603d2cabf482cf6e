import assert from "node:assert/strict";
import fc from "fast-check";
import type { AttributePath, Expression } from "../../../src/policy/ir.ts";
import { evaluateMessage, type MessageVerdict } from "../../../src/policy/message/index.ts";
import type { PlannedField, PlannedMessage } from "../../../src/policy/plan.ts";
import type { ValueObject } from "../../../src/policy/value.ts";
import { MAX_VALUES } from "../../../src/json/index.ts";
import { messageOf } from "../../cases/json/documents.ts";
import { startLua, type LuaRunner } from "../../support/lua.ts";
import { runs } from "../../support/runs.ts";

interface Evaluated {
  readonly rules: Readonly<Record<string, PlannedMessage>>;
  readonly text: string;
  readonly env: ValueObject;
}

const DRIVER = `
local condition = require("gatehouse.condition")
local json = require("gatehouse.json")
local messages = require("gatehouse.messages")

function run(input)
  local verdicts = {}
  for index, case in ipairs(json.plain(input)) do
    local context = { evaluate = condition.evaluate, env = function() return json.from_plain(case.env) end }
    local verdict = messages.evaluate(case.rules, case.text, context, case.bounded and messages.from_client)
    local fields = {}
    for _, field in ipairs(verdict.fields or {}) do fields[#fields + 1] = field.keys[1] end
    verdicts[index] = string.format('{"permit":%s,"type":%s,"rule":%s,"code":%s,"onDeny":%s,"fields":%s}',
      tostring(verdict.permit), verdict.type and json.quote(verdict.type) or "null",
      verdict.rule and json.quote(verdict.rule) or "null", json.quote(verdict.code or "PERMITTED"),
      verdict.on_deny and json.quote(verdict.on_deny) or "null", json.quote(table.concat(fields, " ")))
  end
  return "[" .. table.concat(verdicts, ",") .. "]"
end
`;

/** As the driver prints verdicts. Lua says what a denial does only where there is one. */
function printed({ permit, type, rule, code, onDeny, fields }: MessageVerdict) {
  const keys = fields.map((field) => field.keys[0]).join(" ");
  return {
    permit,
    type: type ?? null,
    rule: rule ?? null,
    code,
    onDeny: permit ? null : onDeny,
    fields: keys,
  };
}

const TYPES = ["a", "b", "type", "é😀", "", "__proto__", "constructor", "x\u0000y"];
const KEYS = ["type", "id", "a", "\ud83d\ude00", "__proto__"];

const scalar = fc.constantFrom('"a"', '"b"', '"\\u0061"', '"é😀"', '"\\ud83d\\ude00"', '"\\ud800"', '""', '"x\\u0000y"',
  "0", "-0", "1", "1.0", "1e0", "9007199254740993", "1e400", "0.1", "true", "false", "null"); // prettier-ignore
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...KEYS.map((key) => JSON.stringify(key))) },
  fc.constantFrom('"\\u0074ype"', '"i\\u0064"', '"\\uD83D\\uDE00"', '"\\ud83d"', '"Type"', '"I_D"', '"[a]"'),
);
const blank = fc.constantFrom("", "", "", " ", "\n\t");
const { document } = fc.letrec<{ document: string; object: string }>((tie) => ({
  object: fc
    .array(fc.tuple(blank, name, blank, fc.oneof({ maxDepth: 3 }, scalar, tie("document"))), { maxLength: 5 })
    .map((members) => `{${members.map(([a, key, b, value]) => `${a}${key}${b}:${value}`).join(",")}}`),
  document: fc.oneof(
    { maxDepth: 3 },
    scalar,
    tie("object"),
    fc.array(tie("document"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
  ),
}));

/** An object with a type, and mostly with one. */
const member = fc.tuple(
  fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom('"id"', '"a"', '"__proto__"') },
    { weight: 8, arbitrary: fc.constantFrom('"ID"', '"_a"', '"Type"') },
    name,
  ),
  document,
);
const message = fc
  .tuple(
    fc.constantFrom(...TYPES),
    fc.uniqueArray(member, { maxLength: 3, selector: ([key]) => key }),
    fc.nat(),
  )
  .map(([type, members, at]) => {
    const all = members.map(([key, value]) => `${key}:${value}`);
    all.splice(at % (all.length + 1), 0, `"type":${JSON.stringify(type)}`);
    return `{${all.join(",")}}`;
  });
const text = fc.oneof(
  { weight: 8, arbitrary: message },
  { weight: 2, arbitrary: document },
  { weight: 2, arbitrary: fc.tuple(message, fc.nat(), fc.string({ maxLength: 2 })).map(mutated) },
  fc.string({ unit: "grapheme" }),
);

function mutated([json, at, insert]: [string, number, string]): string {
  const place = at % (json.length + 1);
  return (json.slice(0, place) + insert + json.slice(place + (at % 3))).toWellFormed();
}

const path = fc.oneof(
  fc
    .array(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 3 })
    .map((keys): AttributePath => ["message", ...keys]),
  fc.constantFrom<AttributePath[]>(["env", "hour"], ["env"], ["message"], []),
);
const operand = fc.oneof(
  path.map((at): Expression => ({ op: "attribute", path: at })),
  fc
    .constantFrom("a", "é😀", "", 1, 0, 0.1, true, null)
    .map((value): Expression => ({ op: "literal", value })),
);
const { condition } = fc.letrec<{ condition: Expression }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    fc
      .tuple(fc.constantFrom("==", "!=", "<", ">="), operand, operand)
      .map(([op, left, right]): Expression => ({ op, left, right })),
    path.map((at): Expression => ({ op: "exists", path: at })),
    fc.tuple(operand, operand).map(([value, list]): Expression => ({ op: "in", value, list })),
    tie("condition").map((arg): Expression => ({ op: "not", arg })),
    fc
      .tuple(
        fc.constantFrom("and" as const, "or" as const),
        fc.array(tie("condition"), { minLength: 2, maxLength: 3 }),
      )
      .map(([op, args]): Expression => ({ op, args })),
  ),
}));

const FIELDS: readonly PlannedField[] = [
  { rule: "f", anchored: false, keys: ["ssn"], action: { kind: "full" } },
  { rule: "f", anchored: true, keys: ["pin"], action: { kind: "remove" } },
];
const rule = fc
  .record(
    {
      rule: fc.constantFrom("r-1", "r-2"),
      onDeny: fc.constantFrom("drop" as const, "close" as const),
      when: fc.oneof({ weight: 5, arbitrary: condition }, fc.constant(false as const)),
      fields: fc.subarray([...FIELDS]),
    },
    { requiredKeys: ["rule", "onDeny"] },
  )
  .map((made): PlannedMessage => made);
const rules = fc.uniqueArray(fc.tuple(fc.constantFrom(...TYPES), rule), {
  selector: ([type]) => type,
  minLength: 4,
  maxLength: TYPES.length,
  size: "max",
});
const evaluated: fc.Arbitrary<Evaluated> = fc
  .tuple(rules, text, fc.constantFrom<ValueObject[]>({ hour: 1 }, { hour: 0 }, {}))
  .map(([listed, made, env]) => ({ rules: Object.fromEntries(listed), text: made, env }));

describe("messages in Lua and in TypeScript", () => {
  let lua: LuaRunner;
  before(async () => {
    lua = await startLua(DRIVER);
  });
  after(() => lua.close());

  it("have as many values from a client as a body, and from a server any number", async () => {
    const cases = [MAX_VALUES, MAX_VALUES + 1].flatMap((count) =>
      [true, false].map((bounded) => ({
        rules: { a: { rule: "r-1", onDeny: "close" } as const },
        text: messageOf("a", count),
        env: {},
        bounded,
      })),
    );
    const verdicts = JSON.parse((await lua.call(JSON.stringify(cases))).toString()) as { code: string }[];
    const expected = cases.map(({ rules, text, env, bounded }) =>
      printed(evaluateMessage(rules, text, { env, ...(bounded && { values: MAX_VALUES }) })),
    );
    assert.deepEqual(verdicts, expected);
    assert.deepEqual(
      verdicts.map(({ code }) => code),
      ["PERMITTED", "PERMITTED", "UNREADABLE", "PERMITTED"],
    );
  });

  it("are evaluated alike", async () => {
    const codes = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(evaluated, { minLength: 100, maxLength: 400, size: "max" }),
        async (cases) => {
          const verdicts = JSON.parse((await lua.call(JSON.stringify(cases))).toString()) as unknown[];
          assert.equal(verdicts.length, cases.length);
          for (const [index, { rules, text, env }] of cases.entries()) {
            const expected = printed(evaluateMessage(rules, text, { env }));
            codes.set(expected.code, (codes.get(expected.code) ?? 0) + 1);
            assert.deepEqual(verdicts[index], expected, JSON.stringify({ rules, text, env }));
          }
        },
      ),
      { numRuns: runs(12) },
    );
    for (const code of ["PERMITTED", "UNREADABLE", "UNLISTED", "AMBIGUOUS", "CONDITION"]) {
      assert.ok((codes.get(code) ?? 0) > 50, `too few ${code}: ${JSON.stringify([...codes])}`);
    }
  });
});
