import assert from "node:assert/strict";
import fc from "fast-check";
import { exactNumber } from "../../src/json/index.ts";
import { parseDocument, seenValue, type SeenValue } from "../../src/policy/mask/index.ts";
import { UNAVAILABLE } from "../../src/policy/value.ts";
import { NUMBERS_BY_EXACTNESS } from "../cases/json/numbers.ts";
import { runs } from "../support/runs.ts";
import type { LuaRunner } from "../support/lua.ts";
import { jsonDocument, jsonNumber } from "./json-arbitraries.ts";
import { startCases, type LuaCases } from "./websocket/support.ts";

/** Values are told as JSON in which each says what it is. */
const COMMANDS = `
local json = require("gatehouse.json")
local values = require("gatehouse.values")
local function told(value)
  if type(value) == "string" then return '{"string":' .. json.quote(value) .. "}" end
  if type(value) == "number" then return ("%.17g"):format(value) end
  if type(value) ~= "table" or value == values.null then return tostring(value) end
  if value == values.unavailable or value == values.opaque then return '"' .. value.kind .. '"' end
  local items = {}
  if value.kind == "list" then
    for index = 1, value.n do items[index] = told(value[index]) end
    return "[" .. table.concat(items, ",") .. "]"
  end
  local seen = {}
  for _, name in ipairs(json.names(value)) do
    if not seen[name] and not name:find("\\239\\191\\189", 1, true) then
      seen[name] = true
      items[#items + 1] = json.quote(name) .. ":" .. told(value.members[name])
      assert(value.members[name] == value.members[name])
    end
  end
  return '{"object":{' .. table.concat(items, ",") .. "}}"
end
local COMMANDS = {
  value = function(text)
    local doc, reason = json.scan(text)
    return doc and told(json.value(doc)) or reason
  end,
  number = function(text)
    local number = json.number(text)
    return number == nil and "none" or told(number)
  end,
  quote = json.quote,
  encode = function(text)
    local plain, reason = json.plain(text)
    if plain == nil then return "refused: " .. reason end
    return json.encode(plain)
  end,
  from_plain = function(text) return told(json.from_plain(json.plain(text))) end,
  names = function(text) return json.encode(json.names(json.value(json.scan(text)))) end,
  duplicates = function(text) return tostring(json.has_duplicates(json.scan(text))) end,
  lua = function(text) return tostring(assert(loadstring(text))(json, values)) end,
}
function one(items) return { COMMANDS[items[1]](items[2]) } end
`;

function told(value: SeenValue): unknown {
  if (typeof value === "string") return value.isWellFormed() ? { string: value } : "opaque";
  if (typeof value === "number") return Number.isNaN(value) ? "opaque" : value + 0;
  if (value === UNAVAILABLE) return "unavailable";
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(told);
  return {
    object: Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, told(member as SeenValue)]),
    ),
  };
}

