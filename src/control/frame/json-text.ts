import { ApiError } from "../errors.ts";

/** Deeper than any body of this API, and far from where recursion over it would fail. */
const MAX_DEPTH = 32;

/**
 * Parses a request's body. Refused are texts that are no JSON in UTF-8, that nest deeper than any body needs to, that
 * repeat a member (RFC 8259, section 4: readers differ in which they keep), and strings that PostgreSQL cannot hold.
 *
 * @param any - accepts all that is JSON: whoever takes it looks at its parts one by one
 * @throws ApiError MALFORMED_JSON
 */
export function parseJsonBody(bytes: Uint8Array, any = false): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw malformed("the body is not UTF-8", cause);
  }
  const members = any ? undefined : measure(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed("the body is not JSON", cause);
  }
  if (members !== undefined && inspect(value) !== members)
    throw malformed("a member of the body is repeated");
  return value;
}

/** Counts `:` outside strings: the members of valid JSON. */
function measure(text: string): number {
  let members = 0;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === ":") members += 1;
    else if (character === "{" || character === "[") {
      depth += 1;
      if (depth > MAX_DEPTH) throw malformed(`the body is nested more than ${MAX_DEPTH} deep`);
    } else if (character === "}" || character === "]") depth -= 1;
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
