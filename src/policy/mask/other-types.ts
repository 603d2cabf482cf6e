import type { OtherKind } from "./media-type.ts";

/**
 * Whether a body matches its declared type, judging by how it begins: some clients parse without looking at the type,
 * and some servers let the caller choose it. Markup begins with `<`; other data do not begin with a JSON object or
 * list, nor with a script that contains one. Equivalent to `envoy/lua/gatehouse/other_types.lua`.
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
type Step = (byte: number) => Verdict;
type State =
  | "leading"
  | "mark"
  | "slash"
  | "name"
  | "and"
  | "operand"
  | "called"
  | "argument"
  | "word"
  | "quoted"
  | "closed"
  | "json"
  | "members";

const codesOf = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0));
const SPACE: ReadonlySet<number> = new Set(codesOf(" \t\r\n"));
/**
 * White space, byte order marks, and the zero bytes of wider encodings: skipped before the document's first character.
 */
const LEADING: ReadonlySet<number> = new Set([...SPACE, 0, 0xef, 0xbb, 0xbf, 0xfe, 0xff]);
const BRACKETS: ReadonlySet<number> = new Set(codesOf("{["));
const QUOTES: ReadonlySet<number> = new Set(codesOf("\"'"));
/** Characters that may follow the opening bracket of a non-empty object or list. */
const MEMBERS: ReadonlySet<number> = new Set(codesOf('"{['));
const [LESS_THAN, OPEN, CLOSE, SLASH, STAR] = [0x3c, 0x28, 0x29, 0x2f, 0x2a];
const [BRACE, QUOTE, BACKSLASH, AND, EQUALS, COMMA] = [0x7b, 0x22, 0x5c, 0x26, 0x3d, 0x2c];
/** Characters of function names and of paths to them: `a.b["c"]`. */
const isNameByte = (byte: number) => byte > 127 || /[\w$.[\]"'\\]/.test(String.fromCharCode(byte));
const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;

const GUARDS = new Set(["for", "while", "typeof"]);
const DECLARATIONS = new Set(["var", "let", "const"]);
/** Longer than any keyword that matters. */
const LONGEST = 7;
/** Bytes checked after the bracket, so that a size field in an image header is not taken for one. */
const TEXT = 2;

function nextOfMarkup(first: number): Verdict {
  return LEADING.has(first) ? undefined : first === LESS_THAN;
}

/**
 * @returns a detector that tells, byte by byte, whether data are JSON: alone, after a prefix that prevents script
 *   execution, or inside a script. It knows `)]}'`, `//OK`, `&&`, `for(;;);`, `while(1);`, `throw 1;`, `typeof f`, an
 *   object in a comment, an assignment, and a call with preceding simple arguments, with comments and blanks anywhere.
 */
function dataReader(): Step {
  let state: State = "leading";
  let resumed: State = state;
  let previous: number | undefined;
  let comment: "inside" | "star" | "brace" | undefined;
  let quote: number | undefined;
  let isEscaped = false;
  let isWide = false; // in UTF-16, every second byte is zero
  let [count, text, word, isWordOver] = [0, 0, "", false];

  const go = (next: State): Verdict => {
    state = next;
    return undefined;
  };

  const enterComment = (): Verdict => {
    resumed = state;
    return go("slash");
  };

  const enterName = (byte: number): Verdict => {
    word = String.fromCharCode(byte);
    isWordOver = false;
    return go("name");
  };

  const leading = (byte: number, before: number | undefined): Verdict => {
    if (LEADING.has(byte)) return undefined;
    if (BRACKETS.has(byte) || byte === CLOSE) return false;
    isWide = before === 0;
    count = 1;
    if (byte === SLASH) return enterComment();
    if (byte === AND) return go("mark");
    if (byte === OPEN) return go("argument");
    return isNameByte(byte) ? enterName(byte) : true;
  };

  const mark = (byte: number): Verdict => byte !== AND;

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
    else if (byte === OPEN) return GUARDS.has(word) ? false : go("called");
    else if (byte === EQUALS) return go("operand");
    else if (byte === AND) return go("and");
    else if (!isNameByte(byte)) return true;
    else if (isWordOver) {
      if (DECLARATIONS.has(word)) return enterName(byte);
      return !(word === "typeof" || (word === "throw" && isDigit(byte)));
    } else if (word.length < LONGEST) word += String.fromCharCode(byte);
    return undefined;
  };

  const and = (byte: number): Verdict => (byte === AND ? go("operand") : true);

  /** Blanks and comments may separate tokens. */
  const token =
    (step: Step): Step =>
    (byte) =>
      SPACE.has(byte) ? undefined : byte === SLASH ? enterComment() : step(byte);

  const operand = token((byte) => {
    if (BRACKETS.has(byte)) return go("members");
    if (byte === OPEN) return go("argument");
    return isNameByte(byte) ? enterName(byte) : true;
  });

  const argument = token((byte) => {
    if (byte === OPEN) return go("argument");
    if (BRACKETS.has(byte)) return go("members");
    if (QUOTES.has(byte)) {
      quote = byte;
      return go("quoted");
    }
    return isNameByte(byte) ? go("word") : true;
  });

  const called = token((byte) => (BRACKETS.has(byte) ? go("json") : argument(byte)));

  const wordStep = token((byte) => {
    if (byte === COMMA) return go("argument");
    if (byte === CLOSE) return go("closed");
    return isNameByte(byte) ? undefined : true;
  });

  const quoted = (byte: number): Verdict => {
    if (byte < 32) return true;
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else if (byte === quote) state = "word";
    return undefined;
  };

  const closed = token((byte) => (byte === OPEN ? go("argument") : true));

  const json = (byte: number): Verdict => {
    if (byte < 32 && !SPACE.has(byte)) return true;
    text += 1;
    return text === TEXT ? false : undefined;
  };

  const members = token((byte) => !MEMBERS.has(byte));

  const steps = {
    ...{ leading, mark, slash, name, and, operand, called, argument, word: wordStep, quoted, closed },
    ...{ json, members },
  };

  const commented = (byte: number): Verdict => {
    if (comment === "star" && byte === SLASH) comment = undefined;
    else if (comment === "brace" && byte === QUOTE) return false;
    else if (byte !== 0 && !(comment === "brace" && SPACE.has(byte)))
      comment = byte === STAR ? "star" : byte === BRACE ? "brace" : "inside";
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
