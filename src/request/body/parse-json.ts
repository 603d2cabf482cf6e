import { isExact } from "./exact-number.ts";
import type { JsonValue } from "../types.ts";

/** The text is not JSON, or JSON that not every stack reads. The message holds nothing of the text. */
export class JsonError extends Error {
  override readonly name = "JsonError";
}

/** A JSON text and what speaks against its one reading. */
export interface ParsedJson {
  /** `undefined` where all of it is one inexact number. */
  readonly value: JsonValue | undefined;
  /** Two members of one object have one name; the last one is in `value`, as in nearly every stack. */
  readonly duplicateMember: boolean;
  /** Two members of one object have names that differ in case only; both are in `value`. */
  readonly similarMembers: boolean;
  /** A number is not what its nearest double prints as; it is left out of `value`. */
  readonly inexactNumber: boolean;
}

/**
 * Parses one JSON text (RFC 8259) strictly: no byte order mark, no comments, no trailing data or commas, no lone surrogates
 * and no U+0000, which C strings end at.
 *
 * @param maxDepth - how deep arrays and objects may be nested
 * @throws {@link JsonError}
 */
export function parseJson(text: string, maxDepth: number): ParsedJson {
  const parser = new JsonParser(text, maxDepth);
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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

class JsonParser {
  readonly #text: string;
  readonly #maxDepth: number;
  #at = 0;
  #depth = 0;
  duplicateMember = false;
  similarMembers = false;
  inexactNumber = false;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
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
    switch (this.#text[this.#at]) {
      case "{":
        return this.#nested(() => this.#object());
      case "[":
        return this.#nested(() => this.#array());
      case '"':
        return this.#string();
      case "t":
      case "f":
      case "n":
        return this.#word();
      default:
        return this.#number();
    }
  }

  #nested<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > this.#maxDepth) throw this.#error(`nested deeper than ${this.#maxDepth} levels`);
    this.#at += 1;
    this.#skipBlanks();
    const value = parse();
    this.#depth -= 1;
    return value;
  }

  /** object = "{" [ member *( "," member ) ] "}" */
  #object(): JsonValue {
    const object = Object.create(null) as Record<string, JsonValue>;
    if (this.#take("}")) return object;
    const names = new Set<string>();
    const folded = new Set<string>();
    do {
      this.#skipBlanks();
      if (this.#text[this.#at] !== '"') throw this.#error("a member's name was expected");
      const name = this.#string();
      this.#noteName(names, folded, name);
      this.#skipBlanks();
      if (!this.#take(":")) throw this.#error("`:` was expected");
      this.#skipBlanks();
      const value = this.#value();
      // an earlier member of that name is gone either way
      if (value === undefined) Reflect.deleteProperty(object, name);
      else object[name] = value;
      this.#skipBlanks();
    } while (this.#take(","));
    if (!this.#take("}")) throw this.#error("`,` or `}` was expected");
    return object;
  }

  #noteName(names: Set<string>, folded: Set<string>, name: string): void {
    if (names.has(name)) {
      this.duplicateMember = true;
      return;
    }
    names.add(name);
    const key = foldCase(name);
    if (folded.has(key)) this.similarMembers = true;
    folded.add(key);
  }

  /** array = "[" [ value *( "," value ) ] "]"; `undefined` where a value is left out: with a gap it would be another list */
  #array(): JsonValue | undefined {
    const array: JsonValue[] = [];
    let gap = false;
    if (this.#take("]")) return array;
    do {
      this.#skipBlanks();
      const value = this.#value();
      if (value === undefined) gap = true;
      else array.push(value);
      this.#skipBlanks();
    } while (this.#take(","));
    if (!this.#take("]")) throw this.#error("`,` or `]` was expected");
    return gap ? undefined : array;
  }

  #string(): string {
    const start = this.#at;
    let escaped = false;
    for (let index = start + 1; index < this.#text.length; index += 1) {
      const code = this.#text.charCodeAt(index);
      if (code === QUOTE) {
        this.#at = index + 1;
        return this.#content(start, escaped);
      }
      if (code === BACKSLASH) {
        escaped = true;
        index += 1;
      } else if (code < SPACE) throw this.#error("a control character in a string");
    }
    throw this.#error("a string without its end");
  }

  #content(start: number, escaped: boolean): string {
    const content = escaped ? this.#unescape(start) : this.#text.slice(start + 1, this.#at - 1);
    if (!content.isWellFormed()) throw this.#error("a lone surrogate in a string");
    if (content.includes("\0")) throw this.#error("U+0000 in a string");
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
    const literal = this.#match(NUMBER);
    if (literal === undefined) throw this.#error("a value was expected");
    const nearest = Number(literal);
    if (isExact(literal, nearest)) return nearest;
    this.inexactNumber = true;
    return undefined;
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

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipBlanks(): void {
    for (;;) {
      const character = this.#text[this.#at];
      if (character !== " " && character !== "\n" && character !== "\r" && character !== "\t") return;
      this.#at += 1;
    }
  }

  #error(what: string): JsonError {
    return new JsonError(`${what}, at character ${this.#at + 1}`);
  }
}

/** Go takes the Kelvin sign for `k` and the long s for `s`, so that lower case alone is not enough. */
function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}
