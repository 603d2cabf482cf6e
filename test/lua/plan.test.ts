import assert from "node:assert/strict";
import { startLua, type LuaRunner } from "../support/lua.ts";

/**
 * Reads `count` different plans, each made ready for masking as for an answer, and says how many KiB are held then, which
 * of them are still kept, and whether one that was asked for all the time was ever made again.
 */
const DRIVER = `
local mask_fields = require("gatehouse.mask_fields")
local plan = require("gatehouse.plan")

local MAKE = {
  fields = function(n)
    local fields = {}
    for field = 1, 200 do
      fields[field] = ('{"keys":["key-%d-%d"],"action":{"kind":"full"}}'):format(n, field)
    end
    return table.concat(fields, ",")
  end,
  tables = function(n) return ('{"keys":["%d"],"action":{"kind":"full"},"x":[%s[]]}'):format(n, ("[],"):rep(4000)) end,
  numbers = function(n) return ('{"keys":["%d"],"action":{"kind":"full"},"x":[%s1]}'):format(n, ("1,"):rep(8000)) end,
  texts = function(n) return ('{"keys":["%s-%d"],"action":{"kind":"full"}}'):format(("x"):rep(30000), n) end,
  tiny = function(n) return ('{"keys":["%d"],"action":{"kind":"full"}}'):format(n) end,
  huge = function(n) return ('{"keys":["%s-%d"],"action":{"kind":"full"}}'):format(("x"):rep(2000000), n) end,
}

local function read(shape, n)
  local text = '{"ir":1,"response":{"limit":1,"fields":[' .. MAKE[shape](n) .. ']}}'
  local made = plan.read(text)
  assert(mask_fields.of(made.response.fields))
  return made
end

function run(input)
  local shape, count = input:match("^(%a+) (%d+)$")
  local first, remade = read("tiny", -1), 0
  for n = 1, tonumber(count) do
    read(shape, n)
    if read("tiny", -1) ~= first then remade = remade + 1 end
  end
  local last = read(shape, tonumber(count)) == read(shape, tonumber(count))
  first = nil
  collectgarbage()
  collectgarbage()
  return table.concat({ math.floor(collectgarbage("count")), remade, tostring(last) }, " ")
end
`;

describe("plans that Lua keeps", () => {
  let runner: LuaRunner;
  before(async () => {
    runner = await startLua(DRIVER);
  });
  after(() => runner.close());

  const read = async (shape: string, count: number) => {
    const [kib = "", remade, last] = (await runner.call(`${shape} ${count}`)).toString().split(" ");
    return { kib: Number(kib), remade: Number(remade), last: last === "true" };
  };

  const SHAPES: readonly (readonly [string, number])[] = [
    ["fields", 250],
    ["tables", 150],
    ["numbers", 200],
    ["texts", 800],
    ["tiny", 20_000],
    ["huge", 9],
  ];
  for (const [shape, count] of SHAPES) {
    it(`are bounded by what they weigh: ${shape}`, async () => {
      const { kib, remade, last } = await read(shape, count);
      assert.ok(kib < 16 * 1024, `${kib} KiB are held`);
      assert.equal(remade, 0, "what is in use stays");
      assert.equal(last, shape !== "huge", "the last is kept, unless it would take the place of many");
    });
  }
});
