/** With `u`, only lone surrogates match, not the halves of a pair. */
export const UNPRINTABLE =
  /[\u{0}-\u{1F}\u{7F}-\u{9F}\u{200E}\u{200F}\u{2028}-\u{202E}\u{2066}-\u{2069}\u{D800}-\u{DFFF}\u{FEFF}]/gu;

/** Escapes characters that a terminal would interpret: controls, bidirectional controls, lone surrogates. */
export function visible(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** Escapes everything but printable ASCII: `\xe9`, `\u{2028}`. */
export function spellOut(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (character) => {
    const code = character.charCodeAt(0);
    const hex = code.toString(16);
    return code <= 0xff ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
  });
}
