/** ASCII without capital letters, and not ending in a dot or space: by far most segments, and folded already. */
const FOLDED = /^(?:[\0-@[-\x7F]*[!-\-/-@[-\x7F])?$/;

/**
 * Folds a path segment to what servers that are lax about names may take it for: compatibility forms, letter case,
 * letters whose upper case is that of another (`ı`, `ſ`), and without the dots and spaces at its end, which Windows
 * drops from file names.
 */
export function foldCase(segment: string): string {
  if (FOLDED.test(segment)) return segment;
  const folded = segment.normalize("NFKC").toUpperCase().toLowerCase();
  let end = folded.length;
  while (end > 0 && (folded[end - 1] === "." || folded[end - 1] === " ")) end--;
  return folded.slice(0, end);
}
