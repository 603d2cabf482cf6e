import assert from "node:assert/strict";
import fc from "fast-check";
import { runs } from "../../support/runs.ts";
import type { LuaRunner } from "../../support/lua.ts";
import { graphqlTexts } from "./arbitraries.ts";
import { startBatches, type LuaBatch } from "./support.ts";
import { PRINT_TREE, treeOf } from "./trees.ts";

describe("GraphQL documents in Lua", () => {
  let runner: LuaRunner;
  let batch: LuaBatch;
  before(async () => {
    ({ runner, batch } = await startBatches(PRINT_TREE));
  });
  after(() => runner.close());

  const texts = [
    "{a}",
    "query{a}",
    "query Q($a:[Int!]!=3@x(a:1),$b:T={c:[1 $d]}){a}",
    'query Q($a:[Int!]!=3@x(a:1)){a:b(c:$a d:[1,-2.5e3,{e:"x"}])@skip(if:$a) ...F ...on X{y} ...{z} ...@a{b}}fragment F on T{q}',
    "",
    " ",
    "# only\n",
    "\uFEFF{a}",
    "{\uFEFFa,,b}",
    "{a}# end",
    "{a}{b}",
    "{}",
    "{a(){b}}",
    "{a(b:)}",
    "query Q(){a}",
    "query Q a{b}",
    "query on{a}",
    "query query{query fragment on true}",
    "queri{a}",
    "{a:b:c}",
    "{...on}",
    "{...on on{a}}",
    "{...On}",
    "{...onX}",
    "{... on X}",
    "fragment on on X{a}",
    "fragment F on on{a}",
    "fragment F on X@y(a:$b){a}",
    "fragment F($a:Int) on X{a}",
    "fragment F X{a}",
    "{a(b:$c)}",
    "{a(b:$ c)}",
    "query($a:Int=$b){a}",
    "query($a:Int@x(y:$b)){a}",
    "query($a:Int!!){a}",
    "query($a:[Int){a}",
    'query("about a"$a:Int){a}',
    '"about"query{a}',
    '"""about"""fragment F on X{a}',
    '"about"{a}',
    '"about" "twice" query{a}',
    '"about"type X{a:Int}',
    "type X{a:Int}",
    "{a}type X{a:Int}",
    "extend type X@y",
    "schema{query:Q}",
    "{a..b}",
    "{....a}",
    "{a'b'}",
    "{a&b}",
    "{é}",
    "{a\u2028}",
    "{a\u0000}",
    "{a\u000b}",
    ...[
      "0",
      "-0",
      "00",
      "-01",
      "1.",
      ".5",
      "1.5",
      "1.5.5",
      "1e5",
      "1E+5",
      "1e",
      "1e+",
      "0x1",
      "1a",
      "1_",
      "-",
      "+1",
    ].map((number) => `{a(b:${number})}`),
    ...["1.e1", "0.0", "0e0", "0b", "1$c", "1#\n", "1[]", "-a", "1-1", "1e1.1", "1e1e1"].map(
      (number) => `{a(b:${number} )}`,
    ),
    ...[
      '""',
      '"',
      '"a',
      '"a\n"',
      '"a\r"',
      '"\u2028\u0001\u0000"',
      '"\\q"',
      '"\\',
      '"\\"',
      '"\\u12"',
      '"\\u12G4"',
    ].map((string) => `{a(b:${string})}`),
    ...[
      "D83D\\uDE00",
      "D83D",
      "DE00",
      "D83D\\u0041",
      "D83DDE00",
      "d83d\\ude00",
      "DE00\\uD83D",
      "FFFF",
      "D83D\\u{DE00}",
    ].map((digits) => `{a(b:"\\u${digits}")}`),
    ...[
      "{}",
      "{0}",
      "{1F600}",
      "{10FFFF}",
      "{110000}",
      "{D800}",
      "{00000041}",
      "{000000041}",
      "{41",
      "{4g}",
      "{FFFFFFFF}",
    ].map((digits) => `{a(b:"\\u${digits}")}`),
    ...[
      '""""""',
      '"""',
      '""""',
      '"""a""',
      '"""a"""b',
      '"""a\\"""b"""',
      '"""\\"""',
      '"""a\\""""',
      '"""""""',
    ].map((string) => `{a(b:${string})}`),
    ...[
      "\n  a\n    b\n  c\n",
      "a\n  b",
      "  a\n b",
      "\r\n\r  a\r",
      " \n\t\n ",
      "\n\ta\n \tb\n",
      "a\n   \n b ",
      "\\n\\u0041",
    ].map((string) => `{a(b:"""${string}""")}`),
  ];

  it("are read as graphql-js reads them", async () => {
    const read = await batch(texts);
    for (const [index, text] of texts.entries()) assert.equal(read[index], treeOf(text), text);
    assert.ok(read.filter((tree) => tree !== "GRAPHQL_MALFORMED").length > 40);
  });

  it("are cut off anywhere as graphql-js reads them", async () => {
    const whole = `query Q($a:[Int!]! = 3 @x(a: 1)) { a: b(c: $a, d: [1, -2.5e3, {e: "x\\u{41}\\uD83D\\uDE00"}]) # c
      @skip(if: $a) ...F ... on X { y(z: """ a\n  \\""" """) } } fragment F on T { q }`;
    const cut = Array.from(whole, (_, index) => whole.slice(0, index));
    assert.deepEqual(await batch(cut), cut.map(treeOf));
  });

  it("that are generated are read as graphql-js reads them", async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(graphqlTexts, { minLength: 50, maxLength: 100 }), async (some) => {
        const expected = some.map(treeOf);
        const read = await batch(some);
        for (const [index, text] of some.entries()) assert.equal(read[index], expected[index], text);
        accepted += expected.filter((tree) => tree !== "GRAPHQL_MALFORMED").length;
      }),
      // the message names the one text of the batch; shrinking the batch would take minutes
      { numRuns: runs(20), endOnFailure: true },
    );

    assert.ok(accepted > 100, `${accepted} documents were well-formed`);
  });

  const nested = (open: string, close: string, times: number) => open.repeat(times) + close.repeat(times);

  it("are refused where brackets are nested too deep, without recursion", async () => {
    const [deepest, ...refused] = await batch([
      nested("{a", "}", 200),
      nested("{a", "}", 201),
      `{a(b:${nested("[", "]", 199)})}`,
      `{a(b:${nested("{c:", "}", 100_000)})}`,
      `query($a:${nested("[", "]", 300)}){a}`,
      "{a".repeat(100_000),
    ]);
    assert.match(deepest ?? "", /^\(query nil/);
    assert.deepEqual(new Set(refused), new Set(["GRAPHQL_LIMIT_EXCEEDED"]));
    assert.equal(refused.length, 5);
  });

  it("are refused where they have too many tokens; comments are none", async () => {
    const most = `{${"a ".repeat(9_998)}}`;
    const results = await batch([
      most,
      `#${"a ".repeat(20_000)}\n${most}#`,
      `{${"a ".repeat(9_999)}}`,
      `{${"a ".repeat(9_999)}'`,
    ]);
    assert.deepEqual(
      results.map((result) => result.slice(0, 10)),
      ["(query nil", "(query nil", "GRAPHQL_LI", "GRAPHQL_MA"],
    );
  });
});
