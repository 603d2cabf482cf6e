/** More than this of a name makes no difference: some characters are many when folded, and an index has bounds. */
const MOST = 200;

/**
 * The form of a name that lists sort and search by: upper and lower case, and the ways of Unicode to write one
 * character, make no difference. Made here, for what a database makes of case depends on how it was set up.
 */
export function foldName(name: string): string {
  return Array.from(name.normalize("NFKC").toLowerCase()).slice(0, MOST).join("");
}

/** A pattern for LIKE that fits every folded name with this beginning. */
export function prefixPattern(beginning: string): string {
  return `${foldName(beginning).replace(/[\\%_]/g, "\\$&")}%`;
}
