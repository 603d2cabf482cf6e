/**
 * ASCII without capital letters, and not ending in a dot or space. This is true of nearly all segments; they are
 * already folded.
 */
const FOLDED = /^(?:[\0-@[-\x7F]*[!-\-/-@[-\x7F])?$/;

/**
 * Folds a path segment to the name that a lenient server may read it as: compatibility forms and letter case are
 * folded, as are letters that share an upper case with another letter (`ı`, `ſ`), and trailing dots and spaces, which
 * Windows drops from file names, are removed.
 */
export function foldCase(segment: string): string {
  if (FOLDED.test(segment)) return segment;
  const folded = segment.normalize("NFKC").toUpperCase().toLowerCase();
  let end = folded.length;
  while (end > 0 && (folded[end - 1] === "." || folded[end - 1] === " ")) end--;
  return folded.slice(0, end);
}
