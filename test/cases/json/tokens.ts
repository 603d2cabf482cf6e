/** The tokens of JSON (RFC 8259), and what is next to them and none. */

const product = <A>(heads: readonly A[], tails: readonly A[], join: (head: A, tail: A) => A): A[] =>
  heads.flatMap((head) => tails.map((tail) => join(head, tail)));

// section 6: int, frac and exp
const INTEGERS = ["0", "-0", "1", "-9", "10", "1234567890", "-9007199254740993"];
const FRACTIONS = ["", ".0", ".5", ".00", ".123456789012345678901234567890"];
const EXPONENTS = ["", "e0", "E1", "e+2", "E-3", "e00", "e+007"];
export const NUMBERS = product(product(INTEGERS, FRACTIONS, concat), EXPONENTS, concat);
export const NO_NUMBERS = [
  ...[
    "-",
    "+",
    "+1",
    "--1",
    "-+1",
    "00",
    "01",
    "-01",
    "-00",
    "0123",
    "1 2",
    "- 1",
    "1,",
    "1-",
    "0-1",
    "1-1",
    "1+1",
  ],
  ...[
    "1.",
    "-1.",
    "0.",
    ".1",
    "-.1",
    ".",
    "1..2",
    "1.2.3",
    "1.-1",
    "1. 5",
    "1 .5",
    "00.1",
    "1.e1",
    ".e1",
    "0.e",
  ],
  ...[
    "1e",
    "1E",
    "1e+",
    "1e-",
    "1e+-1",
    "1ee1",
    "1e1e1",
    "1e1.5",
    "1e 1",
    "1 e1",
    "e1",
    "-e1",
    "1.5e",
    "1e--1",
  ],
  ...[
    "0x1",
    "0X1",
    "0b1",
    "0o7",
    "1a",
    "1f",
    "1d",
    "1L",
    "1n",
    "1_000",
    "1,000",
    "0e+ 1",
    "1'",
    "१",
    "１",
    "−1",
  ],
  ...["NaN", "-NaN", "nan", "Infinity", "-Infinity", "+Infinity", "inf", "1/2", "1%", "$1", "#1", "1;"],
];

// section 7
const ESCAPES = ['\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"];
const UNICODE_ESCAPES = [
  "0000",
  "0041",
  "00e9",
  "00E9",
  "20aC",
  "FFFF",
  "fffe",
  "d83d\\uDE00",
  "D800",
  "dfff",
  "DC00\\ud800",
];
export const STRINGS = [
  ...[
    "",
    "a",
    " ",
    "a b",
    "'",
    "/",
    "//",
    "/*",
    "null",
    "{}",
    "[1]",
    ",",
    ":",
    "\u007f",
    "é",
    "€",
    "\u{1F600}",
  ],
  ...[
    "\u0080",
    "\u07ff",
    "\u0800",
    "\ud7ff",
    "\ue000",
    "\ufeff",
    "\ufffd",
    "\uffff",
    "\u{10000}",
    "\u{10ffff}",
    "\u2028\u2029",
  ],
  ...ESCAPES,
  ...UNICODE_ESCAPES.map((digits) => `\\u${digits}`),
  ...product(["x", "\\n", "\\u0041", "é"], ["\\\\", "y", '\\"', "\\ud83d\\ude00"], concat),
  "a".repeat(10_000),
  "\\\\".repeat(5_000),
].map((content) => `"${content}"`);
export const NO_STRINGS = [
  ...[
    '"',
    '"a',
    '"\\"',
    '"\\\\\\"',
    "'a'",
    "a",
    "`a`",
    '"a" "b"',
    '"a"b',
    'a"b"',
    '""""',
    '"""',
    "“a”",
    '"\\',
    '"a\\',
  ],
  ...Array.from(
    "acdeghijklmopqsvwxyzABFNRTU0189'`$(){}[] \t\n\u0001é\u{1F600}",
    (character) => `"\\${character}"`,
  ),
  ...[
    "",
    "0",
    "00",
    "000",
    "000g",
    "g000",
    "00 0",
    "-001",
    "+001",
    "0x41",
    "{41}",
    "00é0",
    "D83D\\u",
    "d83d\\ude0",
  ].map((digits) => `"\\u${digits}"`),
  ...Array.from({ length: 0x20 }, (_, code) => `"${String.fromCharCode(code)}"`),
  '"a\nb"',
  '"a\u0000"',
];

// RFC 3629, section 4, and what is next to its ranges
export const CHARACTERS = [
  ...[
    [0xc2, 0x80],
    [0xdf, 0xbf],
  ],
  ...[
    [0xe0, 0xa0, 0x80],
    [0xe0, 0xbf, 0xbf],
    [0xe1, 0x80, 0x80],
    [0xec, 0xbf, 0xbf],
    [0xed, 0x80, 0x80],
  ],
  ...[
    [0xed, 0x9f, 0xbf],
    [0xee, 0x80, 0x80],
    [0xef, 0xbf, 0xbf],
  ],
  ...[
    [0xf0, 0x90, 0x80, 0x80],
    [0xf0, 0xbf, 0xbf, 0xbf],
    [0xf1, 0x80, 0x80, 0x80],
    [0xf3, 0xbf, 0xbf, 0xbf],
  ],
  ...[
    [0xf4, 0x80, 0x80, 0x80],
    [0xf4, 0x8f, 0xbf, 0xbf],
  ],
];
export const NO_CHARACTERS = [
  // no first byte
  ...[[0x80], [0xbf], [0xc0], [0xc1], [0xf5], [0xf8], [0xfe], [0xff], [0x80, 0x80], [0xf5, 0x80, 0x80, 0x80]],
  // overlong
  ...[
    [0xc0, 0x80],
    [0xc0, 0xaf],
    [0xc1, 0xbf],
    [0xe0, 0x80, 0x80],
    [0xe0, 0x9f, 0xbf],
    [0xf0, 0x80, 0x80, 0x80],
  ],
  ...[
    [0xf0, 0x8f, 0xbf, 0xbf],
    [0xf8, 0x88, 0x80, 0x80, 0x80],
    [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80],
  ],
  // surrogates, and beyond U+10FFFF
  ...[
    [0xed, 0xa0, 0x80],
    [0xed, 0xbf, 0xbf],
    [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
  ],
  // cut short, or gone on too long
  ...CHARACTERS.flatMap((character) => [character.slice(0, -1), [...character, 0x80]]),
  // another byte in the place of each that goes on
  ...CHARACTERS.flatMap((character) =>
    character
      .slice(1)
      .flatMap((_, index) => [0x00, 0x41, 0x7f, 0xc0, 0xff].map((byte) => character.with(index + 1, byte))),
  ),
];

function concat(a: string, b: string): string {
  return a + b;
}
