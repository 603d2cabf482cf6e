import assert from "node:assert/strict";
import fc from "fast-check";
import { JsonError, parseJson, type JsonOptions } from "../../src/json/index.ts";

const OPTIONS: JsonOptions = { depth: 20 };
const valueOf = (text: string, options = OPTIONS) => parseJson(text, options).value;
/** As JSON again, for comparing objects without prototypes to others. */
const plain = (text: string): unknown => JSON.parse(JSON.stringify(valueOf(text)));

function refusalOf(
  text: string,
  options = OPTIONS,
): readonly [reason: string, position: number, message: string] {
  try {
    parseJson(text, options);
  } catch (error) {
    assert.ok(error instanceof JsonError);
    return [error.reason, error.position, error.message];
  }
  throw new Error(`${text} was read`);
}

describe("json: parseJson", () => {
  it("reads what JSON.parse reads", () => {
    const wellFormed = (text: string) => text.isWellFormed() && !text.includes("\\u0000");
    const exact = (text: string) =>
      parseJson(text, { depth: 100, anyText: true }).inexactNumberAt === undefined;
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }).filter(wellFormed).filter(exact), (text) => {
        const options = { depth: 100, anyText: true };
        assert.deepEqual(JSON.parse(JSON.stringify(valueOf(text, options))), JSON.parse(text));
        if (!text.includes("__proto__"))
          assert.deepEqual(valueOf(text, { ...options, plainObjects: true }), JSON.parse(text));
      }),
    );
  });

  it("says what is wrong, and where", () => {
    const cases: readonly (readonly [text: string, position: number, what: string])[] = [
      ["", 0, "expected a value"],
      ["\ufeff{}", 0, "expected a value"],
      ["nul", 0, "expected a value"],
      ["01", 1, "unexpected data after the end"],
      ["1 2", 2, "unexpected data after the end"],
      ["-", 0, "expected a value"],
      ["[1,]", 3, "expected a value"],
      ["[1 2]", 3, "expected `,` or `]`"],
      ["[1}", 2, "expected `,` or `]`"],
      ['{"a":1 "b":2}', 7, "expected `,` or `}`"],
      ['{"a":1,}', 7, "expected a member name"],
      ["{a:1}", 1, "expected a member name"],
      ['{"a" 1}', 5, "expected `:`"],
      ['"a', 0, "unterminated string"],
      ['["a\nb"]', 1, "a control character in a string"],
      ['["\\x"]', 5, "an invalid escape in a string"],
      ['{"a":1,} ', 7, "expected a member name"],
    ];
    for (const [text, position, what] of cases)
      assert.deepEqual(refusalOf(text), ["syntax", position, `${what}, at character ${position + 1}`], text);
  });

  it("refuses half of a surrogate pair and U+0000, unless it takes any text", () => {
    for (const [text, what] of [
      ['"\\ud800"', "an unpaired surrogate in a string, at character 9"],
      ['"\ud800"', "an unpaired surrogate in a string, at character 4"],
      ['{"\\udc00x":1}', "an unpaired surrogate in a string, at character 11"],
      ['"\\u0000"', "U+0000 in a string, at character 9"],
    ] as const) {
      const [reason, , message] = refusalOf(text);
      assert.deepEqual([reason, message], ["utf8", what]);
      assert.deepEqual(
        JSON.stringify(valueOf(text, { ...OPTIONS, anyText: true })),
        JSON.stringify(JSON.parse(text)),
      );
    }
    assert.equal(valueOf('"\\ud83d\\ude00\u{1F600}"'), "\u{1F600}\u{1F600}");
  });

  it("bounds depth and values", () => {
    const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    assert.deepEqual(plain(lists(20)), JSON.parse(lists(20)));
    assert.deepEqual(refusalOf(lists(21)), ["depth", 20, "nested more than 20 levels deep, at character 21"]);
    assert.deepEqual(refusalOf('{"a":'.repeat(21)).slice(0, 2), ["depth", 100]);
    assert.deepEqual(plain("[[],[],[]]"), [[], [], []]);
    assert.deepEqual(plain('[1,{"a":2}]'), [1, { a: 2 }]);
    assert.doesNotThrow(() => parseJson('[1,{"a":2}]', { depth: 2, values: 4 }));
    assert.deepEqual(refusalOf('[1,{"a":2}]', { depth: 2, values: 3 }), ["values", 8, "more than 3 values"]);
    assert.deepEqual(refusalOf("[1]", { depth: 0 }).slice(0, 2), ["depth", 0]);
  });

  it("tells of repeated members, of which the last one counts, and of similar ones", () => {
    const flags = (text: string) => {
      const { duplicateMember, similarMembers } = parseJson(text, OPTIONS);
      return [duplicateMember, similarMembers];
    };
    assert.deepEqual(flags('{"a":1,"b":{"a":1}}'), [false, false]);
    assert.deepEqual(flags('{"a":1,"\\u0061":2}'), [true, false]);
    assert.deepEqual(flags('[{"__proto__":1,"__proto__":2}]'), [true, false]);
    assert.deepEqual(flags('{"toString":1,"constructor":2}'), [false, false]);
    assert.deepEqual(flags('{"id":1,"ID":2}'), [false, true]);
    assert.deepEqual(flags('{"x":{"k":1,"\u212a":2}}'), [false, true]);
    assert.deepEqual(flags('{"\\u0041":1,"a":2,"a":3}'), [true, true]);
    assert.deepEqual(plain('{"a":1,"b":2,"a":3}'), { a: 3, b: 2 });
  });

  it("has NaN for a number that is not exact, and says so", () => {
    const { value, inexactNumberAt } = parseJson('{"n":9007199254740993,"l":[1,1e400]}', OPTIONS);
    assert.equal(inexactNumberAt, 5);
    assert.deepEqual({ ...(value as object) }, { n: NaN, l: [1, NaN] });
    assert.equal(parseJson('{"n":9007199254740991,"l":[0.1]}', OPTIONS).inexactNumberAt, undefined);
  });

  it("has NaN for a number that is not exact by its value alone, where its text will not be kept", () => {
    const byValue = (text: string) => parseJson(text, { ...OPTIONS, byValue: true });
    const { value, inexactNumberAt } = byValue(
      "[1, 0.1, -9007199254740991, 1.2345678901234568e20, 1e23, 1e400]",
    );
    assert.deepEqual(value, [1, 0.1, -9007199254740991, NaN, NaN, NaN]);
    assert.equal(inexactNumberAt, 28);
    assert.equal(byValue("[9007199254740992]").inexactNumberAt, 1);
    assert.equal(byValue("[1e2, 900719925474099.1]").inexactNumberAt, undefined);
  });

  it("makes objects without a prototype, or like those of JSON.parse", () => {
    const bare = valueOf('{"__proto__":{"polluted":true},"a":[{}]}') as Record<string, unknown>;
    assert.equal(Object.getPrototypeOf(bare), null);
    assert.deepEqual(Object.keys(bare), ["__proto__", "a"]);
    const text = '{"constructor":1,"toString":{"hasOwnProperty":2},"0":3}';
    const plainObjects = { ...OPTIONS, plainObjects: true };
    assert.deepEqual(valueOf(text, plainObjects), JSON.parse(text));
    assert.deepEqual(refusalOf('{"a":{"__proto__":1}}', plainObjects), [
      "syntax",
      18,
      "a member named `__proto__`, at character 19",
    ]);
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  });

  it("has no stack to run out of where the depth is bounded", () => {
    assert.equal(refusalOf("[".repeat(1_000_000), { depth: 1000 })[0], "depth");
  });
});
