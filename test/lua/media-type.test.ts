import assert from "node:assert/strict";
import fc from "fast-check";
import { fitsKind, mediaKind, otherKind } from "../../src/policy/mask/index.ts";
import type { LuaRunner } from "../support/lua.ts";
import { runs } from "../support/runs.ts";
import { BODY_CASES, TYPE_CASES } from "../policy/media-type-cases.ts";
import { startCases, type LuaCases } from "./websocket/support.ts";

/** As the filter has it: slice by slice, until one tells. */
const DRIVER = `
local media_type = require("gatehouse.media_type")
local other_types = require("gatehouse.other_types")
function one(items)
  if items[1] == "type" then return { tostring(media_type.of(items[2])), tostring(media_type.other(items[2])) } end
  local read = other_types.reader(items[2])
  for at = 1, #items[3], 3 do
    local verdict = read(items[3]:sub(at, at + 2))
    if verdict ~= nil then return { tostring(verdict) } end
  end
  return { tostring(read("") == nil) }
end
`;

describe("media types in Lua", () => {
  let runner: LuaRunner;
  let cases: LuaCases;
  before(async () => {
    ({ runner, cases } = await startCases(DRIVER));
  });
  after(() => runner.close());

  const kindsOf = async (values: readonly string[]) =>
    (await cases(values.map((value) => ["type", Buffer.from(value, "latin1")]))).map((kinds) =>
      kinds.map(String).filter((kind) => kind !== "nil"),
    );

  it("are what the cases say", async () => {
    const kinds = await kindsOf(TYPE_CASES.map(([value]) => value));
    for (const [index, [value, expected]] of TYPE_CASES.entries())
      assert.deepEqual(kinds[index], expected === "none" ? [] : [expected], value);
  });

  it("are compared with the way the body begins as the cases say", async () => {
    const verdicts = await cases(BODY_CASES.map(([kind, body]) => ["body", kind, body]));
    for (const [index, [kind, body, expected]] of BODY_CASES.entries())
      assert.equal(String(verdicts[index]?.[0]), String(expected), `${kind} ${body.toString("latin1")}`);
  });

  it("are the same as in TypeScript", async () => {
    const piece = fc.constantFrom(
      ...[
        "text/csv",
        "text/html",
        "application/json",
        "image/png",
        "x+json",
        "+xml",
        "application/",
        "foo_bar",
        "text/",
      ],
      ...[
        ";",
        "; ",
        "=",
        '"',
        ",",
        " ",
        "\t",
        "\\",
        "charset",
        "charset=utf-8",
        "charset*=",
        "a=b",
        "utf-16",
        "*",
      ],
    );
    const value = fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join(""));
    const bytes = Array.from(" \t\n\0\xef\xbb\xbf\xfe\xff{[<a\x01()/*,\"\\=&'", (one) =>
      Buffer.from(one, "latin1"),
    );
    const words = [
      "for",
      "while(",
      "typeof ",
      "throw ",
      "1;",
      "callback",
      "/*",
      "*/",
      "({",
      "([",
      "({a:1",
    ].concat(...["var ", '={"', '{"', "&&", ")(", "',"]);
    const part = fc.constantFrom(...bytes, ...words.map((word) => Buffer.from(word)));
    const wide = words.map((word) => Buffer.from(word, "utf16le"));
    const widePart = fc.constantFrom(...wide, ...wide.map((word) => Buffer.from(word).swap16()));
    const body = fc
      .oneof(fc.array(part, { maxLength: 9 }), fc.array(widePart, { maxLength: 7 }))
      .map((parts) => Buffer.concat(parts));
    const [values, bodies] = [fc.sample(value, runs(3000)), fc.sample(body, runs(6000))];
    const kinds = await kindsOf(values);
    for (const [index, one] of values.entries())
      assert.deepEqual(
        kinds[index],
        [mediaKind(one), otherKind(one)].filter((kind) => kind !== undefined),
        one,
      );
    for (const kind of ["markup", "data"] as const) {
      const verdicts = await cases(bodies.map((one) => ["body", kind, one]));
      for (const [index, one] of bodies.entries())
        assert.equal(String(verdicts[index]?.[0]), String(fitsKind(kind, one)), one.toString("hex"));
    }
  });
});
