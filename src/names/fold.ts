import { LETTER_RUNS, LETTER_TEXTS } from "./case-folds.ts";

/** Folding does not change it, and it has one part. */
const PLAIN = /^[a-z0-9]+$/;
/** It has one part, and nothing in it needs a table. */
const SIMPLE = /^[A-Za-z0-9_-]+$/;

/** Separators of the parts of a name: `a[b]`, `a.b`; and for software that splits late or elsewhere, `a&b`, `a=b`, `a;b`, `a?b`. */
const BETWEEN_PARTS = ".[]\0&=;?";
/** Ignored, hexadecimal: `_`, `-`, `+`, U+0020 and below, DEL, and white space of Unicode and JavaScript. */
const SET_ASIDE =
  "1,20 2b,2b 2d,2d 5f,5f 7f,7f 85,85 a0,a0 1680,1680 2000,200a 2028,2029 202f,202f 205f,205f 3000,3000 feff,feff";

const INDEX = /^[0-9]+$/;

/** What a letter is folded to: a UTF-16 code unit, a text if one is not enough, or one of the markers below. */
export type Folded = number | string;
/** It is ignored. */
export const IGNORED = -1;
/** It separates two parts of a name. */
export const SEPARATOR = -2;

const folds = readFolds();

/** @param code - a code point */
export function foldLetter(code: number): Folded {
  return folds.get(code) ?? (code > 0xffff ? String.fromCodePoint(code) : code);
}

/** @returns the folded name, if it is of the common kind; otherwise `undefined`. */
export function foldSimple(name: string): string | undefined {
  if (PLAIN.test(name)) return name;
  return SIMPLE.test(name) ? name.replace(/[_-]+/g, "").toLowerCase() : undefined;
}

/** @returns the folded parts of a name, without empty ones: `User_Id[0].x` has `userid`, `0` and `x`. */
export function foldedParts(name: string): readonly string[] {
  const parts: string[] = [];
  let part = "";
  for (const letter of name) {
    const to = foldLetter(letter.codePointAt(0) ?? 0);
    if (to === SEPARATOR) {
      if (part !== "") parts.push(part);
      part = "";
    } else if (to !== IGNORED) part += typeof to === "number" ? String.fromCharCode(to) : to;
  }
  if (part !== "") parts.push(part);
  return parts;
}

/** @returns the parts without list indexes; the first part is never an index. */
export function withoutIndexes(parts: readonly string[]): readonly string[] {
  return parts.filter((part, index) => index === 0 || !INDEX.test(part));
}

function readFolds(): ReadonlyMap<number, Folded> {
  const all = new Map<number, Folded>();
  const add = (code: number, ...to: readonly number[]) => {
    const text = String.fromCodePoint(...to);
    all.set(code, text.length === 1 ? text.charCodeAt(0) : text);
  };
  for (const run of LETTER_RUNS.flatMap((line) => line.split(" "))) {
    const [first = 0, last = 0, step = 1, to = 0] = run.split(",").map((number) => parseInt(number, 16));
    for (let code = first; code <= last; code += step) add(code, code - first + to);
  }
  for (const text of LETTER_TEXTS.flatMap((line) => line.split(" "))) {
    const [from = 0, ...to] = text.split(",").map((number) => parseInt(number, 16));
    add(from, ...to);
  }
  for (const run of SET_ASIDE.split(" ")) {
    const [first = 0, last = 0] = run.split(",").map((number) => parseInt(number, 16));
    for (let code = first; code <= last; code++) all.set(code, IGNORED);
  }
  for (const letter of BETWEEN_PARTS) all.set(letter.charCodeAt(0), SEPARATOR);
  return all;
}
