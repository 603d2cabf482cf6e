import type { PolicyFile } from "../diagnostic.ts";
import type { Reporter } from "../diagnostics/reporter.ts";
import { parseDocument } from "./parse-document.ts";
import { SourceText } from "../diagnostics/source-text.ts";
import type { YamlNode } from "./tree.ts";

/** @returns the documents of the files, in the order of the files' names; files that cannot be read are reported */
export function parseFiles(files: readonly PolicyFile[], report: Reporter): YamlNode[] {
  if (files.length === 0) {
    const nowhere = { source: new SourceText({ name: "(no file)", text: "" }), start: 0, end: 1 };
    report.error(nowhere, "no-files", "the policy set has no files");
  }
  return files
    .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
    .flatMap((file) => parseDocument(new SourceText(file), report) ?? []);
}
