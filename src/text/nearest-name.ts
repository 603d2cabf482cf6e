import { inBackticks } from "./quote.ts";

/** @returns the name that was probably intended, or nothing if none is close: a third of its letters may differ */
export function nearestName(written: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(written.length / 3)) + 1;
  for (const name of names) {
    // a name of a very different length cannot be near: skip the computation
    if (Math.abs(name.length - written.length) >= least) continue;
    const edits = editDistance(written.toLowerCase(), name.toLowerCase());
    if (edits < least) [nearest, least] = [name, edits];
  }
  return nearest;
}

/** @returns a hint with the nearest of `names`, or with all of them if none is near and they are few */
export function nearestHint(written: string, names: readonly string[]): string | undefined {
  const nearest = nearestName(written, names);
  if (nearest !== undefined) return `did you mean \`${nearest}\`?`;
  if (names.length === 0 || names.length > 12) return undefined;
  return `use one of: ${inBackticks(names)}`;
}

/**
 * Optimal string alignment: insertions, deletions, substitutions and swapped neighbours count one each. Swaps are why
 * this is not a library's Levenshtein distance: `GTE` is one typing error away from `GET`, not two.
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(above, column) + 1,
        at(current, column - 1) + 1,
        at(above, column - 1) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(before, column - 2) + 1);
      }
      current.push(cost);
    }
    [before, above] = [above, current];
  }
  return at(above, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
