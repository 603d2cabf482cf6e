import assert from "node:assert/strict";
import { memberNames, similarMember, type MemberNames } from "../../src/names/index.ts";
import type { Spellings } from "../../src/names/spellings.ts";
import { startLua, type LuaRunner } from "../support/lua.ts";

/** How many letters of a name were followed before it was known what it is. */
interface Followed {
  readonly read: string | false;
  readonly letters: number;
}

/** Counts what is asked of spellings. */
const DRIVER = `
local json = require("gatehouse.json")
local names = require("gatehouse.names")
local letters = 0
local function counted(spellings)
  local below = {}
  for code, next in pairs(spellings) do below[code] = code == "read" and next or counted(next) end
  return setmetatable({}, { __index = function(_, code)
    if code ~= "read" then letters = letters + 1 end
    return below[code]
  end })
end
function run(input)
  local read, text = input:match("^(%S+) (.*)$")
  local level = names.level({ { read } })
  level.spellings = counted(level.spellings)
  letters = 0
  return json.encode({ read = names.similar(json.value(json.scan(text)), level) or false, letters = letters })
end
`;

function inTypeScript(read: string, value: object): Followed {
  let letters = 0;
  class Counted extends Map<number, Spellings> {
    override get(code: number): Spellings | undefined {
      letters += 1;
      return super.get(code);
    }
  }
  const counted = ({ next, ...more }: Spellings): Spellings => ({
    ...more,
    next: new Counted(Array.from(next, ([code, below]) => [code, counted(below)] as const)),
  });
  const names = memberNames([[read]]);
  const slow: MemberNames = { ...names, spellings: counted(names.spellings) };
  return { read: similarMember(value, slow) ?? false, letters };
}

/** Each name, as often as fits into 1 MB, and how many letters of it are followed where a rule reads `admin`. */
const LONG: readonly (readonly [name: string, letters: number])[] = [
  ["a.".repeat(490_000), 3],
  ["admin.".repeat(160_000), 7],
  ["a_d-m+i n[]".repeat(80_000), 7],
  ["É".repeat(490_000), 4],
  ["x".repeat(980_000), 2],
  [".".repeat(980_000), 0],
  ["_".repeat(980_000), 0],
  ["\u00a0".repeat(490_000), 0],
  [`a${"_".repeat(980_000)}x`, 3],
  ["0.".repeat(490_000), 2],
];

describe("a name is followed as far as it could be one that a rule reads", () => {
  let lua: LuaRunner;
  before(async () => {
    lua = await startLua(DRIVER);
  });
  after(() => lua.close());

  const inLua = async (read: string, value: object) =>
    JSON.parse((await lua.call(`${read} ${JSON.stringify(value)}`)).toString()) as Followed;

  for (const [name, most] of LONG) {
    it(`${JSON.stringify(name.slice(0, 12))} of ${name.length} letters: ${most} of them at most, twice`, async () => {
      for (const followed of [inTypeScript("admin", { [name]: 1 }), await inLua("admin", { [name]: 1 })]) {
        assert.equal(followed.read, false);
        // with and without the numbers of items
        assert.ok(followed.letters <= 2 * most, String(followed.letters));
      }
    });
  }

  it("each of many names, too", async () => {
    const value = Object.fromEntries(
      Array.from({ length: 9_900 }, (_, index) => [`x.${"a.É".repeat(14)}${index}`, 1]),
    );
    for (const followed of [inTypeScript("admin", value), await inLua("admin", value)]) {
      assert.equal(followed.read, false);
      assert.ok(followed.letters <= 2 * 9_900, String(followed.letters));
    }
  });

  it("to its end, however long it is, where all of it is set aside or numbers of items", async () => {
    const names = [
      `admin${".0".repeat(490_000)}`,
      `${"_".repeat(490_000)}ad${" ".repeat(490_000)}min`,
      `adm${"\u2003".repeat(300_000)}in`,
      `Ad.${"7][".repeat(300_000)}min`,
    ];
    for (const name of names) {
      assert.equal(inTypeScript("admin", { [name]: 1 }).read, "admin");
      assert.equal((await inLua("admin", { [name]: 1 })).read, "admin");
    }
  });
});
