import { exactNumber, isExactValue } from "./exact-number.ts";
import { JsonError, type JsonReason } from "./json-error.ts";

export interface JsonLimits {
  /** Maximum nesting depth of arrays and objects. */
  readonly depth: number;
  /** Maximum number of values. Default: no limit. */
  readonly values?: number;
  /**
   * Allows unpaired surrogates (as escapes) and U+0000 in strings. By default such a text is refused.
   */
  readonly anyText?: boolean;
  /** Numbers will be kept without their text, so they must also be exact by their value alone: see `isExactValue`. */
  readonly byValue?: boolean;
}

/** The kind of a value, by its first character. */
export type JsonStart = "object" | "array" | "string" | "word" | "number";

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const FULL_STOP = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const CAPITAL_A = 0x41;
const CAPITAL_E = 0x45;
const CAPITAL_Z = 0x5a;
const BEGIN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const END_ARRAY = 0x5d;
const SMALL_E = 0x65;
const SMALL_F = 0x66;
const SMALL_N = 0x6e;
const SMALL_T = 0x74;
const BEGIN_OBJECT = 0x7b;
const END_OBJECT = 0x7d;
const DELETE = 0x7f;
const FIRST_SURROGATE = 0xd800;

/** Integers of at most this many digits are exact. */
const MAX_SHORT = 15;

/**
 * Scans one JSON text (RFC 8259) from left to right, token by token, and strictly: no byte order mark, no comments, no
 * trailing data or commas. The caller decides what to build from the tokens. Every method that reads throws {@link
 * JsonError} on a syntax error.
 */
export class JsonScanner {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #anyText: boolean;
  readonly #maxValues: number;
  readonly #byValue: boolean;
  #at = 0;
  #depth = 0;
  #values = 0;
  #folded = true;
  #inexactNumberAt: number | undefined;

  constructor(text: string, { depth, values = Infinity, anyText = false, byValue = false }: JsonLimits) {
    this.#text = text;
    this.#maxDepth = depth;
    this.#maxValues = values;
    this.#anyText = anyText;
    this.#byValue = byValue;
    this.#skipBlanks();
  }

  /** The start of the next token, in UTF-16 units. */
  get position(): number {
    return this.#at;
  }

  /** Whether the last string read equals its folded form: ASCII without capitals, written without escapes. */
  get folded(): boolean {
    return this.#folded;
  }

  /** The start of the first inexact number that was read. */
  get inexactNumberAt(): number | undefined {
    return this.#inexactNumberAt;
  }

