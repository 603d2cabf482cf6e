import assert from "node:assert/strict";
import { foldDots, SEMICOLON_LIKE, SLASH_LIKE } from "../../src/request/look-alikes.ts";

/** What Windows' best-fit tables add to NFKC. */
const BEST_FIT = ["\u2044", "\u2215", "\u2216"];

function* characters(): Generator<string> {
  for (let code = 0; code <= 0x10ffff; code += 1) {
    if (code < 0xd800 || code > 0xdfff) yield String.fromCodePoint(code);
  }
}

describe("request: look-alikes are those of Unicode", () => {
  it("slashes and backslashes", () => {
    for (const character of characters()) {
      const expected = /[/\\]/.test(character.normalize("NFKC")) || BEST_FIT.includes(character);
      if (SLASH_LIKE.test(character) !== expected) assert.fail(escape(character));
    }
  });

  it("semicolons", () => {
    for (const character of characters()) {
      const expected = character.normalize("NFC") === ";";
      if (SEMICOLON_LIKE.test(character) !== expected) assert.fail(escape(character));
    }
  });

  it("full stops", () => {
    for (const character of characters()) {
      const folded = character.normalize("NFKC");
      const expected = /^\.+$/.test(folded) ? folded : character;
      if (foldDots(character) !== expected) assert.fail(escape(character));
    }
  });
});

function escape(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16)}`;
}
