/** A text as somebody who removes encodings may read it. */
export interface Reading {
  readonly text: string;
  /** It involves quoted-printable, which is rarely intended: `key=40` is hardly ever `key@`. */
  readonly quotedPrintable: boolean;
}

export interface Readings {
  readonly readings: readonly Reading[];
  /** There are more readings than these. */
  readonly unfinished: boolean;
}

interface Encoding {
  readonly decode: (text: string) => string;
  readonly quotedPrintable?: boolean;
}

/** Five nested encodings have at most 24 readings. */
export const MAX_READINGS = 32;

/** RFC 3986, section 2.1, and `escape` of JavaScript. */
const PERCENT = /%(?:u([\da-f]{4})|([\da-f]{2}))/gi;
/** RFC 2045, section 6.7, including its soft line breaks. */
const QUOTED_PRINTABLE = /=(?:([\da-f]{2})|\r?\n)/gi;
/** RFC 8259, section 7, and ECMAScript's. */
const BACKSLASH = /\\(?:u([\da-f]{4})|u\{0*([\da-f]{1,6})\}|x([\da-f]{2})|([\\/"]))/gi;
/** HTML, section 13.5; parsers accept a number without its `;`. */
const REFERENCE = /&(?:#x0*([\da-f]{1,6});?|#0*(\d{1,7});?|([a-z]{2,6});)/gi;
/** For the characters of which encodings and addresses consist. */
const NAMED: ReadonlyMap<string | undefined, string> = new Map([
  ...Object.entries({
    amp: "&",
    num: "#",
    semi: ";",
    percnt: "%",
    bsol: "\\",
    equals: "=",
    lcub: "{",
    rcub: "}",
  }),
  ...Object.entries({ commat: "@", period: ".", plus: "+", lowbar: "_", sol: "/", nbsp: " " }),
]);
/** UTF-8 (RFC 3629, section 4) of which each byte was decoded to a separate character. */
const UTF8_BYTES = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g;

const ENCODINGS: readonly Encoding[] = [
  { decode: (text) => ofBytes(text.replace(PERCENT, (_, unit, byte) => hexadecimal(unit ?? byte))) },
  {
    decode: (text) =>
      text.replace(BACKSLASH, (escape, unit, point, byte, itself) =>
        itself === undefined ? hexadecimal(unit ?? point ?? byte, escape) : String(itself),
      ),
  },
  {
    decode: (text) =>
      text.replace(REFERENCE, (escape, hex, decimal, name?: string) => {
        if (hex !== undefined) return hexadecimal(hex, escape);
        if (decimal !== undefined) return character(Number(decimal), escape);
        return NAMED.get(name?.toLowerCase()) ?? escape;
      }),
  },
  {
    decode: (text) =>
      ofBytes(text.replace(QUOTED_PRINTABLE, (_, byte) => (byte === undefined ? "" : hexadecimal(byte)))),
    quotedPrintable: true,
  },
];

/**
 * The readings of a text: as it is, and with percent-encoding, string escapes, character references and
 * quoted-printable removed one after the other, in every order, until nothing is left to remove. For searching: however
 * a text was encoded, the original is among them. No reading is longer than the text.
 *
 * @param most - the maximum number of readings; at least one
 */
export function readingsOf(text: string, most = MAX_READINGS): Readings {
  const readings: Reading[] = [{ text, quotedPrintable: false }];
  const known = new Set([keyOf(text, false)]);
  // readings found during the loop are processed as well
  for (const reading of readings)
    for (const { decode, quotedPrintable = reading.quotedPrintable } of ENCODINGS) {
      const next = { text: decode(reading.text), quotedPrintable };
      const key = keyOf(next.text, quotedPrintable);
      if (next.text === reading.text || known.has(key)) continue;
      if (readings.length >= most) return { readings, unfinished: true };
      known.add(key);
      readings.push(next);
    }
  return { readings, unfinished: false };
}

function keyOf(text: string, quotedPrintable: boolean): string {
  return `${quotedPrintable ? "=" : " "}${text}`;
}

function hexadecimal(digits: unknown, escape = ""): string {
  return character(Number.parseInt(String(digits), 16), escape);
}

function character(code: number, escape: string): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : escape;
}

function ofBytes(text: string): string {
  return text.replace(UTF8_BYTES, (bytes) => {
    const decoded = new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
    // overlong forms and surrogates are not characters
    return decoded.includes("\ufffd") ? bytes : decoded;
  });
}
