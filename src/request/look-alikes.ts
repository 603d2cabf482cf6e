/*
 * Characters that some stack turns into a delimiter after it has split the path. The tables are written out so that
 * other evaluators need no Unicode library; a test compares them with Unicode's own normalization.
 */

/**
 * `/` and `\`; characters that NFKC (UAX 15) turns into text containing one of them; and U+2044, U+2215 and U+2216,
 * which Windows' best-fit conversion to a code page turns into one.
 */
export const SLASH_LIKE = /[/\\\u2044\u2100\u2101\u2105\u2106\u2215\u2216\ufe68\uff0f\uff3c]/;

/** `;` and U+037E, which every normalization form, including NFC, turns into `;`. */
export const SEMICOLON_LIKE = /[;\u037e]/;

/** A file stream and its type, which Windows parses from a name: `::$DATA`. */
export const FILE_STREAM = /:[^:]*:\$/;

const DOT_LIKE = /[\u2024\u2025\u2026\ufe19\ufe30\ufe52\uff0e]/g;

/** Replaces the characters that NFKC turns into one, two or three full stops, and nothing else. */
export function foldDots(text: string): string {
  return text.replace(DOT_LIKE, (character) => {
    switch (character) {
      case "\u2025":
      case "\ufe30":
        return "..";
      case "\u2026":
      case "\ufe19":
        return "...";
      default:
        return ".";
    }
  });
}
