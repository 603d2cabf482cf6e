/** Where a line stands among the keys of a YAML file in block style, read from its indentation. */
export interface Place {
  /** Keys above it, from the root. */
  readonly path: readonly string[];
  /** Its own key, if the text before the cursor is past the colon. */
  readonly key?: string;
}

const LINE = /^(\s*)((?:- +)*)(?:(["']?)([A-Za-z_][\w-]*)\3\s*:(?:\s|$))?/;

interface Shape {
  /** Columns of the first `-` and of what follows the last one. */
  readonly dash: number | undefined;
  readonly at: number;
  readonly key: string | undefined;
}

function shapeOf(line: string): Shape | undefined {
  if (/^\s*(?:#|$)/.test(line)) return undefined;
  const [, indent = "", dashes = "", , key] = LINE.exec(line) ?? [];
  return { dash: dashes === "" ? undefined : indent.length, at: indent.length + dashes.length, key };
}

/**
 * Not a parser: what is being typed is seldom valid. In doubt it knows less.
 *
 * @param lines - of the file up to the cursor; the last one ends there
 */
export function placeIn(lines: readonly string[]): Place {
  const current = lines.at(-1) ?? "";
  const own = shapeOf(current);
  const [, indent = "", dashes = ""] = LINE.exec(current) ?? [];
  let at = own?.at ?? indent.length + dashes.length;
  // what belongs to an entry is below whatever its dash is below, which may stand in the same column
  let limit = dashes === "" ? at : indent.length + 1;
  const path: string[] = [];
  for (let index = lines.length - 2; index >= 0 && limit > 0; index--) {
    const shape = shapeOf(lines[index] ?? "");
    if (shape === undefined) continue;
    if (shape.dash !== undefined && shape.at === at && shape.dash < limit) {
      // the first line of the same entry
      limit = shape.dash + 1;
      continue;
    }
    if (shape.at >= limit || shape.key === undefined) continue;
    path.unshift(shape.key);
    at = shape.at;
    limit = shape.dash === undefined ? at : shape.dash + 1;
  }
  return { path, ...(own?.key !== undefined && { key: own.key }) };
}

/** The condition that a line is a part of: of its own key, or of a block that began above. */
export function isInCondition(lines: readonly string[]): boolean {
  const last = lines.length - 1;
  const own = shapeOf(lines[last] ?? "");
  if (own?.key === "condition") return true;
  const indent = /^\s*/.exec(lines[last] ?? "")?.[0].length ?? 0;
  for (let index = last - 1; index >= 0; index--) {
    const line = lines[index] ?? "";
    const shape = shapeOf(line);
    if (shape === undefined || shape.at >= indent) continue;
    return shape.key === "condition" && /:\s*[|>][-+0-9]*\s*(?:#.*)?$/.test(line);
  }
  return false;
}