describe("JSON values in Lua", () => {
  let runner: LuaRunner;
  let cases: LuaCases;
  before(async () => {
    ({ runner, cases } = await startCases(COMMANDS));
  });
  after(() => runner.close());

  const call = async (command: string, ...texts: (string | Buffer)[]) =>
    (await cases(texts.map((text) => [command, text]))).map(([result]) => String(result));

  it("are those that TypeScript sees, of any document", async () => {
    let unusual = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(jsonDocument, { minLength: 20, maxLength: 50 }), async (documents) => {
        const results = await call("value", ...documents);
        for (const [index, document] of documents.entries()) {
          const parsed = parseDocument(document);
          assert.ok(parsed.ok, document);
          assert.deepEqual(
            JSON.parse(results[index]!.replaceAll(/(?<=[:[,]|^)-0(?=[,\]}]|$)/g, "0")),
            told(seenValue(parsed.root)),
          );
          if (/opaque|unavailable/.test(results[index]!)) unusual += 1;
        }
      }),
      { numRuns: runs(30) },
    );
    assert.ok(unusual > 50, `${unusual} documents had a value that is compared with nothing`);
  });

  it("are numbers where these are what a double prints", async () => {
    let exact = 0;
    let rounded = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(jsonNumber, { minLength: 100, maxLength: 200 }), async (literals) => {
        for (const [index, result] of (await call("number", ...literals)).entries()) {
          const number = exactNumber(literals[index]!);
          // 0 and -0 are equal to conditions
          if (Number.isNaN(number)) assert.equal(result, '"opaque"', literals[index]);
          else assert.equal(Number(result) + 0, number + 0, literals[index]);
          if (Number.isNaN(number)) rounded += 1;
          else exact += 1;
        }
      }),
      { numRuns: runs(30) },
    );
    assert.ok(exact > 1000 && rounded > 500, `${exact} exact, ${rounded} rounded`);
    const powers = Array.from({ length: 2098 }, (_, index) => 2 ** (index - 1074));
    const written = powers.map((power) => power.toExponential());
    assert.deepEqual((await call("number", ...written)).map(Number), powers);
  });

  it("are the numbers of every other door, of the literals that all of them read", async () => {
    const results = await call("number", ...NUMBERS_BY_EXACTNESS.map(({ literal }) => literal));
    for (const [index, { literal, exact }] of NUMBERS_BY_EXACTNESS.entries()) {
      if (exact) assert.equal(Number(results[index]) + 0, Number(literal) + 0, literal);
      else assert.equal(results[index], '"opaque"', literal);
    }
  });

  it("are no numbers where the text is none", async () => {
    const texts = ["", "-", "01", "1.", "0x10", "1e", " 1", "1 ", "inf", "nan", "1\u0000", "１"];
    assert.deepEqual(new Set(await call("number", ...texts)), new Set(["none"]));
  });

  it("are found by name in objects of any size, and are unavailable where that stands twice", async () => {
    const object = `{${Array.from({ length: 50 }, (_, index) => `"n${index}":${index}`).join(",")},"n7":0,"\\u006e8":0}`;
    const [asked] = await call(
      "lua",
      `local json, values = ...
       local value = json.value(json.scan('${object.replaceAll("\\", "\\\\")}'))
       local found = {}
       for index = 0, 50 do
         local member = value.members["n" .. index]
         found[#found + 1] = member == values.unavailable and "u" or tostring(member)
       end
       return table.concat(found, " ")`,
    );
    const expected = Array.from({ length: 51 }, (_, index) =>
      index === 7 || index === 8 ? "u" : String(index),
    );
    assert.equal(asked, [...expected.slice(0, 50), "nil"].join(" "));
  });

  it("are strings as JSON.stringify writes them", async () => {
    const texts = [
      Array.from({ length: 0x82 }, (_, code) => String.fromCharCode(code)).join(""),
      "é€\u{1F600}\u2028\u2029\ufeff\uffff\u{10ffff}",
      "",
      "/</script>",
    ];
    assert.deepEqual(
      await call("quote", ...texts),
      texts.map((text) => JSON.stringify(text)),
    );
  });

  it("are strings of UTF-8 whatever the bytes are", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 12 }), { minLength: 100, maxLength: 100 }),
        async (all) => {
          for (const [index, [result]] of (
            await cases(all.map((bytes) => ["quote", Buffer.from(bytes)]))
          ).entries()) {
            const written = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(result)) as string;
            // decoders differ in how many U+FFFD they put in
            const squeeze = (text: string) => text.replaceAll(/\ufffd+/g, "\ufffd");
            assert.equal(
              squeeze(written),
              squeeze(new TextDecoder("utf-8", { ignoreBOM: true }).decode(all[index])),
            );
          }
        },
      ),
      { numRuns: runs(20) },
    );
  });

  it("that came from the service are plain tables, and go back to the same", async () => {
    const plain =
      '{"a":[1,-2.5,1e21,0.1,9007199254740993,1e+22],"b":{"x":null,"y":true,"z":false},"c":"\\u00e9\\n","d":[],"e":[[],null]}';
    assert.deepEqual(JSON.parse((await call("encode", plain))[0]!), JSON.parse(plain));
    const [value] = await call("from_plain", '{"a":[],"b":{},"c":[1,{"d":null}],"e":"\\ud800"}');
    assert.deepEqual(JSON.parse(value!), {
      object: { a: [], b: { object: {} }, c: [1, { object: { d: null } }], e: "opaque" },
    });
  });

  it("that came from the service are refused where they can be read in two ways", async () => {
    assert.deepEqual(await call("encode", '{"a":1,"a":2}', '{"a":{"\\ud800":1}}', "[1", "", "\ufeff[]"), [
      "refused: duplicate",
      "refused: duplicate",
      "refused: syntax",
      "refused: syntax",
      "refused: syntax",
    ]);
    assert.deepEqual(
      await call("duplicates", '{"a":{"a":1},"b":{"a":1}}', '[{"b":1,"\\u0062":1}]', '{"\\ud800":1}'),
      ["false", "true", "true"],
    );
  });

  it("that came from the service may be nested as deep as the deepest plan", async () => {
    const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    const told = await call("from_plain", lists(1100), objects(1100));
    assert.deepEqual(told, [lists(1100), `${'{"object":{"a":'.repeat(1100)}1${"}}".repeat(1100)}`]);
    assert.deepEqual(await call("encode", lists(1101), objects(1101)), ["refused: depth", "refused: depth"]);
  });

  it("are written in a way that JSON allows, whatever the table holds", async () => {
    const written = await call(
      "lua",
      "return (...).encode({ b = 1/0, a = 0/0, c = print, [3] = 1, d = { kind = 'list' }, e = 1e15, f = 1763733474123, g = 0.1 })",
      "local json, values = ... return json.encode({ values.null, '\\255', true, {}, { { x = {} } } })",
      "local deep = {} deep[1] = deep return (...).encode(deep)",
      "local json = ... return select('#', json.scan(nil), json.scan({}), json.plain(7)) .. tostring(json.plain(nil))",
    );
    assert.equal(
      written[0],
      '{"a":null,"b":null,"c":null,"d":{"kind":"list"},"e":1e+15,"f":1763733474123,"g":0.1}',
    );
    assert.equal(written[1], '[null,"\ufffd",true,[],[{"x":[]}]]');
    assert.equal(written[3], "4nil");
    assert.equal(written[2], `${"[".repeat(64)}null${"]".repeat(64)}`);
  });

  it("have their names told in order, as often as they stand there", async () => {
    assert.deepEqual(await call("names", '{"b":1,"\\u0061":{"x":1},"b":2,"\\udead!":3}', "{}"), [
      '["b","a","b","\ufffd!"]',
      "[]",
    ]);
  });

  it("never raise: random bytes, and documents that were cut or hit", async () => {
    const hit = fc.tuple(jsonDocument, fc.nat(), fc.nat(255)).map(([document, place, byte]) => {
      const bytes = Buffer.from(document);
      if (bytes.length > 0) bytes[place % bytes.length] = byte;
      return bytes;
    });
    const cut = fc.tuple(jsonDocument, fc.nat()).map(([document, place]) => {
      const bytes = Buffer.from(document);
      return bytes.subarray(0, place % (bytes.length + 1));
    });
    const alphabet = fc.array(fc.constantFrom(...Array.from('[]{}",:\\u0123eE+-.tfn l'), "\u0000", "é"), {
      maxLength: 20,
    });
    const some = fc.oneof(
      hit,
      cut,
      alphabet.map((all) => Buffer.from(all.join(""))),
      fc.uint8Array().map((all) => Buffer.from(all)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(some, { minLength: 100, maxLength: 200 }), async (all) => {
        for (const [index, [result]] of (await cases(all.map((bytes) => ["value", bytes]))).entries()) {
          const bytes = all[index]!;
          const parsed = parseDocument(bytes.toString());
          const isUtf8 = Buffer.from(bytes.toString()).equals(bytes);
          if (isUtf8) assert.equal(/^(syntax|depth)$/.test(String(result)), !parsed.ok, bytes.toString());
          else assert.match(String(result), /^(syntax|utf8)$/);
        }
      }),
      { numRuns: runs(30) },
    );
  });
});
