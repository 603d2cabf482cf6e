import assert from "node:assert/strict";
import fc from "fast-check";
import { fitsKind, mediaKind, otherKind } from "../../src/policy/mask/index.ts";
import type { LuaRunner } from "../support/lua.ts";
import { runs } from "../support/runs.ts";
import { BODY_CASES, TYPE_CASES } from "../policy/media-type-cases.ts";
import { startCases, type LuaCases } from "./websocket-support.ts";

/** As the filter has it: slice by slice, until one tells. */
const DRIVER = `
local media_type = require("gatehouse.media_type")
local other_types = require("gatehouse.other_types")
function one(items)
  if items[1] == "type" then return { tostring(media_type.of(items[2])), tostring(media_type.other(items[2])) } end
  for at = 1, #items[3], 3 do
    local verdict = other_types.fits(items[2], items[3]:sub(at, at + 2))
    if verdict ~= nil then return { tostring(verdict) } end
  end
  return { tostring(other_types.fits(items[2], "") == nil) }
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
    const byte = fc.constantFrom(...Buffer.from(" \t\n\0\xef\xbb\xbf\xfe\xff{[<a\x01", "latin1"));
    const body = fc.array(byte, { maxLength: 9 }).map((bytes) => Buffer.from(bytes));
    const [values, bodies] = [fc.sample(value, runs(3000)), fc.sample(body, runs(3000))];
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
