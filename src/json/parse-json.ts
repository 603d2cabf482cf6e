import { JsonScanner, type JsonLimits } from "./scanner.ts";
import type { JsonValue } from "./value.ts";

export interface JsonOptions extends JsonLimits {
  /**
   * Objects are like those of `JSON.parse`, and one with a member `__proto__` is refused. By default objects have no
   * prototype, so that `__proto__` is an ordinary member.
   */
  readonly plainObjects?: boolean;
}

/** The value of a JSON text, and what makes it ambiguous. */
export interface ParsedJson {
  readonly value: JsonValue;
  /** An object has a duplicate member; `value` has the last one, as in nearly every parser. */
  readonly duplicateMember: boolean;
  /** Two members of an object have names that differ only in letter case; `value` has both. */
  readonly similarMembers: boolean;
  /** The start of the first inexact number, which is NaN in `value`. */
  readonly inexactNumberAt: number | undefined;
}

/**
 * Maximum number of values in a request's JSON. Parsing time depends far more on the number of values than on bytes.
 * This many take less than 10 ms (bench/pauses.ts); 1 MB of the smallest values would take 200 ms or more in any
 * parser.
 */
export const MAX_VALUES = 10_000;

/**
 * Parses one JSON text (RFC 8259) strictly: see {@link JsonScanner}.
 *
 * @throws {@link JsonError}
 */
export function parseJson(text: string, options: JsonOptions): ParsedJson {
  const parser = new Parser(text, options);
  const value = parser.document();
  return {
    value,
    duplicateMember: parser.duplicateMember,
    similarMembers: parser.similarMembers,
    inexactNumberAt: parser.inexactNumberAt,
  };
}

const PROTOTYPE = "__proto__";

class Parser {
  readonly #scanner: JsonScanner;
  readonly #plainObjects: boolean;
  duplicateMember = false;
  similarMembers = false;

  constructor(text: string, options: JsonOptions) {
    this.#scanner = new JsonScanner(text, options);
    this.#plainObjects = options.plainObjects ?? false;
  }

  get inexactNumberAt(): number | undefined {
    return this.#scanner.inexactNumberAt;
  }

  document(): JsonValue {
    const value = this.#value();
    this.#scanner.end();
    return value;
  }

  #value(): JsonValue {
    switch (this.#scanner.start()) {
      case "object":
        return this.#object();
      case "array":
        return this.#array();
      case "string":
        return this.#scanner.string();
      case "word":
        return this.#scanner.word();
      case "number":
        return this.#scanner.number();
    }
  }

  /** object = "{" [ member *( "," member ) ] "}" */
  #object(): JsonValue {
    const scanner = this.#scanner;
    const object = (this.#plainObjects ? {} : Object.create(null)) as Record<string, JsonValue>;
    if (!scanner.open()) return object;
    let folded = true;
    do {
      const name = scanner.memberName();
      folded &&= scanner.folded;
      if (Object.hasOwn(object, name)) this.duplicateMember = true;
      if (this.#plainObjects && name === PROTOTYPE) scanner.refuse("a member named `__proto__`");
      object[name] = this.#value();
    } while (scanner.hasNextMember());
    if (!folded) this.#compareNames(Object.keys(object));
    return object;
  }

  #compareNames(names: readonly string[]): void {
    const folded = new Set<string>();
    for (const name of names) folded.add(foldCase(name));
    if (folded.size < names.length) this.similarMembers = true;
  }

  /** array = "[" [ value *( "," value ) ] "]" */
  #array(): JsonValue {
    const array: JsonValue[] = [];
    if (!this.#scanner.open()) return array;
    do array.push(this.#value());
    while (this.#scanner.hasNextElement());
    return array;
  }
}

const BEYOND_ASCII = /[^\0-\x7f]/;

/** Go folds the Kelvin sign to `k` and the long s to `s`, so lower-casing alone is not enough. */
function foldCase(name: string): string {
  return BEYOND_ASCII.test(name) ? name.toUpperCase().toLowerCase() : name.toLowerCase();
}
