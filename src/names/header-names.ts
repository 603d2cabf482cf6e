import { foldedSpellings, remembered } from "./fold.ts";

/** The names of headers that a rule reads, and what else could be read as one of them. */
export interface HeaderNames {
  readonly exact: ReadonlySet<string>;
  /** Folded, each with the name that the rule reads. */
  readonly folded: ReadonlyMap<string, string>;
}

const spellingsOf = remembered(foldedSpellings);

/** @param names - in lower case */
export function headerNames(names: Iterable<string>): HeaderNames {
  const exact = new Set(names);
  const folded = new Map<string, string>();
  for (const name of exact) folded.set(spellingsOf(name)[0] ?? "", name);
  return { exact, folded };
}

/** @returns the name that one of `headers` could be read as, though it is spelled otherwise. */
export function similarHeader(
  headers: Readonly<Record<string, unknown>>,
  { exact, folded }: HeaderNames,
): string | undefined {
  for (const name in headers) {
    if (exact.has(name)) continue;
    for (const spelling of spellingsOf(name)) {
      const read = folded.get(spelling);
      if (read !== undefined) return read;
    }
  }
  return undefined;
}
