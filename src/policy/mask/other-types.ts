import type { OtherKind } from "./media-type.ts";

/**
 * Whether a body is what its type says, as far as the way it begins tells: clients do not look at types before they parse,
 * and some servers let the caller choose the label. Markup begins with `<`, and other data not with JSON objects and lists,
 * nor as scripts with one. The same as `envoy/lua/gatehouse/other_types.lua`.
 */
export function fitsKind(kind: OtherKind, body: Uint8Array): boolean {
  const next = kind === "markup" ? nextOfMarkup : dataReader();
  for (const byte of body) {
    const verdict = next(byte);
    if (verdict !== undefined) return verdict;
  }
  return true;
}

type Verdict = boolean | undefined;
type State = "leading" | "slash" | "name" | "called" | "json";

const codesOf = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0));
const SPACE: ReadonlySet<number> = new Set(codesOf(" \t\r\n"));
/** White space, byte order marks, and the zeros of wider encodings: no document begins with these. */
const LEADING: ReadonlySet<number> = new Set([...SPACE, 0, 0xef, 0xbb, 0xbf, 0xfe, 0xff]);
const BRACKETS: ReadonlySet<number> = new Set(codesOf("{["));
const [LESS_THAN, OPEN, CLOSE, SLASH, STAR] = [0x3c, 0x28, 0x29, 0x2f, 0x2a];
/** Of names of functions, and of paths to them: `a.b["c"]`. */
const isNameByte = (byte: number) => byte > 127 || /[\w$.[\]"'\\]/.test(String.fromCharCode(byte));
const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;

const GUARDS = new Set(["for", "while", "typeof"]);
/** Longer than any word that matters. */
const LONGEST = 7;
/** Behind the bracket, so that no size in the head of a picture is taken for one. */
const TEXT = 2;

function nextOfMarkup(first: number): Verdict {
  return LEADING.has(first) ? undefined : first === LESS_THAN;
}

/**
 * @returns what says, byte by byte, whether data are JSON, alone or behind what keeps it from being run as a script or runs
 *   it as one: `)]}'`, `//OK`, `for(;;);`, `while(1);`, `throw 1;`, `typeof f`, and `f({` with comments around `f`
 */
function dataReader(): (byte: number) => Verdict {
  let state: State = "leading";
  let resumed: State = state;
  let previous: number | undefined;
  let comment: "inside" | "star" | undefined;
  let isWide = false; // of UTF-16, every second byte is a zero
  let [count, text, word, isWordOver] = [0, 0, "", false];

  const enterComment = (): Verdict => {
    resumed = state;
    state = "slash";
    return undefined;
  };

  const leading = (byte: number, before: number | undefined): Verdict => {
    if (LEADING.has(byte)) return undefined;
    if (BRACKETS.has(byte) || byte === CLOSE) return false;
    isWide = before === 0;
    count = 1;
    if (byte === SLASH) return enterComment();
    if (!isNameByte(byte)) return true;
    state = "name";
    word = String.fromCharCode(byte);
    return undefined;
  };

  const slash = (byte: number): Verdict => {
    if (byte === SLASH && resumed === "leading") return false;
    if (byte !== STAR) return true;
    state = resumed;
    comment = "inside";
    isWordOver = state === "name";
    return undefined;
  };

  const name = (byte: number): Verdict => {
    if (byte === SLASH) return enterComment();
    if (SPACE.has(byte)) isWordOver = true;
    else if (byte === OPEN) {
      if (GUARDS.has(word)) return false;
      state = "called";
    } else if (!isNameByte(byte)) return true;
    else if (isWordOver) return !(word === "typeof" || (word === "throw" && isDigit(byte)));
    else if (word.length < LONGEST) word += String.fromCharCode(byte);
    return undefined;
  };

  const called = (byte: number): Verdict => {
    if (SPACE.has(byte)) return undefined;
    if (byte === SLASH) return enterComment();
    if (!BRACKETS.has(byte)) return true;
    state = "json";
    return undefined;
  };

  const json = (byte: number): Verdict => {
    if (byte < 32 && !SPACE.has(byte)) return true;
    text += 1;
    return text === TEXT ? false : undefined;
  };

  const steps = { leading, slash, name, called, json };

  const commented = (byte: number): Verdict => {
    if (comment === "star" && byte === SLASH) comment = undefined;
    else if (byte !== 0) comment = byte === STAR ? "star" : "inside";
    return undefined;
  };

  return (byte) => {
    const before = previous;
    previous = byte;
    if (comment !== undefined) return commented(byte);
    if (state !== "leading") {
      if (byte === 0) {
        isWide ||= count === 1;
        return isWide ? undefined : true;
      }
      count += 1;
      if (isWide && before !== 0) return true;
    }
    return steps[state](byte, before);
  };
}
