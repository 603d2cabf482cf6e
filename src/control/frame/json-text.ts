import { ApiError } from "../errors.ts";

/** Deeper than any body of this API. */
const MAX_DEPTH = 32;
/** Of a body whose parts are looked at one by one; far from where a recursive function such as `JSON.stringify` fails. */
const MAX_DEPTH_OF_ANY = 1_000;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}`: each two differ in this bit alone. */
const BRACE = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/**
 * Parses a request's body. Refused are texts that are no JSON in UTF-8, that nest deeper than any body needs to, that
 * repeat a member (RFC 8259, section 4: readers differ in which they keep), and strings that PostgreSQL cannot hold.
 *
 * @param any - accepts what is JSON and nested up to {@link MAX_DEPTH_OF_ANY} deep: its parts are looked at one by one
 * @throws ApiError MALFORMED_JSON
 */
export function parseJsonBody(bytes: Uint8Array, any = false): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw malformed("the body is not UTF-8", cause);
  }
  const members = measure(bytes, any ? MAX_DEPTH_OF_ANY : MAX_DEPTH);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed("the body is not JSON", cause);
  }
  if (!any && inspect(value) !== members) throw malformed("a member of the body is repeated");
  return value;
}

/**
 * Counts `:` outside strings, the members of valid JSON, without recursion and before anything is parsed. Of the bytes: what
 * matters is ASCII, which in UTF-8 is part of no other character.
 *
 * @throws ApiError MALFORMED_JSON for a text that is nested more than `maxDepth` deep
 */
function measure(bytes: Uint8Array, maxDepth: number): number {
  let members = 0;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === COLON) members += 1;
    else if ((byte | BRACE) === OPENING) {
      depth += 1;
      if (depth > maxDepth) throw malformed(`the body is nested more than ${maxDepth} deep`);
    } else if ((byte | BRACE) === CLOSING) depth -= 1;
  }
  return members;
}

/** @returns the number of members left after parsing. */
function inspect(value: unknown): number {
  if (typeof value === "string") {
    requireStorable(value);
    return 0;
  }
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((count, item) => count + inspect(item), 0);
  return Object.entries(value).reduce((count, [name, member]) => {
    requireStorable(name);
    if (name === "__proto__") throw malformed("a member of the body is called `__proto__`");
    return count + 1 + inspect(member);
  }, 0);
}

function requireStorable(text: string): void {
  if (!isStorable(text)) throw malformed("a text in the body holds U+0000 or half of a surrogate pair");
}

/** Whether PostgreSQL can hold it as text. */
export function isStorable(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}

function malformed(message: string, cause?: unknown): ApiError {
  return new ApiError("MALFORMED_JSON", { message, cause });
}
