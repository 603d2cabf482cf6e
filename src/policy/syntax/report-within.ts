import { sourceOffset } from "./scalar-offset.ts";
import type { Range } from "../diagnostics/source-text.ts";
import type { ScalarNode } from "./tree.ts";
import type { DiagnosticContent, Reporter } from "../diagnostics/reporter.ts";

/** Reports a finding about part of a scalar's decoded text, at its position in the file. */
export function reportWithin(report: Reporter, scalar: ScalarNode, finding: DiagnosticContent & Range): void {
  const start = sourceOffset(scalar, finding.start);
  // the marked text ends after its last character, not where the next one begins, which may be on a later line
  const end = finding.end > finding.start ? sourceOffset(scalar, finding.end - 1) + 1 : start;
  report.report({ source: scalar.source, start, end }, finding);
}
