import type { Diagnostic, PolicyFile } from "../diagnostic.ts";
import { Reporter } from "../diagnostics/reporter.ts";
import { readFields, readItems, readString, type Fields } from "../read/reader.ts";
import { parseDocument } from "../syntax/parse-document.ts";
import { SourceText } from "../diagnostics/source-text.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { parsePeople } from "./parse-actor.ts";
import { parseMatrix } from "./parse-matrix.ts";
import { parseTest } from "./parse-test.ts";
import type { Suite, SuiteCase } from "./types.ts";
import { placeOf } from "../syntax/place-of.ts";

/** Maximum number of cases in one file, matrices expanded. */
export const MAX_CASES = 10_000;

/** A suite, if its file has no errors, and all findings about the file. */
export interface ParsedSuite {
  readonly suite?: Suite;
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses a `*.test.yaml` file. Never throws; all mistakes in the file are reported at once. */
export function parseSuite(file: PolicyFile): ParsedSuite {
  const report = new Reporter();
  const root = parseDocument(new SourceText(file), report);
  const suite = root && readSuite(root, report);
  const diagnostics = report.diagnostics();
  return suite !== undefined && report.clean ? { suite, diagnostics } : { diagnostics };
}

function readSuite(root: YamlNode, report: Reporter): Suite | undefined {
  const fields = readFields(report, root, "a test file", ["policy_set", "people", "tests", "matrix"]);
  if (fields === undefined) return undefined;
  const setNode = fields.require("policy_set");
  const policySet = setNode && readString(report, setNode, "`policy_set`")?.text;
  const context = { report, people: parsePeople(report, fields.get("people")), names: new Set<string>() };

  const cases: SuiteCase[] = [];
  for (const node of itemsOf("tests", fields, report)) {
    const test = parseTest(node, context);
    if (test !== undefined) cases.push(test);
  }
  for (const node of itemsOf("matrix", fields, report)) {
    cases.push(...parseMatrix(node, context, MAX_CASES - cases.length));
  }

  if (cases.length > MAX_CASES) {
    const message = `the file has more than ${MAX_CASES} cases`;
    report.error(placeOf(root), "too-many-cases", message, "split it into several files");
  }
  if (cases.length === 0 && report.clean) report.error(placeOf(root), "no-tests", "the file has no tests");
  return { file: root.source.file, policySet: policySet ?? "", cases: cases.toSorted(byPosition) };
}

function itemsOf(key: string, fields: Fields, report: Reporter): readonly YamlNode[] {
  const node = fields.get(key);
  return node === undefined ? [] : readItems(report, node, `\`${key}\``);
}

function byPosition({ at: a }: SuiteCase, { at: b }: SuiteCase): number {
  return a.line - b.line || a.column - b.column;
}
