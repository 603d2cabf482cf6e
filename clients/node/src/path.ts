import { ConfigurationError } from "./errors.ts";

/**
 * A path with its parameters encoded.
 *
 * @throws ConfigurationError for a parameter that would lead to another path: empty, `.` or `..`
 */
export function path(texts: TemplateStringsArray, ...values: readonly string[]): string {
  return texts.reduce((before, text, index) => {
    const value: unknown = values[index - 1];
    if (typeof value !== "string" || value === "" || value === "." || value === "..")
      throw new ConfigurationError(`\`${String(value)}\` cannot be part of a path`);
    return `${before}${encodeURIComponent(value)}${text}`;
  });
}
