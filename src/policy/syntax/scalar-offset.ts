import type { ScalarNode } from "./tree.ts";

/**
 * Maps an index into a scalar's decoded text to an offset in the file, through folded lines, indentation and escapes
 * (YAML 1.2.2 sections 7.3 and 8.1).
 *
 * @param index - into `scalar.text`, up to and including its length
 * @returns an offset into the file
 */
export function sourceOffset(scalar: ScalarNode, index: number): number {
  return offsetsOf(scalar)[index] ?? scalar.content.end;
}

/** @returns for each UTF-16 unit of the decoded text, its offset in the file */
export function offsetsOf(scalar: ScalarNode): readonly number[] {
  const isBlock = scalar.style === "literal" || scalar.style === "folded";
  return isBlock ? blockOffsets(scalar) : flowOffsets(scalar);
}

/** A line break with the white space around it; white space that ends a line. */
const FOLD = /[ \t]*(?:\r\n?|\n)[ \t\r\n]*/y;
/** An escaped line break, and everything up to the next text. */
const ESCAPED_BREAK = /\\(?:\r\n?|\n)[ \t\r\n]*/y;
const ESCAPE = /\\(?:x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|[^])/y;

function flowOffsets({ source, style, content }: ScalarNode): number[] {
  const offsets: number[] = [];
  const text = source.text.slice(content.start, content.end);
  let at = 0;
  const next = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  const emit = (units: number) => {
    for (let unit = 0; unit < units; unit++) offsets.push(content.start + at);
  };
  while (at < text.length) {
    const character = text[at];
    const escaped = style === "double-quoted" && character === "\\";
    const skipped = escaped ? next(ESCAPED_BREAK) : undefined;
    const escape = escaped && skipped === undefined ? next(ESCAPE) : undefined;
    const fold = escaped ? undefined : next(FOLD);
    if (escape !== undefined) {
      emit(unitsOf(escape));
    } else if (fold !== undefined) {
      // one line break is a space; several become one line feed fewer
      emit(Math.max(1, breaksIn(fold) - 1));
    } else if (skipped === undefined) {
      emit(1);
    }
    const doubled = style === "single-quoted" && character === "'";
    at += (skipped ?? escape ?? fold)?.length ?? (doubled ? 2 : 1);
  }
  return offsets;
}

function unitsOf(escape: string): number {
  // `| 0` as in the parser: eight digits can exceed the range of Unicode
  return escape.startsWith("\\U") && (Number.parseInt(escape.slice(2), 16) | 0) > 0xffff ? 2 : 1;
}

function blockOffsets(scalar: ScalarNode): number[] {
  const { source, content, indent, style, text: decoded } = scalar;
  const offsets: number[] = [];
  let pending: number[] = []; // line breaks since the last text, not yet resolved
  let wasIndented = false;
  for (const line of source.text.slice(content.start, content.end).matchAll(/([^\r\n]*)(?:\r\n?|\n|$)/g)) {
    const start = content.start + line.index;
    const all = line[1] ?? "";
    const spaces = Math.min(/^ */.exec(all)?.[0].length ?? 0, indent);
    const text = indent < 0 ? "" : all.slice(spaces); // without text, no line has more than its indentation
    if (text !== "") {
      const isIndented = /^[ \t]/.test(text);
      const folds = style === "folded" && !isIndented && !wasIndented && offsets.length > 0;
      // between two lines of a paragraph, one line break is a space; several become one line feed fewer
      for (let at = folds && pending.length > 1 ? 1 : 0; at < pending.length; at++)
        offsets.push(pending[at] ?? start);
      for (let at = 0; at < text.length; at++) offsets.push(start + spaces + at);
      wasIndented = isIndented;
      pending = [];
    }
    pending.push(start + all.length);
  }
  for (let at = 0; offsets.length < decoded.length; at++) offsets.push(pending[at] ?? content.end);
  return offsets;
}

function breaksIn(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}
