const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

const REPLACEMENT = "\ufffd";

/** What bytes say as UTF-8 (RFC 3629: no overlong forms, no surrogates). A byte order mark is a character like others. */
export interface DecodedText {
  /** With U+FFFD in place of what cannot be read. */
  readonly text: string;
  readonly valid: boolean;
}

/** Without a decoder that throws: exceptions cost far more than what they are about. */
export function decodeUtf8(bytes: Uint8Array): DecodedText {
  const text = lenient.decode(bytes);
  return { text, valid: !text.includes(REPLACEMENT) || replacementsIn(text) === writtenIn(bytes) };
}

function replacementsIn(text: string): number {
  return text.split(REPLACEMENT).length - 1;
}

/** How often U+FFFD stands there by itself: `ef` begins a character, and so this never is a part of another. */
function writtenIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(0xef); at >= 0; at = bytes.indexOf(0xef, at + 1)) {
    if (bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) count += 1;
  }
  return count;
}
