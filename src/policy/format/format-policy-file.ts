import { canonicalContent } from "../compile/canonical-content.ts";
import { compileSource } from "../compile/compile.ts";
import type { Diagnostic, PolicyFile } from "../diagnostic.ts";
import { Reporter } from "../diagnostics/reporter.ts";
import { readPolicySet, type PolicySetSource } from "../read/index.ts";
import { parseDocument } from "../syntax/parse-document.ts";
import { SourceText } from "../diagnostics/source-text.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { conditionEdits, type SourceEdit } from "./condition-edits.ts";
import { tidyLines } from "./tidy-lines.ts";

/**
 * Formats one file of a policy set in place: conditions in canonical form, no white space at the ends of lines, at most
 * one empty line in a row, LF. Comments, order, indentation and the author's quoting style are kept.
 *
 * @returns the formatted text, with the same canonical content as the file; nothing if the file has an error
 */
export function formatPolicyFile(file: PolicyFile): { text?: string; diagnostics: Diagnostic[] } {
  const report = new Reporter();
  const before = open(file, report);
  const diagnostics = report.diagnostics();
  if (before === undefined) return { diagnostics };
  const edited = open({ ...file, text: applyEdits(before.source, conditionEdits(before.set)) }, report);
  const tidied = edited && open({ ...file, text: tidyLines(edited.source, edited.root) }, report);
  // tests show that both steps keep the meaning; verify it here for this file as well
  const kept = tidied && contentOf(tidied.set) === contentOf(before.set);
  return { text: kept ? tidied.source.text : file.text, diagnostics };
}

interface Opened {
  readonly source: SourceText;
  readonly root: YamlNode;
  readonly set: PolicySetSource;
}

function open(file: PolicyFile, report: Reporter): Opened | undefined {
  const source = new SourceText(file);
  const root = parseDocument(source, report);
  const set = root && readPolicySet([root], report);
  return set && report.clean ? { source, root, set } : undefined;
}

function contentOf(set: PolicySetSource): string {
  return canonicalContent(compileSource(set, ""));
}

function applyEdits({ text }: SourceText, edits: readonly SourceEdit[]): string {
  let result = "";
  let done = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(done, edit.start) + edit.text;
    done = edit.end;
  }
  return result + text.slice(done);
}
