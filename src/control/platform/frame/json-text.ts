import { JsonError, parseJson } from "../../../json/index.ts";
import { decodeUtf8 } from "../../../text/index.ts";
import { ApiError } from "../errors.ts";

/** Deeper than any body of this API. */
const MAX_DEPTH = 32;
/** Of a body whose parts are looked at one by one; far from where a recursive function such as `JSON.stringify` fails. */
const MAX_DEPTH_OF_ANY = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}`: each two differ in this bit alone. */
const BRACE = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/**
 * Parses a request's body. Refused are texts that are not JSON in UTF-8, that nest deeper than any body needs to, that
 * repeat a member (RFC 8259, section 4: readers differ in which they keep) or hold a number that is not exact (section 6:
 * it would be stored as another one, or given to gateways as digits that they do not read), and strings that PostgreSQL cannot hold.
 *
 * @param any - accepts what is JSON and nested up to {@link MAX_DEPTH_OF_ANY} deep: its parts are looked at one by one
 * @throws ApiError MALFORMED_JSON
 */
export function parseJsonBody(bytes: Uint8Array, any = false): unknown {
  const decoded = decodeUtf8(bytes);
  if (!decoded.valid) throw malformed("the body is not UTF-8");
  // RFC 8259, section 8.1: a byte order mark may be ignored
  const text = decoded.text.startsWith("\ufeff") ? decoded.text.slice(1) : decoded.text;
  return any ? parseAny(bytes, text) : parseStrictly(text);
}

function parseStrictly(text: string): unknown {
  try {
    const parsed = parseJson(text, { depth: MAX_DEPTH, plainObjects: true, byValue: true });
    if (parsed.duplicateMember) throw malformed("the body has a duplicate member");
    if (parsed.inexactNumberAt !== undefined)
      throw malformed(
        `the body contains a number that not every parser reads exactly, at character ${parsed.inexactNumberAt + 1}; send it as a string`,
      );
    return parsed.value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw malformed(`the body is not valid JSON: ${error.message}`, error);
  }
}

/** Members may repeat, of which the last counts, and a number is its nearest double. */
function parseAny(bytes: Uint8Array, text: string): unknown {
  requireDepth(bytes, MAX_DEPTH_OF_ANY);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed("the body is not JSON", cause);
  }
}

/**
 * Without recursion, and before anything is parsed. Of the bytes: what matters is ASCII, which in UTF-8 is part of no other
 * character.
 *
 * @throws ApiError MALFORMED_JSON for a text that is nested more than `maxDepth` deep
 */
function requireDepth(bytes: Uint8Array, maxDepth: number): void {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if ((byte | BRACE) === OPENING) {
      depth += 1;
      if (depth > maxDepth) throw malformed(`the body is nested more than ${maxDepth} levels deep`);
    } else if ((byte | BRACE) === CLOSING) depth -= 1;
  }
}

/** Whether PostgreSQL can hold it as text. */
export function isStorable(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}

function malformed(message: string, cause?: unknown): ApiError {
  return new ApiError("MALFORMED_JSON", { message, cause });
}
