import { isExact } from "./exact-number.ts";
import type { JsonValue } from "../types.ts";

/** The text is not JSON, or JSON that not every stack reads. The message holds nothing of the text. */
export class JsonError extends Error {
  override readonly name = "JsonError";
}

/** It may be JSON, of more values than are read. */
export class TooManyValues extends JsonError {}

/**
 * Values of one text: what is read of a body is bounded in time by its values far more than by its bytes. As many as this
 * take less than 10 ms (bench/pauses.ts); 1 MB of the smallest would take 200 ms and more, in any parser.
 */
export const MAX_VALUES = 10_000;

export interface JsonLimits {
  /** How deep arrays and objects may be nested. */
  readonly depth: number;
  /** How many values there may be; {@link MAX_VALUES}. */
  readonly values?: number;
  /** Stands in place of numbers that are inexact; absent: they are left out. */
  readonly inexact?: number;
}

/** A JSON text and what speaks against its one reading. */
export interface ParsedJson {
  /** `undefined` where all of it is one inexact number. */
  readonly value: JsonValue | undefined;
  /** Two members of one object have one name; the last one is in `value`, as in nearly every stack. */
  readonly duplicateMember: boolean;
  /** Two members of one object have names that differ in case only; both are in `value`. */
  readonly similarMembers: boolean;
  /** A number is not what its nearest double prints as; see {@link JsonLimits.inexact}. */
  readonly inexactNumber: boolean;
}

/**
 * Parses one JSON text (RFC 8259) strictly: no byte order mark, no comments, no trailing data or commas, no lone surrogates
 * and no U+0000, which C strings end at.
 *
 * @throws {@link JsonError}
 */
export function parseJson(text: string, limits: JsonLimits): ParsedJson {
  const parser = new JsonParser(text, limits);
  const value = parser.document();
  return {
    value,
    duplicateMember: parser.duplicateMember,
    similarMembers: parser.similarMembers,
    inexactNumber: parser.inexactNumber,
  };
}

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

const BEYOND_ASCII = /[^\0-\x7f]/;

/** Integers of so few digits are exact. */
const MAX_SHORT = 15;

class JsonParser {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #maxValues: number;
  readonly #inexact: number | undefined;
  #at = 0;
  #depth = 0;
  #values = 0;
  /** The string that was read last is its own folded form. */
  #folded = true;
  duplicateMember = false;
  similarMembers = false;
  inexactNumber = false;

  constructor(text: string, { depth, values = MAX_VALUES, inexact }: JsonLimits) {
    this.#text = text;
    this.#maxDepth = depth;
    this.#maxValues = values;
    this.#inexact = inexact;
  }

  /** JSON-text = ws value ws */
  document(): JsonValue | undefined {
    this.#skipBlanks();
    const value = this.#value();
    this.#skipBlanks();
    if (this.#at < this.#text.length) throw this.#error("data after the end");
    return value;
  }

  /** value = false / null / true / object / array / number / string; `undefined` for an inexact number */
  #value(): JsonValue | undefined {
    this.#values += 1;
    if (this.#values > this.#maxValues) throw new TooManyValues(`more than ${this.#maxValues} values`);
    switch (this.#text.charCodeAt(this.#at)) {
      case BEGIN_OBJECT: {
        this.#descend();
        const object = this.#object();
        this.#depth -= 1;
        return object;
      }
      case BEGIN_ARRAY: {
        this.#descend();
        const array = this.#array();
        this.#depth -= 1;
        return array;
      }
      case QUOTE:
        return this.#string();
      case SMALL_T:
      case SMALL_F:
      case SMALL_N:
        return this.#word();
      default:
        return this.#number();
    }
  }

  #descend(): void {
    this.#depth += 1;
    if (this.#depth > this.#maxDepth) throw this.#error(`nested deeper than ${this.#maxDepth} levels`);
    this.#at += 1;
    this.#skipBlanks();
  }

  /** object = "{" [ member *( "," member ) ] "}" */
  #object(): JsonValue {
    const object = Object.create(null) as Record<string, JsonValue>;
    if (this.#take(END_OBJECT)) return object;
    /** Members whose value is left out. */
    let without: Set<string> | undefined;
    let folded = true;
    do {
      this.#skipBlanks();
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#error("a member's name was expected");
      const name = this.#string();
      folded &&= this.#folded;
      if (name in object || without?.has(name) === true) this.duplicateMember = true;
      this.#skipBlanks();
      if (!this.#take(COLON)) throw this.#error("`:` was expected");
      this.#skipBlanks();
      const value = this.#value();
      // an earlier member of that name is gone either way
      if (value === undefined) {
        Reflect.deleteProperty(object, name);
        (without ??= new Set()).add(name);
      } else object[name] = value;
      this.#skipBlanks();
    } while (this.#take(COMMA));
    if (!this.#take(END_OBJECT)) throw this.#error("`,` or `}` was expected");
    if (!folded) this.#compareNames(new Set([...Object.keys(object), ...(without ?? [])]));
    return object;
  }

  #compareNames(names: ReadonlySet<string>): void {
    const folded = new Set<string>();
    for (const name of names) folded.add(foldCase(name));
    if (folded.size < names.size) this.similarMembers = true;
  }

  /** array = "[" [ value *( "," value ) ] "]"; `undefined` where a value is left out: with a gap it would be another list */
  #array(): JsonValue | undefined {
    const array: JsonValue[] = [];
    let gap = false;
    if (this.#take(END_ARRAY)) return array;
    do {
      this.#skipBlanks();
      const value = this.#value();
      if (value === undefined) gap = true;
      else array.push(value);
      this.#skipBlanks();
    } while (this.#take(COMMA));
    if (!this.#take(END_ARRAY)) throw this.#error("`,` or `]` was expected");
    return gap ? undefined : array;
  }

  #string(): string {
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
    throw this.#error("a string without its end");
  }

  #content(start: number, escaped: boolean, surrogates: boolean): string {
    const content = escaped ? this.#unescape(start) : this.#text.slice(start + 1, this.#at - 1);
    if ((escaped || surrogates) && !content.isWellFormed()) throw this.#error("a lone surrogate in a string");
    if (escaped && content.includes("\0")) throw this.#error("U+0000 in a string");
    return content;
  }

  /** Of one string, without control characters, JSON.parse makes what RFC 8259 section 7 says. */
  #unescape(start: number): string {
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string;
    } catch {
      throw this.#error("a malformed escape in a string");
    }
  }

  #number(): number | undefined {
    const short = this.#shortInteger();
    if (short !== undefined) return short;
    const literal = this.#match(NUMBER);
    if (literal === undefined) throw this.#error("a value was expected");
    const nearest = Number(literal);
    if (isExact(literal, nearest)) return nearest;
    this.inexactNumber = true;
    return this.#inexact;
  }

  /** What most numbers are, without a regular expression; `undefined`, and nothing is read, for all others. */
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

  #word(): boolean | null {
    const word = this.#match(WORD);
    if (word === undefined) throw this.#error("a value was expected");
    return word === "null" ? null : word === "true";
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
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

  #error(what: string): JsonError {
    return new JsonError(`${what}, at character ${this.#at + 1}`);
  }
}

/** Go takes the Kelvin sign for `k` and the long s for `s`, so that lower case alone is not enough. */
function foldCase(name: string): string {
  return BEYOND_ASCII.test(name) ? name.toUpperCase().toLowerCase() : name.toLowerCase();
}
