import type { SourceText } from "../diagnostics/source-text.ts";
import type { ScalarNode, YamlNode } from "../syntax/tree.ts";

/**
 * Removes trailing white space, collapses several empty lines into one, and ends every line with LF. Lines inside a
 * multi-line scalar are not changed.
 */
export function tidyLines(source: SourceText, root: YamlNode): string {
  const content = contentLines(source, root);
  const lines: string[] = [];
  let removable = 0; // empty lines at the end so far
  for (let number = 1; number <= source.lineStarts.length; number++) {
    const line = source.line(number);
    const tidied = content.has(number) ? line : line.replace(/(?<![ \t])[ \t]+$/, "");
    const isEmpty = tidied === "" && !content.has(number);
    if (isEmpty && (removable > 0 || lines.length === 0)) continue;
    removable = isEmpty ? 1 : 0;
    lines.push(tidied);
  }
  return `${lines.slice(0, lines.length - removable).join("\n")}\n`;
}

/** @returns the numbers of all lines whose line ends are part of a scalar */
function contentLines(source: SourceText, root: YamlNode): Set<number> {
  const lines = new Set<number>();
  const seen = new Set<YamlNode>();
  const ahead: YamlNode[] = [root];
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    if (seen.has(node)) continue; // already visited, through an alias
    seen.add(node);
    if (node.kind === "sequence") for (const item of node.items) ahead.push(item);
    else if (node.kind === "mapping") for (const { key, value } of node.entries) ahead.push(key, value);
    else for (const line of linesOf(source, node)) lines.add(line);
  }
  return lines;
}

function linesOf(source: SourceText, { content, style, indent, keepsBreaks }: ScalarNode): number[] {
  const isBlock = style === "literal" || style === "folded";
  const first = source.position(content.start).line;
  // the end of a quoted or plain scalar's last line is not content; a block scalar's last line break is
  let last = source.position(Math.max(content.start, content.end - 1)).line;
  if (!isBlock || content.end === content.start) last--;
  const isChomped = () => /^ *$/.test(source.line(last)) && source.line(last).length <= indent;
  while (isBlock && !keepsBreaks && last >= first && isChomped()) last--;
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
