import assert from "node:assert/strict";
import { JsonError, parseJson } from "../../src/json/index.ts";
import { parseDocument } from "../../src/policy/mask/index.ts";
import {
  COUNTED,
  DEPTH,
  MALFORMED,
  TOO_DEEP,
  WELL_FORMED,
  type JsonDocument,
} from "../cases/json/documents.ts";
import type { LuaRunner } from "../support/lua.ts";
import { startCases, type LuaCases } from "./websocket/support.ts";

const VERDICT = `
local json = require("gatehouse.json")
local mask = require("gatehouse.mask")
local field = json.plain('[{"rule":"r","anchored":false,"keys":["a"],"action":{"kind":"ACTION"}}]')
local context = { evaluate = function() return true end }
function one(items)
  local doc, reason, position = json.scan(items[1], items[2] and { values = tonumber(items[2]) })
  local results = { doc and "ok" or reason .. " " .. position }
  for _, action in ipairs({ "full", "remove", "other" }) do
    field[1].action.kind = action == "other" and "full" or action
    field[1].keys[1] = action == "other" and "no such name" or "a"
    local result, why = mask.apply(items[1], { fields = { field[1] } }, context)
    results[#results + 1] = result and result.text or "refused"
  end
  return results
end
`;

/** What a document says, by other means; `undefined` where it is not well-formed. */
function meaningOf(bytes: Buffer): { value: unknown } | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Masked by other means; of names that stand twice, `JSON.parse` keeps the last, and the same is done to each. */
function masked(value: unknown, action: "full" | "remove"): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, action));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== "a" || action !== "remove");
  return Object.fromEntries(
    members.map(([name, member]) => [name, name === "a" ? "***" : masked(member, action)]),
  );
}

describe("JSON documents in Lua", () => {
  let runner: LuaRunner;
  let cases: LuaCases;
  before(async () => {
    ({ runner, cases } = await startCases(VERDICT));
  });
  after(() => runner.close());

  const evaluated = async (documents: readonly JsonDocument[]) =>
    cases(documents.map(({ bytes }) => [bytes]));

  it("that are well-formed are taken, and masked they mean the same but for the masked", async () => {
    assert.ok(WELL_FORMED.length > 900);
    for (const [index, results] of (await evaluated(WELL_FORMED)).entries()) {
      const { name, bytes } = WELL_FORMED[index]!;
      const meaning = meaningOf(bytes);
      assert.ok(meaning, name);
      const [verdict, full, removed, other] = results.map(String);
      assert.equal(verdict, "ok", name);
      assert.deepEqual(JSON.parse(full!), masked(meaning.value, "full"), name);
      assert.deepEqual(JSON.parse(removed!), masked(meaning.value, "remove"), name);
      assert.equal(other, bytes.toString(), name);
      assert.ok(parseDocument(bytes.toString()).ok, name);
    }
  });

  it("that are not well-formed never come out", async () => {
    assert.ok(MALFORMED.length > 900);
    for (const [index, results] of (await evaluated(MALFORMED)).entries()) {
      const { name, bytes } = MALFORMED[index]!;
      assert.equal(meaningOf(bytes), undefined, name);
      const [verdict, ...delivered] = results.map(String);
      assert.match(verdict!, /^(syntax|utf8) \d+$/, name);
      assert.deepEqual(delivered, ["refused", "refused", "refused"], name);
      // a JavaScript string cannot hold bytes that are not UTF-8
      if (Buffer.from(bytes.toString()).equals(bytes)) {
        assert.deepEqual(parseDocument(bytes.toString()), { ok: false, reason: "syntax" }, name);
      }
    }
  });

  it("that are nested too deep are refused, whatever follows", async () => {
    for (const [index, [verdict, ...delivered]] of (await evaluated(TOO_DEEP)).entries()) {
      const { name, bytes } = TOO_DEEP[index]!;
      assert.match(String(verdict), /^depth \d+$/, name);
      assert.deepEqual(delivered.map(String), ["refused", "refused", "refused"], name);
      assert.deepEqual(parseDocument(bytes.toString()), { ok: false, reason: "depth" });
    }
    assert.equal(DEPTH, 256);
  });

  it("that have more values than may be are refused", async () => {
    const counted = COUNTED.flatMap(([text, count]) => [
      { text, values: count, fits: true },
      { text, values: count - 1, fits: false },
    ]);
    const results = await cases(counted.map(({ text, values }) => [text, String(values)]));
    for (const [index, { text, values, fits }] of counted.entries()) {
      assert.match(String(results[index]![0]), fits ? /^ok$/ : /^values \d+$/, `${text} ${values}`);
      const read = parseDocument(text, values);
      assert.equal(read.ok || read.reason, fits || "values", text);
      const body = () => parseJson(text, { depth: 10, values });
      if (fits) assert.doesNotThrow(body, text);
      else assert.throws(body, (error) => error instanceof JsonError && error.reason === "values", text);
    }
  });

  it("that are refused say where: at the byte that cannot go on", async () => {
    const where = async (bytes: Buffer) => String((await cases([[bytes]]))[0]![0]);
    assert.equal(await where(Buffer.from('{"a":1,}')), "syntax 7");
    assert.equal(await where(Buffer.from('["é\\x"]')), "syntax 4");
    assert.equal(await where(Buffer.from("[1] 2")), "syntax 4");
    assert.equal(
      await where(Buffer.concat([Buffer.from('["a'), Buffer.of(0xff), Buffer.from('"]')])),
      "utf8 3",
    );
    assert.equal(await where(Buffer.from("[".repeat(300))), "depth 256");
  });
});
