const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** Anything but ASCII. */
const BEYOND_ASCII = /[^\0-\x7f]/;

/**
 * Decodes UTF-8 (RFC 3629: no overlong forms, no surrogates).
 *
 * @param bytes - one latin1 character a byte
 * @returns the text; where it is not valid, with U+FFFD in place of what cannot be read
 */
export function decodeUtf8(bytes: string): { readonly text: string; readonly valid: boolean } {
  if (!BEYOND_ASCII.test(bytes)) return { text: bytes, valid: true };
  const octets = new Uint8Array(bytes.length);
  for (let index = 0; index < bytes.length; index += 1) {
    // what is no byte becomes 0xff, which UTF-8 never holds, instead of being cut down to some other byte
    octets[index] = Math.min(bytes.charCodeAt(index), 0xff);
  }
  return decodeBytes(octets);
}

/** {@link decodeUtf8} for bytes. Without a decoder that throws: exceptions cost far more than what they are about. */
export function decodeBytes(octets: Uint8Array): { readonly text: string; readonly valid: boolean } {
  const text = lenient.decode(octets);
  return { text, valid: !text.includes(REPLACEMENT) || replacementsIn(text) === writtenIn(octets) };
}

const REPLACEMENT = "\ufffd";

function replacementsIn(text: string): number {
  return text.split(REPLACEMENT).length - 1;
}

/** How often U+FFFD stands there by itself: `ef` begins a character, and so this never is a part of another. */
function writtenIn(octets: Uint8Array): number {
  let count = 0;
  for (let at = octets.indexOf(0xef); at >= 0; at = octets.indexOf(0xef, at + 1)) {
    if (octets[at + 1] === 0xbf && octets[at + 2] === 0xbd) count += 1;
  }
  return count;
}

/** What percent-decoding (RFC 3986, section 2.1) made of a part of the target. */
export interface Decoded {
  readonly text: string;
  /** There is a `%` that no two hex digits follow; it stays as it is. */
  readonly malformed: boolean;
  /** The bytes are no UTF-8; U+FFFD stands in place of what cannot be read. */
  readonly invalid: boolean;
}

const ENCODED = /[%\x80-\uffff]/;
const TRIPLET = /%[0-9a-f]{2}/gi;
const LONE_PERCENT = /%(?![0-9a-f]{2})/i;

/** Percent-decodes once. Never fails: what is wrong is said beside the text. */
export function decodePercent(raw: string): Decoded {
  if (!ENCODED.test(raw)) return { text: raw, malformed: false, invalid: false };
  const bytes = raw.replace(TRIPLET, (triplet) => String.fromCharCode(parseInt(triplet.slice(1), 16)));
  const { text, valid } = decodeUtf8(bytes);
  return { text, malformed: LONE_PERCENT.test(raw), invalid: !valid };
}
