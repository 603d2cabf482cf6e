import { JsonError, parseJson } from "../../../json/index.ts";
import { decodeUtf8 } from "../../../text/index.ts";
import { ApiError } from "../errors.ts";

/** Deeper than any body of this API. */
const MAX_DEPTH = 32;
/**
 * For a body whose parts are checked one by one; far below the depth at which a recursive function such as
 * `JSON.stringify` fails.
 */
const MAX_DEPTH_OF_ANY = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}`: each pair differs only in this bit. */
const BRACE = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/**
 * Parses the body of a request. It refuses text that is not JSON in UTF-8, is nested deeper than any body needs,
 * repeats a member (RFC 8259, section 4: parsers differ in which one they keep) or contains an inexact number (section
 * 6: another number would be stored, or gateways would get digits that they cannot read), and strings that PostgreSQL
 * cannot store.
 *
 * @param any - accepts any JSON that is nested up to {@link MAX_DEPTH_OF_ANY} deep, because its parts are checked one
 *   by one
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

/** Members may repeat, and the last one counts; a number becomes its nearest double. */
function parseAny(bytes: Uint8Array, text: string): unknown {
  requireDepth(bytes, MAX_DEPTH_OF_ANY);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed("the body is not JSON", cause);
  }
}

/**
 * Without recursion, and before anything is parsed. It checks bytes: all that matters is ASCII, which in UTF-8 is never
 * part of another character.
 *
 * @throws ApiError MALFORMED_JSON for text that is nested more than `maxDepth` deep
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
