import { EVENT_ID, parseEvents, YAMLException, type Event } from "js-yaml";
import type { Reporter } from "../diagnostics/reporter.ts";
import { TreeBuilder } from "./build-tree.ts";
import type { SourceText } from "../diagnostics/source-text.ts";
import type { YamlNode } from "./tree.ts";

/** In UTF-16 units. */
export const MAX_FILE_LENGTH = 5 * 1024 * 1024;
/** Lists and mappings within each other; a policy set needs six. */
export const MAX_DEPTH = 32;

/** Byte order marks within the text, and what makes it read otherwise than it looks; in comments, too. */
const HIDDEN = /[\uFEFF\u202A-\u202E\u2066-\u2069]/;

/**
 * Parses a file as one YAML 1.2 document. Bounded in time and memory whatever the text is, and never throws:
 * everything found goes to `report`.
 *
 * @returns the document, as far as it could be read; `undefined` where there is none.
 */
export function parseDocument(source: SourceText, report: Reporter): YamlNode | undefined {
  const { text } = source;
  if (text.length > MAX_FILE_LENGTH) {
    const message = `the file is longer than ${MAX_FILE_LENGTH / 1024 / 1024} MB`;
    report.error(at(source, 0), "file-too-large", message, "make it a folder of several files");
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
    report.error(
      at(source, 0),
      "empty-file",
      "the file holds nothing",
      "delete the file, or write a policy set",
    );
  } catch (error) {
    const known = error instanceof YAMLException;
    // the parser counts a character of its own after the end of the text
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
    return `lists and mappings may be nested ${MAX_DEPTH} levels deep`;
  if (reason.startsWith("missed comma"))
    return "within `{ }`, put a condition that holds `[`, `{` or `,` in single quotes, or give it a line of its own";
  const line = /(?<![^\r\n])[^\r\n]*$/.exec(text.slice(Math.max(0, offset - 1000), offset))?.[0] ?? "";
  if (/^\s*\t/.test(line) || text[offset] === "\t") return "indent with spaces, YAML allows no tabs";
  if (text[offset] === "@" || text[offset] === "`" || text[offset] === "%") return "put the value in quotes";
  return undefined;
}

function at(source: SourceText, start: number): { source: SourceText; start: number; end: number } {
  return { source, start, end: start + 1 };
}
