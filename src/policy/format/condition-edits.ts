import { conditionsOf } from "../check/uses.ts";
import { formatCondition } from "../condition/index.ts";
import type { PolicySetSource } from "../read/index.ts";
import { NOT_ACCEPTED } from "../syntax/build-tree.ts";
import { resolvePlain } from "../syntax/read-scalar.ts";
import type { Range } from "../diagnostics/source-text.ts";
import type { ScalarNode } from "../syntax/tree.ts";

/** Replaces a range of the file with `text`. */
export interface SourceEdit extends Range {
  readonly text: string;
}

/** A condition on several lines is joined into one only if that line is not longer than this. */
const WIDTH = 100;

/** @returns the edits that put every condition in canonical form. */
export function conditionEdits(set: PolicySetSource): SourceEdit[] {
  const edits = new Map<number, SourceEdit>(); // through aliases, a condition may be visited more than once
  for (const { condition } of conditionsOf(set)) {
    const { node, ast } = condition;
    const edit = editOf(node, formatCondition(ast));
    if (edit !== undefined) edits.set(edit.start, edit);
  }
  return [...edits.values()];
}

function editOf(node: ScalarNode, formatted: string): SourceEdit | undefined {
  const { source, start, end, indent } = node;
  const isBlock = node.style === "literal" || node.style === "folded";
  const written = source.text.slice(start, end);
  const column = isBlock ? indent : source.position(start).column - 1;
  const lines = written.trimEnd().split(/\r\n?|\n/).length;
  const leave = NOT_ACCEPTED.test(formatted) || formatted.includes("\n");
  if (leave || (lines > 1 && column + formatted.length > WIDTH)) return undefined;
  if (!isBlock) return { start, end, text: flowScalar(node, written, formatted) };
  return { start, end: start + written.trimEnd().length, text: " ".repeat(indent) + formatted };
}

/** Keeps the author's quoting style if possible. */
function flowScalar({ style }: ScalarNode, written: string, formatted: string): string {
  if (style === "plain" && isPlain(formatted, written)) return formatted;
  const escapes = /["\\]/.test(formatted);
  return style === "double-quoted" && !escapes ? `"${formatted}"` : `'${formatted.replaceAll("'", "''")}'`;
}

/**
 * YAML 1.2.2 section 7.3.3: what a plain scalar must not begin with or contain, and what would not be read as a string.
 */
function isPlain(formatted: string, written: string): boolean {
  const safe = /^[A-Za-z0-9_(-]/.test(formatted) && !/:(?:\s|$)|\s#/.test(formatted);
  const value = resolvePlain(formatted);
  // these end a plain scalar within a flow collection; the original has none of them, so it may be in one
  const flow = /[,[\]{}]/;
  return (
    safe &&
    (typeof value === "string" || typeof value === "boolean") &&
    (flow.test(written) || !flow.test(formatted))
  );
}
