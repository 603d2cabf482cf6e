import type { Diagnostic } from "../diagnostic.ts";

/** @returns the first error on one line, and the number of others; empty if there is none */
export function summarizeErrors(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first === undefined) return "";
  const more = errors.length === 1 ? "" : ` (and ${errors.length - 1} more)`;
  return `${first.file}:${first.line}:${first.column}: ${first.message}${more}`;
}
