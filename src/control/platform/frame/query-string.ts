import { ApiError } from "../errors.ts";
import { isStorable } from "./json-text.ts";

/**
 * Parses a query strictly: each parameter at most once, in percent-encoded UTF-8.
 *
 * @throws ApiError 400
 */
export function readQuery(url: string): Readonly<Record<string, string>> {
  const at = url.indexOf("?");
  return readParameters(at < 0 ? "" : url.slice(at + 1), "query");
}

/**
 * Parses parameters in the format of a query or form (application/x-www-form-urlencoded).
 *
 * @throws ApiError 400
 */
export function readParameters(text: string, where: "query" | "body"): Readonly<Record<string, string>> {
  const parameters = Object.create(null) as Record<string, string>;
  for (const part of text.split("&")) {
    if (part === "") continue;
    const [name = "", ...rest] = part.split("=");
    const key = decode(name, where);
    if (key in parameters) throw malformed(`the parameter \`${key}\` is repeated`);
    parameters[key] = decode(rest.join("="), where);
  }
  return parameters;
}

/** Percent-decodes; `+` is a space. */
function decode(text: string, where: "query" | "body"): string {
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "));
    if (isStorable(decoded)) return decoded;
  } catch {
    // told below, like a character that no parameter holds
  }
  throw malformed(`the ${where} is not valid percent-encoded UTF-8`);
}

function malformed(message: string): ApiError {
  return new ApiError("INVALID_PARAMETER", { message });
}
