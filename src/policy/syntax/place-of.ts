import type { SourceRange } from "../diagnostics/reporter.ts";
import type { Range, SourceText } from "../diagnostics/source-text.ts";
import type { YamlNode } from "./tree.ts";

/** @returns the range to mark for a node: all of a scalar, the first key of a block mapping, else one character */
export function placeOf(node: YamlNode): SourceRange {
  const { source } = node;
  if (node.kind === "scalar")
    return { source, ...(node.indent < 0 ? node : withoutIndent(node.content, source)) };
  const first = node.kind === "mapping" ? node.entries[0]?.key : undefined;
  if (first?.start === node.start) return placeOf(first);
  return { source, start: node.start, end: node.start + 1 };
}

function withoutIndent({ start, end }: Range, { text }: SourceText): Range {
  const shown = start + (/^\s*/.exec(text.slice(start, end))?.[0].length ?? 0);
  return { start: shown, end };
}
