import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";

const TYPESCRIPT = new URL("../../src/names/case-folds.ts", import.meta.url);
const LUA = new URL("../../envoy/lua/gatehouse/case_folds.lua", import.meta.url);

/** Lower case of upper case, letter by letter, until nothing changes; `İ` is `i`, as Java's equalsIgnoreCase takes it. */
function folded(letter: string): string {
  if (letter === "\u0130") return "i";
  // most of the million letters, and so most of the time
  if (letter.toUpperCase() === letter && letter.toLowerCase() === letter) return letter;
  const each = (text: string, map: (one: string) => string) => Array.from(text, map).join("");
  const upper = each(letter, (one) => one.toUpperCase());
  const lower = each(upper, (one) => one.toLowerCase());
  return lower === letter ? letter : folded(lower);
}

interface Tables {
  readonly runs: readonly string[];
  readonly texts: readonly string[];
}

/** `first,last,step,to` for letters that one letter stands for, `letter,to,to` for those that several do; hexadecimal. */
function tables(): Tables {
  const runs: { first: number; last: number; step: number; to: number }[] = [];
  const texts: string[] = [];
  for (let code = 0; code < 0x110000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const letter = String.fromCodePoint(code);
    const to = Array.from(folded(letter), (one) => one.codePointAt(0)!);
    if (to.length === 1 && to[0] === code) continue;
    if (to.length > 1) {
      texts.push([code, ...to].map(hex).join(","));
      continue;
    }
    const run = runs.at(-1);
    const step = run && code - run.last;
    const fits = run && to[0] === code - run.first + run.to && (run.first === run.last || run.step === step);
    if (fits && step! <= 2) Object.assign(run, { last: code, step });
    else runs.push({ first: code, last: code, step: 1, to: to[0]! });
  }
  const written = runs.map(({ first, last, step, to }) => [first, last, step, to].map(hex).join(","));
  return { runs: lines(written), texts: lines(texts) };
}

const hex = (code: number) => code.toString(16);

/** Words on lines of at most 100 characters. */
function lines(words: readonly string[]): readonly string[] {
  const made: string[] = [];
  for (const word of words) {
    const line = made.at(-1);
    if (line === undefined || line.length + word.length >= 100) made.push(word);
    else made[made.length - 1] = `${line} ${word}`;
  }
  return made;
}

const COMMENT = [
  "Letters that have a case, and what they are folded to, from Unicode; hexadecimal. Generated, for TypeScript and Lua",
  "alike: GATEHOUSE_UPDATE=1 mocha test/names/case-folds.test.ts",
];

function typescript({ runs, texts }: Tables): string {
  const list = (all: readonly string[]) => all.map((line) => `  "${line}",\n`).join("");
  return `/*
${COMMENT.map((line) => ` * ${line}\n`).join("")} */

/** \`first,last,step,to\`: every \`step\`th letter from \`first\` to \`last\` is folded to those from \`to\` on. */
export const LETTER_RUNS: readonly string[] = [
${list(runs)}];

/** \`letter,to,to\`: a letter that is folded to several. */
export const LETTER_TEXTS: readonly string[] = [
${list(texts)}];
`;
}

function lua({ runs, texts }: Tables): string {
  const list = (all: readonly string[]) => all.map((line) => `    "${line}",\n`).join("");
  return `${COMMENT.map((line) => `-- ${line}\n`).join("")}return {
  -- \`first,last,step,to\`: every \`step\`th letter from \`first\` to \`last\` is folded to those from \`to\` on
  runs = {
${list(runs)}  },
  -- \`letter,to,to\`: a letter that is folded to several
  texts = {
${list(texts)}  },
}
`;
}

describe("names: the table of letters", () => {
  let unicode: Tables;
  before(() => {
    unicode = tables();
  });

  for (const [file, made] of [
    [TYPESCRIPT, typescript],
    [LUA, lua],
  ] as const) {
    it(`${file.pathname.split("/").slice(-1).join("")} is what Unicode says`, () => {
      if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(file, made(unicode));
      assert.equal(readFileSync(file, "utf8"), made(unicode));
    });
  }
});