  /** value = false / null / true / object / array / number / string. Counts the value that begins here. */
  start(): JsonStart {
    this.#values += 1;
    if (this.#values > this.#maxValues) throw this.#error(`more than ${this.#maxValues} values`, "values");
    switch (this.#text.charCodeAt(this.#at)) {
      case BEGIN_OBJECT:
        return "object";
      case BEGIN_ARRAY:
        return "array";
      case QUOTE:
        return "string";
      case SMALL_T:
      case SMALL_F:
      case SMALL_N:
        return "word";
      default:
        return "number";
    }
  }

  /**
   * Enters an object or array, whose opening bracket is the next character.
   *
   * @returns whether it is not empty; an empty one has been consumed
   */
  open(): boolean {
    if (this.#depth >= this.#maxDepth)
      throw this.#error(`nested more than ${this.#maxDepth} levels deep`, "depth");
    // in ASCII, `]` and `}` are two after `[` and `{`
    const close = this.#text.charCodeAt(this.#at) + 2;
    this.#at += 1;
    this.#skipBlanks();
    if (this.#take(close)) return false;
    this.#depth += 1;
    return true;
  }

  /** The start of a member: string name-separator. @returns the name */
  memberName(): string {
    if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#error("expected a member name");
    const name = this.string();
    this.#skipBlanks();
    if (!this.#take(COLON)) throw this.#error("expected `:`");
    this.#skipBlanks();
    return name;
  }

  /** After a member of an object. @returns whether another one follows; otherwise the object has been consumed */
  hasNextMember(): boolean {
    return this.#hasNext(END_OBJECT);
  }

  /** After an element of an array. @returns whether another one follows; otherwise the array has been consumed */
  hasNextElement(): boolean {
    return this.#hasNext(END_ARRAY);
  }

  #hasNext(close: number): boolean {
    this.#skipBlanks();
    if (this.#take(COMMA)) {
      this.#skipBlanks();
      return true;
    }
    if (!this.#take(close)) throw this.#error(`expected \`,\` or \`${String.fromCharCode(close)}\``);
    this.#depth -= 1;
    return false;
  }

  /** The text has to end here. */
  end(): void {
    this.#skipBlanks();
    if (this.#at < this.#text.length) throw this.#error("unexpected data after the end");
  }

  string(): string {
    const text = this.#text;
    const start = this.#at;
    let escaped = false;
    let folded = true;
    let surrogates = false;
    for (let index = start + 1; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code === QUOTE) {
        this.#at = index + 1;
        this.#folded = folded && !escaped;
        return this.#content(start, escaped, surrogates);
      }
      if (code === BACKSLASH) {
        escaped = true;
        index += 1;
      } else if (code < SPACE) throw this.#error("a control character in a string");
      else if (code >= CAPITAL_A && (code <= CAPITAL_Z || code > DELETE)) {
        folded = false;
        surrogates ||= code >= FIRST_SURROGATE;
      }
    }
    throw this.#error("unterminated string");
  }

  #content(start: number, escaped: boolean, surrogates: boolean): string {
    const content = escaped ? this.#unescape(start) : this.#text.slice(start + 1, this.#at - 1);
    if (this.#anyText) return content;
    if ((escaped || surrogates) && !content.isWellFormed())
      throw this.#error("an unpaired surrogate in a string", "utf8");
    if (escaped && content.includes("\0")) throw this.#error("U+0000 in a string", "utf8");
    return content;
  }

  /** For one string without control characters, JSON.parse follows RFC 8259, section 7. */
  #unescape(start: number): string {
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string;
    } catch {
      throw this.#error("an invalid escape in a string");
    }
  }

  /** @returns NaN for an inexact number */
  number(): number {
    const short = this.#shortInteger();
    if (short !== undefined) return short;
    const start = this.#at;
    const number = exactNumber(this.#match(NUMBER));
    if (this.#byValue ? isExactValue(number) : !Number.isNaN(number)) return number;
    this.#inexactNumberAt ??= start;
    return NaN;
  }

  /** Reads the common numbers without a regular expression; returns `undefined` and reads nothing for all others. */
  #shortInteger(): number | undefined {
    const text = this.#text;
    const negative = text.charCodeAt(this.#at) === MINUS;
    const start = negative ? this.#at + 1 : this.#at;
    let index = start;
    let value = 0;
    let code = text.charCodeAt(index);
    while (code >= ZERO && code <= NINE) {
      value = value * 10 + code - ZERO;
      index += 1;
      code = text.charCodeAt(index);
      if (index - start > MAX_SHORT) return undefined;
    }
    const leadingZero = index - start > 1 && text.charCodeAt(start) === ZERO;
    const goesOn = code === FULL_STOP || code === SMALL_E || code === CAPITAL_E;
    if (index === start || leadingZero || goesOn) return undefined;
    this.#at = index;
    return negative ? -value : value;
  }

  word(): boolean | null {
    const word = this.#match(WORD);
    return word === "null" ? null : word === "true";
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw this.#error("expected a value");
    this.#at += found.length;
    return found;
  }

  #take(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at += 1;
    return true;
  }

  #skipBlanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB) return;
      this.#at += 1;
    }
  }

  /** Throws an error for input that the caller does not accept. */
  refuse(what: string): never {
    throw this.#error(what);
  }

  #error(what: string, reason: JsonReason = "syntax"): JsonError {
    return new JsonError(reason, what, this.#at);
  }
}
