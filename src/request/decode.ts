import { decodeUtf8, type DecodedText } from "../text/index.ts";

/** Anything but ASCII. */
const BEYOND_ASCII = /[^\0-\x7f]/;

/** {@link decodeUtf8} for bytes of which each is one latin1 character. */
export function decodeLatin1(bytes: string): DecodedText {
  if (!BEYOND_ASCII.test(bytes)) return { text: bytes, valid: true };
  const octets = new Uint8Array(bytes.length);
  for (let index = 0; index < bytes.length; index += 1) {
    // what is no byte becomes 0xff, which UTF-8 never holds, instead of being cut down to some other byte
    octets[index] = Math.min(bytes.charCodeAt(index), 0xff);
  }
  return decodeUtf8(octets);
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
  const { text, valid } = decodeLatin1(bytes);
  return { text, malformed: LONE_PERCENT.test(raw), invalid: !valid };
}
