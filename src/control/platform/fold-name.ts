/**
 * Longer parts of a name are ignored, because some characters become several when folded, and an index entry has a
 * maximum size.
 */
const MOST = 200;

/**
 * The form of a name by which lists sort and search: letter case, and Unicode's different ways to write a character,
 * make no difference. Computed here, because a database's case folding depends on its setup.
 */
export function foldName(name: string): string {
  return Array.from(name.normalize("NFKC").toLowerCase()).slice(0, MOST).join("");
}

/** A LIKE pattern that matches every folded name with this beginning. */
export function prefixPattern(beginning: string): string {
  return `${foldName(beginning).replace(/[\\%_]/g, "\\$&")}%`;
}
