import { exactNumber } from "./exact-number.ts";
import { UNAVAILABLE, type Value } from "../value.ts";

/** A value with the span of its text, in UTF-16 units. */
export type JsonNode = JsonScalar | JsonObject | JsonArray;

interface JsonSpan {
  readonly start: number;
  readonly stop: number;
}
export interface JsonScalar extends JsonSpan {
  readonly kind: "string" | "number" | "boolean" | "null";
  /** A string may have half a surrogate pair in it; a number is the nearest double, or NaN where that is another. */
  readonly value: string | number | boolean | null;
}
export interface JsonArray extends JsonSpan {
  readonly kind: "array";
  readonly items: readonly JsonNode[];
}
export interface JsonObject extends JsonSpan {
  readonly kind: "object";
  /** In the order of the text; names may repeat, and may have half a surrogate pair in them. */
  readonly members: readonly JsonMember[];
}
export interface JsonMember {
  readonly name: string;
  /** Where its key begins. */
  readonly start: number;
  readonly value: JsonNode;
}

export type JsonReason = "syntax" | "utf8" | "depth" | "values";
export type JsonResult =
  { readonly ok: true; readonly root: JsonNode } | { readonly ok: false; readonly reason: JsonReason };

/** How deep objects and arrays may lie in each other. */
const MAX_DEPTH = 256;

/**
 * Reads a document strictly (RFC 8259): no more and no less than the grammar, no byte order mark, and nothing that UTF-8
 * cannot say (RFC 3629). Never throws. The same as `envoy/lua/gatehouse/json_tape.lua`.
 *
 * @param values - how many there may be
 */
export function parseJson(text: string, values = Infinity): JsonResult {
  if (!text.isWellFormed()) return { ok: false, reason: "utf8" };
  try {
    return { ok: true, root: new Reader(text, values).document() };
  } catch (error) {
    return { ok: false, reason: error instanceof Refusal ? error.reason : "syntax" };
  }
}

/** What conditions see of values; each is made once. */
export type SeenValue = Value | typeof UNAVAILABLE;

const seen = new WeakMap<JsonNode, SeenValue>();

/**
 * A value as conditions see it. A member that stands twice is UNAVAILABLE. What is there, but is compared with nothing
 * (numbers that a double rounds, half of a surrogate pair), is what no operator takes.
 */
export function seenValue(node: JsonNode): SeenValue {
  let value = seen.get(node);
  if (value === undefined) {
    value = makeSeenValue(node);
    seen.set(node, value);
  }
  return value;
}

function makeSeenValue(node: JsonNode): SeenValue {
  if (node.kind === "array") return node.items.map(seenValue) as Value;
  if (node.kind !== "object") return node.value;
  const members = new Map<string, SeenValue>();
  for (const { name, value } of node.members) {
    if (!name.isWellFormed()) continue; // equals no name
    members.set(name, members.has(name) ? UNAVAILABLE : seenValue(value));
  }
  // no setter of a prototype is called here, whatever the names are
  return Object.fromEntries(members) as Value;
}

class Refusal extends Error {
  readonly reason: JsonReason;
  constructor(reason: JsonReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Section 6. */
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
/** Section 7: what stands in a string other than single characters. */
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SPACE = /[ \t\n\r]*/y;

class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #valuesLeft: number;

  constructor(text: string, values: number) {
    this.#text = text;
    this.#valuesLeft = values;
  }

  document(): JsonNode {
    this.#space();
    const root = this.#value();
    this.#space();
    if (this.#at !== this.#text.length) throw new Refusal("syntax");
    return root;
  }

  #value(): JsonNode {
    if (this.#valuesLeft === 0) throw new Refusal("values");
    this.#valuesLeft -= 1;
    const start = this.#at;
    switch (this.#text[start]) {
      case "{": {
        const members: JsonMember[] = [];
        this.#inBrackets("}", () => members.push(this.#member()));
        return { kind: "object", start, stop: this.#at, members };
      }
      case "[": {
        const items: JsonNode[] = [];
        this.#inBrackets("]", () => items.push(this.#value()));
        return { kind: "array", start, stop: this.#at, items };
      }
      case '"':
        return { kind: "string", value: this.#string(), start, stop: this.#at };
      case "t":
      case "f":
      case "n": {
        const value = JSON.parse(this.#token(LITERAL)) as boolean | null;
        return { kind: value === null ? "null" : "boolean", value, start, stop: this.#at };
      }
      default:
        return { kind: "number", value: exactNumber(this.#token(NUMBER)) ?? NaN, start, stop: this.#at };
    }
  }

  #member(): JsonMember {
    const start = this.#at;
    const name = this.#string();
    this.#space();
    this.#expect(":");
    this.#space();
    return { name, start, value: this.#value() };
  }

  /** Reads what stands in brackets, from the opening to the closing one, and commas between. */
  #inBrackets(close: string, read: () => void): void {
    if (this.#depth === MAX_DEPTH) throw new Refusal("depth");
    this.#depth += 1;
    this.#at += 1;
    this.#space();
    if (this.#text[this.#at] !== close) {
      for (;;) {
        read();
        this.#space();
        if (this.#text[this.#at] !== ",") break;
        this.#at += 1;
        this.#space();
      }
    }
    this.#expect(close);
    this.#depth -= 1;
  }

  #string(): string {
    const start = this.#at;
    this.#expect('"');
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined || character < " ") throw new Refusal("syntax");
      if (character === "\\") this.#token(ESCAPE);
      else this.#at += 1;
      if (character === '"') return JSON.parse(this.#text.slice(start, this.#at)) as string;
    }
  }

  #expect(character: string): void {
    if (this.#text[this.#at] !== character) throw new Refusal("syntax");
    this.#at += 1;
  }

  #token(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [token] = pattern.exec(this.#text) ?? [];
    if (token === undefined) throw new Refusal("syntax");
    this.#at += token.length;
    return token;
  }

  #space(): void {
    this.#token(SPACE);
  }
}
