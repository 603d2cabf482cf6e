import type { Diagnostic } from "../policy/diagnostic.ts";

/** A finding, with its source text if it is in a file (findings about variables and options are not). */
export interface ConfigFinding {
  readonly diagnostic: Diagnostic;
  readonly text?: string;
}

const MOST_SHOWN = 50;

/** All findings as readable text: place and message, the source line, a caret, and a hint. */
export function formatFindings(findings: readonly ConfigFinding[]): string {
  const shown = findings.slice(0, MOST_SHOWN).map(formatFinding);
  const rest = findings.length - shown.length;
  return [...shown, ...(rest > 0 ? [`and ${String(rest)} more`] : [])].join("\n");
}

function formatFinding({ diagnostic, text }: ConfigFinding): string {
  const { file, line, column, length, message, hint } = diagnostic;
  const place = text === undefined ? file : `${file}:${String(line)}:${String(column)}`;
  const lines = [`${place}: ${message}`];
  const source = text?.split(/\r?\n/)[line - 1];
  if (source !== undefined) {
    const margin = String(line).replaceAll(/\d/g, " ");
    const indent = source.slice(0, column - 1).replaceAll(/[^\t]/g, " ");
    lines.push(` ${String(line)} | ${source}`, ` ${margin} | ${indent}${"^".repeat(length)}`);
  }
  if (hint !== undefined) lines.push(`   ${hint}`);
  return lines.join("\n");
}

/** Line and column of an offset, and the length of the marked part of that line. */
export function locate(text: string, start: number, end: number) {
  const before = text.slice(0, start);
  const lineStart = before.lastIndexOf("\n") + 1;
  const lineEnd = text.indexOf("\n", start);
  const last = Math.min(end, lineEnd < 0 ? text.length : lineEnd);
  return {
    line: before.split("\n").length,
    column: start - lineStart + 1,
    length: Math.max(1, last - start),
  };
}
