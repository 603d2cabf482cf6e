import { clip } from "./clip.ts";
import { spellOut, visible } from "./visible.ts";

const MAX_QUOTED = 60;

/** The user's own text in a message: in backticks, on one line, shortened if it is long. */
export function quoted(text: string, limit = MAX_QUOTED): string {
  return `\`${visible(clip(text, limit))}\``;
}

/**
 * Untrusted text in a log line: printable ASCII in backticks, everything else as `\xNN` or `\u{N}`, at most 60
 * characters.
 */
export function quotedAscii(text: string): string {
  const safe = spellOut(text.slice(0, MAX_QUOTED));
  const cut = text.length > MAX_QUOTED || safe.length > MAX_QUOTED;
  return cut ? `\`${safe.slice(0, MAX_QUOTED)}...\`` : `\`${safe}\``;
}

/** Our own names, each in backticks. @returns `` `a`, `b` `` */
export function inBackticks(names: readonly string[], separator = ", "): string {
  return names.map((name) => `\`${name}\``).join(separator);
}
