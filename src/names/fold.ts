import { LETTER_RUNS, LETTER_TEXTS } from "./case-folds.ts";

/** Consists of what folding leaves as it is, and has one part. */
const PLAIN = /^[a-z0-9]+$/;
/** Has one part, and nothing in it that needs a table. */
const SIMPLE = /^[A-Za-z0-9_-]+$/;
const BEYOND_ASCII = /[^\0-\x7f]/;

/** What parts of a name are told apart by: `a[b]`, `a.b`; and by who splits late or elsewhere, `a&b`, `a=b`, `a;b`, `a?b`. */
const BETWEEN_PARTS = /[.[\]\0&=;?]/;
/** Set aside: `_`, `-`, `+`, U+0020 and below, DEL, and what Unicode and JavaScript call white space. */
const IGNORED = /[\x01-\x20\x7f_\-+\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+/g;

const INDEX = /^[0-9]+$/;

/** @returns the name folded, where it is of the kind that nearly all are; else `undefined`. */
export function foldSimple(name: string): string | undefined {
  if (PLAIN.test(name)) return name;
  return SIMPLE.test(name) ? name.replace(/[_-]+/g, "").toLowerCase() : undefined;
}

/** @returns the folded parts of a name, without empty ones: `User_Id[0].x` has `userid`, `0` and `x`. */
export function foldedParts(name: string): readonly string[] {
  return name
    .split(BETWEEN_PARTS)
    .map((part) => foldCase(part.replace(IGNORED, "")))
    .filter((part) => part !== "");
}

/** @returns the parts without those that are the number of an item of a list; the first part is none. */
export function withoutIndexes(parts: readonly string[]): readonly string[] {
  return parts.filter((part, index) => index === 0 || !INDEX.test(part));
}

/** @returns what a name is compared by where its brackets and dots mean nothing: with and without numbers of items. */
export function foldedSpellings(name: string): readonly string[] {
  const simple = foldSimple(name);
  if (simple !== undefined) return [simple];
  const parts = foldedParts(name);
  const whole = parts.join("");
  const unindexed = withoutIndexes(parts).join("");
  return unindexed === whole ? [whole] : [whole, unindexed];
}

/** What one name is folded to is remembered: requests use the same few names. */
export function remembered(fold: (name: string) => readonly string[]): (name: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const spellings = fold(name);
    if (name.length <= LONGEST_KEPT) {
      // names come from outside: when there are many, all are forgotten at once
      if (known.size >= MOST_KEPT) known.clear();
      known.set(name, spellings);
    }
    return spellings;
  };
}

const MOST_KEPT = 2_000;
const LONGEST_KEPT = 100;

let letters: ReadonlyMap<string, string> | undefined;

function foldCase(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  const folds = (letters ??= readLetters());
  let folded = "";
  for (const letter of text) folded += folds.get(letter) ?? letter;
  return folded;
}

function readLetters(): ReadonlyMap<string, string> {
  const folds = new Map<string, string>();
  for (const run of LETTER_RUNS.flatMap((line) => line.split(" "))) {
    const [first = 0, last = 0, step = 1, to = 0] = run.split(",").map((number) => parseInt(number, 16));
    for (let code = first; code <= last; code += step) {
      folds.set(String.fromCodePoint(code), String.fromCodePoint(code - first + to));
    }
  }
  for (const text of LETTER_TEXTS.flatMap((line) => line.split(" "))) {
    const [from = 0, ...to] = text.split(",").map((number) => parseInt(number, 16));
    folds.set(String.fromCodePoint(from), String.fromCodePoint(...to));
  }
  return folds;
}
