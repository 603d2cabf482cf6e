import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { load } from "js-yaml";
import { LETTER_RUNS, LETTER_TEXTS } from "../../src/names/case-folds.ts";
import { memberNames, similarMember } from "../../src/names/index.ts";
import { startLua, type LuaRunner } from "../support/lua.ts";
import { runs } from "../support/runs.ts";

interface CaseGroup {
  readonly reads: readonly string[];
  readonly similar?: readonly (readonly [value: unknown, read: string])[];
  readonly free?: readonly unknown[];
}

interface Case {
  readonly paths: readonly (readonly string[])[];
  readonly value: unknown;
}

const GROUPS = load(
  readFileSync(new URL("../cases/names.yaml", import.meta.url), "utf8"),
) as readonly CaseGroup[];

const DRIVER = `
local json = require("gatehouse.json")
local names = require("gatehouse.names")
function run(input)
  local found = {}
  for index, case in ipairs(json.plain(input)) do
    local value = json.value(json.scan(case.text))
    found[index] = names.similar(value, names.level(case.paths)) or false
  end
  return json.encode(found)
end
`;

/** A name with a dot in quotes is one name: paths of the cases are split at dots outside of brackets. */
const pathOf = (text: string) => (text.includes("[") ? [text] : text.split("."));

const published = GROUPS.flatMap(({ reads, similar = [], free = [] }) => {
  const paths = reads.map(pathOf);
  return [
    ...similar.map(([value, read]) => ({ paths, value, read })),
    ...free.map((value) => ({ paths, value, read: undefined })),
  ];
});

/** Every letter that has a case or is folded to others, and some that are nothing of that kind. */
function letters(): string[] {
  const codes = [...LETTER_RUNS, ...LETTER_TEXTS].flatMap((line) => line.split(" "));
  const all = codes.flatMap((one) => one.split(",").map((code) => parseInt(code, 16)));
  return [...new Set([...all, 0x430, 0x4e00, 0xe000, 0xfffd, 0x1f600, 0x10ffff])].map((code) =>
    String.fromCodePoint(code),
  );
}

describe("names in Lua and in TypeScript", () => {
  let lua: LuaRunner;
  before(async () => {
    lua = await startLua(DRIVER);
  });
  after(() => lua.close());

  const inLua = async (cases: readonly Case[]) => {
    const input = cases.map(({ paths, value }) => ({ paths, text: JSON.stringify(value) }));
    return JSON.parse((await lua.call(JSON.stringify(input))).toString()) as (string | false)[];
  };
  const inTypeScript = (cases: readonly Case[]) =>
    cases.map(({ paths, value }) => similarMember(value, memberNames(paths)) ?? false);

  it("are what the published cases say", async () => {
    const expected = published.map(({ read }) => read ?? false);
    const shown = (found: readonly unknown[]) =>
      published.map(({ value }, index) => `${JSON.stringify(value)}: ${String(found[index])}`);
    assert.deepEqual(shown(inTypeScript(published)), shown(expected));
    assert.deepEqual(shown(await inLua(published)), shown(expected));
  });

  it("fold every letter alike", async () => {
    const cases = letters().flatMap((letter): Case[] => {
      const paths = [[`a${letter}`]];
      const others = [letter.toUpperCase(), letter.toLowerCase(), `_${letter}`, `${letter}a`];
      return others.map((other) => ({ paths, value: { [`a${other}`]: 1 } }));
    });
    assert.deepEqual(await inLua(cases), inTypeScript(cases));
  });

  it("agree on whatever names there are", async () => {
    const piece = fc.constantFrom(
      ...["a", "A", "b", "0", "1", ".", "[", "]", "_", "-", " ", "+", "&", "=", ";", "\0", "\t", "\x7f"],
      ...[
        "\u00a0",
        "\u2003",
        "\ufeff",
        "\u017f",
        "s",
        "\u212a",
        "k",
        "\u0130",
        "i",
        "\u00df",
        "\u{10400}",
        "\u{10428}",
      ],
    );
    const name = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(1, "a", null),
        fc.dictionary(name, tie("value"), { maxKeys: 4 }),
        fc.array(tie("value"), { maxLength: 2 }),
      ),
    }));
    const paths = fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { maxLength: 3 });
    const cases = fc.array(fc.record({ paths, value }), { minLength: 300, maxLength: 300 });
    let similar = 0;
    await fc.assert(
      fc.asyncProperty(cases, async (all) => {
        const expected = inTypeScript(all);
        assert.deepEqual(await inLua(all), expected);
        similar += expected.filter((read) => read !== false).length;
      }),
      { numRuns: runs(10) },
    );
    assert.ok(similar > 100, String(similar));
  });
});
