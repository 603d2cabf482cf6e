import type { SegmentIR } from "../ir.ts";

/** @returns a text that is equal for patterns that differ only in their parameter names */
export function shapeOf(segments: readonly SegmentIR[]): string {
  return JSON.stringify(
    segments.map((segment) => (segment.kind === "literal" ? segment.value : [segment.kind])),
  );
}
