import assert from "node:assert/strict";
import fc from "fast-check";
import { readingsOf } from "../../src/text/index.ts";
import { runs } from "../support/runs.ts";
import { encoded } from "./encodings.ts";

const textsOf = (text: string) => readingsOf(text).readings.map((reading) => reading.text);

describe("text: readings", () => {
  it("are the text alone where nothing is encoded", () => {
    for (const text of [
      "",
      "/a/b",
      "a b",
      "100%",
      "a=b",
      "x&y",
      "&copy;",
      "\\n",
      "%4g",
      "&#;",
      "=4",
      "\\u{110000}",
    ])
      assert.deepEqual(
        readingsOf(text),
        { readings: [{ text, quotedPrintable: false }], unfinished: false },
        text,
      );
  });

  for (const [text, ...expected] of [
    ["%40", "@"],
    ["%2540", "%40", "@"],
    ["%2525%2534%2530", "%25%34%30", "%40", "@"],
    ["%5Cu0040", "\\u0040", "@"],
    ["%u0040", "@"],
    ["%EF%BC%A0", "\uff20"],
    ["%C3%25AB", "\xc3%AB", "\xeb"],
    ["%EB", "\xeb"],
    ["%C0%80", "\xc0\x80"],
    ["%ED%A0%80", "\xed\xa0\x80"],
    ["%F0%9F%98%80", "\u{1f600}"],
    ["\\ud83d\\uDE00", "\u{1f600}"],
    ["\\\\u0040", "\\u0040", "@"],
    ['\\x40\\u{0040}\\/\\"', '@@/"'],
    ["&#64;&#x40;&#64&#X0040;&commat;&COMMAT;", "@@@@@@"],
    ["&amp;#64;", "&#64;", "@"],
    ["&#6%34;", "\x06%34;", "&#64;", "\x064;", "@"],
    ["&#x110000;%41", "&#x110000;A"],
    ["=40", "@"],
    ["a=\r\n=\nb", "ab"],
    ["=C3=AB", "\xeb"],
  ] as const)
    it(`of ${JSON.stringify(text)} are ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(textsOf(text).sort(), [text, ...expected].sort());
    });

  it("say which of them go by way of quoted-printable alone", () => {
    const { readings } = readingsOf("=40%40");
    assert.deepEqual(
      readings.map(({ text, quotedPrintable }) => [text, quotedPrintable]),
      [
        ["=40%40", false],
        ["=40@", false],
        ["@%40", true],
        ["@@", true],
      ],
    );
  });

  it("are so many and no more", () => {
    const { readings, unfinished } = readingsOf(`%${"25".repeat(100)}40`);
    assert.deepEqual([readings.length, unfinished], [32, true]);
    assert.deepEqual(readingsOf(`%${"25".repeat(20)}40`).unfinished, false);
  });

  it("have what was encoded among them, in whatever order it was", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("Zoë Müller-Łuczak", "+49 (170) 123-4567", "Ada.Lovelace@mail.example", "王小明"),
        encoded(5),
        (value, encode) => {
          const { readings, unfinished } = readingsOf(encode(value));
          assert.ok(unfinished || readings.some(({ text }) => text === value), encode(value));
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
