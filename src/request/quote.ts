const MAX_QUOTED = 60;

/**
 * Somebody else's text for a refusal's detail: printable ASCII in backticks, everything else as `\xNN` or `\u{N}`, at
 * most 60 characters.
 */
export function quote(text: string): string {
  const safe = spellOut(text.slice(0, MAX_QUOTED));
  const cut = text.length > MAX_QUOTED || safe.length > MAX_QUOTED;
  return cut ? `\`${safe.slice(0, MAX_QUOTED)}...\`` : `\`${safe}\``;
}

/** Spells out whatever is not printable ASCII. */
export function spellOut(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (character) => {
    const code = character.charCodeAt(0);
    const hex = code.toString(16);
    return code <= 0xff ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
  });
}
