import { ApiError } from "../errors.ts";
import { isStorable } from "./json-text.ts";

/**
 * Reads a query strictly: each parameter once, in percent-encoded UTF-8.
 *
 * @throws ApiError 400
 */
export function readQuery(url: string): Readonly<Record<string, string>> {
  const at = url.indexOf("?");
  const query = Object.create(null) as Record<string, string>;
  if (at < 0) return query;
  for (const part of url.slice(at + 1).split("&")) {
    if (part === "") continue;
    const [name = "", ...rest] = part.split("=");
    const key = decode(name);
    if (key in query) throw malformed(`the parameter \`${key}\` is repeated`);
    query[key] = decode(rest.join("="));
  }
  return query;
}

/** Percent-decodes, `+` being a space. */
function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "));
    if (isStorable(decoded)) return decoded;
  } catch {
    // told below, like a character that no parameter holds
  }
  throw malformed("the query is not percent-encoded text");
}

function malformed(message: string): ApiError {
  return new ApiError("INVALID_PARAMETER", { message });
}
