import { decodeUtf8, type DecodedText } from "../text/index.ts";

/** Any non-ASCII character. */
const BEYOND_ASCII = /[^\0-\x7f]/;

/** {@link decodeUtf8} for bytes given as one latin1 character each. */
export function decodeLatin1(bytes: string): DecodedText {
  if (!BEYOND_ASCII.test(bytes)) return { text: bytes, valid: true };
  const octets = new Uint8Array(bytes.length);
  for (let index = 0; index < bytes.length; index += 1) {
    // a code unit that is not a byte becomes 0xff, which is never valid in UTF-8, instead of being truncated to some
    // other byte
    octets[index] = Math.min(bytes.charCodeAt(index), 0xff);
  }
  return decodeUtf8(octets);
}

/** The result of percent-decoding (RFC 3986, section 2.1) a part of the target. */
export interface Decoded {
  readonly text: string;
  /** There is a `%` without two hex digits; it is kept as it is. */
  readonly malformed: boolean;
  /** The bytes are not UTF-8; U+FFFD replaces invalid sequences. */
  readonly invalid: boolean;
}

const ENCODED = /[%\x80-\uffff]/;
const TRIPLET = /%[0-9a-f]{2}/gi;
const LONE_PERCENT = /%(?![0-9a-f]{2})/i;

/** Percent-decodes once. Never fails: problems are reported next to the text. */
export function decodePercent(raw: string): Decoded {
  if (!ENCODED.test(raw)) return { text: raw, malformed: false, invalid: false };
  const bytes = raw.replace(TRIPLET, (triplet) => String.fromCharCode(parseInt(triplet.slice(1), 16)));
  const { text, valid } = decodeLatin1(bytes);
  return { text, malformed: LONE_PERCENT.test(raw), invalid: !valid };
}
