import { UNPRINTABLE, visible } from "../../text/index.ts";
import type { Diagnostic, PolicyFile } from "../diagnostic.ts";
import { SourceText } from "./source-text.ts";

/** The number of columns of a source line to show. */
const WIDTH = 100;

/**
 * Prints diagnostics for people, each with its source line, the place marked, and the hint:
 *
 *     main.yaml:3:5: error: a policy has no key `resorce` [unknown-key]
 *       3 |   - resorce: "GET /"
 *         |     ^^^^^^^
 *         = did you mean `resource`?
 *
 * Prints no colours, and no control characters whatever the files contain. Empty if there are no diagnostics.
 */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], files: readonly PolicyFile[]): string {
  const sources = new Map(files.map((file) => [file.name, new SourceText(file)]));
  return diagnostics.map((diagnostic) => render(diagnostic, sources.get(diagnostic.file))).join("\n");
}

function render(diagnostic: Diagnostic, source: SourceText | undefined): string {
  const { file, line, column, severity, message, code, hint } = diagnostic;
  const lines = [`${visible(file)}:${line}:${column}: ${severity}: ${visible(message)} [${code}]`];
  const gutter = " ".repeat(String(line).length + 2);
  // the summary of findings not shown has no position
  if (source !== undefined && code !== "more-findings") {
    const [text, mark] = excerpt(source.line(line), column - 1, diagnostic.length);
    lines.push(` ${line} | ${text}`.trimEnd(), `${gutter}| ${mark}`);
  }
  if (hint !== undefined) lines.push(`${gutter}= ${visible(hint)}`);
  return `${lines.join("\n")}\n`;
}

/** @returns the part of a line around the mark, and the line of carets below it. */
function excerpt(line: string, start: number, length: number): [text: string, mark: string] {
  // a long line is cut so that the mark is in its first third
  const from = line.length <= WIDTH ? 0 : Math.max(0, Math.min(start - WIDTH / 3, line.length - WIDTH)) | 0;
  const to = Math.min(line.length, from + WIDTH);
  const before = shown(line.slice(from, start));
  const marked = shown(line.slice(start, Math.min(to, start + length)));
  const after = shown(line.slice(Math.min(to, start + length), to));
  const left = from > 0 ? "…" : "";
  const right = to < line.length ? "…" : "";
  const carets = "^".repeat(Math.max(1, columnsOf(marked)));
  return [`${left}${before}${marked}${after}${right}`, " ".repeat(left.length + columnsOf(before)) + carets];
}

/**
 * Prints a tab as two spaces, and each control character as one replacement character, so that columns can be counted.
 */
function shown(text: string): string {
  return text.replaceAll("\t", "  ").replace(UNPRINTABLE, "\uFFFD");
}

/** The width of a text in terminal columns: none for combining marks, two for wide characters. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text)
    columns += /^[\p{Mn}\p{Me}\u200B-\u200D]/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}

/** East Asian wide and full-width characters and emoji; an approximation without the tables of UAX #11. */
const WIDE =
  /^[\u{1100}-\u{115F}\u{2E80}-\u{303E}\u{3041}-\u{A4CF}\u{AC00}-\u{D7A3}\u{F900}-\u{FAFF}\u{FE30}-\u{FE6F}\u{FF00}-\u{FF60}\u{FFE0}-\u{FFE6}\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;
