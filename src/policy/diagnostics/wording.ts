/** The author's own text in a message: in backticks, on one line, cut where it is long. */
export function quoted(text: string, limit = 60): string {
  const cut = text.length <= limit ? text : `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "")}…`;
  return `\`${visible(cut)}\``;
}

/** Shows what a terminal would act on instead of showing: controls, bidirectional controls, lone surrogates. */
export function visible(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** @returns `1 rule`, `2 rules`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** With `u`, only lone surrogates match, not the halves of a pair. */
export const UNPRINTABLE =
  /[\u{0}-\u{1F}\u{7F}-\u{9F}\u{200E}\u{200F}\u{2028}-\u{202E}\u{2066}-\u{2069}\u{D800}-\u{DFFF}\u{FEFF}]/gu;
