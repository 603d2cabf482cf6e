import { sourceOffset } from "./scalar-offset.ts";
import type { Range } from "../diagnostics/source-text.ts";
import type { ScalarNode } from "./tree.ts";
import type { DiagnosticContent, Reporter } from "../diagnostics/reporter.ts";

/** Reports a finding about a stretch of a scalar's decoded text at its place in the file. */
export function reportWithin(report: Reporter, scalar: ScalarNode, finding: DiagnosticContent & Range): void {
  const start = sourceOffset(scalar, finding.start);
  // the marked text ends behind its last character, not where the next one begins: that may be a line further down
  const end = finding.end > finding.start ? sourceOffset(scalar, finding.end - 1) + 1 : start;
  report.report({ source: scalar.source, start, end }, finding);
}
