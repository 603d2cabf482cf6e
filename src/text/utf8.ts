const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

const REPLACEMENT = "\ufffd";

/** Decodes bytes as UTF-8 (RFC 3629: no overlong forms, no surrogates). A byte order mark is an ordinary character. */
export interface DecodedText {
  /** The text, with U+FFFD in place of invalid sequences. */
  readonly text: string;
  readonly valid: boolean;
}

/** Does not use a decoder that throws: exceptions cost far more than decoding. */
export function decodeUtf8(bytes: Uint8Array): DecodedText {
  const text = lenient.decode(bytes);
  return { text, valid: !text.includes(REPLACEMENT) || replacementsIn(text) === writtenIn(bytes) };
}

function replacementsIn(text: string): number {
  return text.split(REPLACEMENT).length - 1;
}

/**
 * Counts U+FFFD that is in the input itself. Its first byte `ef` starts a character, so a match is never part of
 * another character.
 */
function writtenIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(0xef); at >= 0; at = bytes.indexOf(0xef, at + 1)) {
    if (bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) count += 1;
  }
  return count;
}
