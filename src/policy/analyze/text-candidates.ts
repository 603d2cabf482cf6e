import { compareCodePoints } from "../condition/values.ts";

/** Texts that an attribute is compared with, by the operator. */
export interface TextConstants {
  /** `==`, `<` and the like. */
  readonly points: readonly string[];
  /** The attribute may start with these. */
  readonly prefixes: readonly string[];
  /** The attribute may end with these. */
  readonly suffixes: readonly string[];
  /** These may start or end with the attribute. */
  readonly containers: readonly string[];
}

/** Which texts an attribute can have. */
export interface TextRange {
  /** Whether the attribute can have this text. Absent: any. */
  readonly accepts?: (text: string) => boolean;
  /** Texts to try first, such as complete addresses that begin with one of the constants. */
  readonly samples?: (constants: TextConstants) => readonly string[];
  /** Texts that are told apart from all others besides the constants, such as those that are not accepted. */
  readonly points?: readonly string[];
  /** Why the candidates may not be complete, if so. */
  readonly incomplete?: string;
}

/** A place between texts: just before `text` and everything that starts with it, or just after all of that. */
interface Bound {
  readonly text: string;
  readonly after: boolean;
}

/** Ordinary texts, so that examples look like real values. */
const ORDINARY = ["other", "another", "third"];
/** Characters to build texts from; those at the ends of the alphabet last, so that there are others on both sides. */
const PREFERRED = Array.from("mnxkqjvwghrtuypsdflcezbioa5463728190MNXKQJVWGHRTUYPSDFLCEZBIOA-_~");
const LAST = 0x10ffff;
/** Surrogates are not characters. */
const HIGH = 0xd7ff;
const LOW = 0xe000;

/**
 * Texts that cover every case that comparisons with `given` can distinguish.
 *
 * All texts that are neither a constant nor a part of a container fall into intervals between the points and the first
 * and last text with each prefix. Of each interval that has infinitely many texts, there is a beginning that lies in it
 * with every continuation. This beginning, a character that no constant has, and each suffix (or none) is a candidate:
 * it compares as any other text of the interval that ends with the same suffixes. An interval with finitely many texts
 * has only texts that continue its lower end with NUL.
 */
export function textCandidates(given: TextConstants, range: TextRange): string[] {
  const constants = { ...given, points: [...given.points, ...(range.points ?? [])] };
  const { points, prefixes, suffixes, containers } = constants;
  const own = [...points, ...prefixes, ...suffixes, ...containers];
  const used = new Set(own.flatMap((text) => Array.from(text)));
  const fresh = PREFERRED.find((character) => !used.has(character));
  const mark = fresh ?? anyFresh(used);
  const needsMark = suffixes.length > 0 || containers.length > 0;
  const endings = needsMark ? ["", ...suffixes].map((suffix) => mark + suffix) : [""];
  const found = new Set<string>([
    ...(range.samples?.(given) ?? []),
    ...own,
    ...beginnings(constants).flatMap((beginning) => endings.map((ending) => beginning + ending)),
    ...ORDINARY,
    "",
    ...containers.flatMap(partsOf),
    ...own.flatMap(withFewerNuls),
  ]);
  return [...found].filter((text) => isIn(text, range));
}

/** Whether a range includes `text`. */
export function isIn(text: string, range: TextRange): boolean {
  return range.accepts === undefined || range.accepts(text);
}

/** @returns for each interval, a beginning of which every continuation lies in it */
function beginnings(constants: TextConstants): string[] {
  const bounds = boundsOf(constants);
  const found = new Map<number, string>();
  for (const beginning of branches(bounds)) {
    const place = placeOf(beginning, bounds);
    if (!found.has(place)) found.set(place, beginning);
    if (found.size > bounds.length) break;
  }
  return [...found.values()];
}

function boundsOf({ points, prefixes }: TextConstants): Bound[] {
  const bounds = [
    ...[...new Set([...points, ...prefixes])].map((text) => ({ text, after: false })),
    ...[...new Set(prefixes)].map((text) => ({ text, after: true })),
  ];
  return bounds.sort(compareBounds);
}

function compareBounds(a: Bound, b: Bound): number {
  if (a.after && b.text.startsWith(a.text) && !(b.after && a.text === b.text)) return 1;
  if (b.after && a.text.startsWith(b.text) && !(a.after && a.text === b.text)) return -1;
  return compareCodePoints(a.text, b.text);
}

/** @returns the number of bounds below a text that is not one of them */
function placeOf(text: string, bounds: readonly Bound[]): number {
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const bound = bounds[middle];
    if (bound !== undefined && compareBounds(bound, { text, after: false }) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The texts that leave the bounds' common tree of characters, each at the first character that no bound continues. */
function* branches(bounds: readonly Bound[]): Generator<string> {
  const next = new Map<string, Set<number>>([["", new Set()]]);
  for (const { text } of bounds) {
    let sofar = "";
    for (const character of text) {
      const following = next.get(sofar) ?? new Set();
      next.set(sofar, following.add(character.codePointAt(0) ?? 0));
      sofar += character;
    }
    if (!next.has(sofar)) next.set(sofar, new Set());
  }
  const shortest = [...next].sort(([a], [b]) => a.length - b.length);
  for (const [beginning, following] of shortest) {
    for (const [from, to] of gaps([...following].sort((a, b) => a - b))) {
      const character = characterIn(from, to);
      if (character !== undefined) yield beginning + character;
    }
  }
}

/** The ranges between characters, both ends included. */
function gaps(characters: readonly number[]): [from: number, to: number][] {
  const ends = [-1, ...characters, LAST + 1];
  return ends.slice(1).map((end, index) => [(ends[index] ?? 0) + 1, end - 1]);
}

function characterIn(from: number, to: number): string | undefined {
  const preferred = PREFERRED.find((character) => {
    const code = character.codePointAt(0) ?? 0;
    return code >= from && code <= to;
  });
  const first = from > HIGH && from < LOW ? LOW : from;
  return preferred ?? (first <= to ? String.fromCodePoint(first) : undefined);
}

/** A character that is not used, if the ordinary ones all are. */
function anyFresh(used: ReadonlySet<string>): string {
  let code = 0x4e00;
  while (used.has(String.fromCodePoint(code))) code++;
  return String.fromCodePoint(code);
}

/** Every text that `container` starts or ends with. */
function partsOf(container: string): string[] {
  const characters = Array.from(container);
  return characters.flatMap((_, index) => [
    characters.slice(0, index).join(""),
    characters.slice(index).join(""),
  ]);
}

/** Between a text and the same with NULs after it, there are only the ones with fewer NULs. */
function withFewerNuls(text: string): string[] {
  const found: string[] = [];
  for (let shorter = text; shorter.endsWith("\u0000"); found.push(shorter)) shorter = shorter.slice(0, -1);
  return found;
}
