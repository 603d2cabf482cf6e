import { EVENT_ID, parseEvents, YAMLException, type Event } from "js-yaml";
import type { Reporter } from "../diagnostics/reporter.ts";
import { TreeBuilder } from "./build-tree.ts";
import type { SourceText } from "../diagnostics/source-text.ts";
import type { YamlNode } from "./tree.ts";

/** In UTF-16 units. */
export const MAX_FILE_LENGTH = 5 * 1024 * 1024;
/** Maximum nesting depth of lists and mappings; a policy set needs six. */
export const MAX_DEPTH = 32;

/** Byte order marks within the text, and characters that make text look different from what it is, even in comments. */
const HIDDEN = /[\uFEFF\u202A-\u202E\u2066-\u2069]/;

/**
 * Parses a file as one YAML 1.2 document. Takes bounded time and memory whatever the text is, and never throws: all
 * findings go to `report`.
 *
 * @returns the document, as far as it could be read; `undefined` if there is none
 */
export function parseDocument(source: SourceText, report: Reporter): YamlNode | undefined {
  const { text } = source;
  if (text.length > MAX_FILE_LENGTH) {
    const message = `the file is longer than ${MAX_FILE_LENGTH / 1024 / 1024} MB`;
    report.error(at(source, 0), "file-too-large", message, "split it into several files in a folder");
    return undefined;
  }
  const hidden = text.search(HIDDEN);
  if (hidden >= 0) {
    const code = text.charCodeAt(hidden).toString(16).toUpperCase();
    const message = `the invisible character U+${code} is not accepted`;
    report.error(at(source, hidden), "invalid-character", message, "delete it");
    return undefined;
  }
  const events = readEvents(source, report);
  return events && new TreeBuilder(source, report).build(events);
}

function readEvents(source: SourceText, report: Reporter): Event[] | undefined {
  const { text } = source;
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    if (events.some((event) => event.type === EVENT_ID.DOCUMENT)) return events;
    report.error(at(source, 0), "empty-file", "the file is empty", "delete the file, or write a policy set");
  } catch (error) {
    const known = error instanceof YAMLException;
    // the parser appends a character of its own to the text
    const offset = Math.min(known ? (error.mark?.position ?? 0) : 0, text.length);
    const reason = known ? error.reason : String(error);
    report.error(
      at(source, offset),
      "yaml-syntax",
      `not valid YAML: ${reason}`,
      syntaxHint(text, offset, reason),
    );
  }
  return undefined;
}

function syntaxHint(text: string, offset: number, reason: string): string | undefined {
  if (reason.startsWith("nesting exceeded"))
    return `lists and mappings may be nested at most ${MAX_DEPTH} levels deep`;
  if (reason.startsWith("missed comma"))
    return "within `{ }`, put a condition that contains `[`, `{` or `,` in single quotes, or put it on its own line";
  const line = /(?<![^\r\n])[^\r\n]*$/.exec(text.slice(Math.max(0, offset - 1000), offset))?.[0] ?? "";
  if (/^\s*\t/.test(line) || text[offset] === "\t") return "indent with spaces: YAML does not allow tabs";
  if (text[offset] === "@" || text[offset] === "`" || text[offset] === "%") return "put the value in quotes";
  return undefined;
}

function at(source: SourceText, start: number): { source: SourceText; start: number; end: number } {
  return { source, start, end: start + 1 };
}
