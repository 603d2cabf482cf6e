import { foldHeaderName } from "./fold-header-name.ts";

/** The header names that a rule reads; finds other spellings that could be read as one of them. */
export interface HeaderNames {
  readonly exact: ReadonlySet<string>;
  /** Folded, each with the name that the rule reads. */
  readonly folded: ReadonlyMap<string, string>;
}

/** @param names - in lower case */
export function headerNames(names: Iterable<string>): HeaderNames {
  const exact = new Set(names);
  return { exact, folded: new Map(Array.from(exact, (name) => [foldHeaderName(name), name] as const)) };
}

/** @returns the name that one of `headers` could be read as although it is spelled differently. */
export function similarHeader(
  headers: Readonly<Record<string, unknown>>,
  { exact, folded }: HeaderNames,
): string | undefined {
  for (const name in headers) {
    if (exact.has(name)) continue;
    const read = folded.get(foldHeaderName(name));
    if (read !== undefined) return read;
  }
  return undefined;
}
