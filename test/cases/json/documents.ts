import { CHARACTERS, NO_CHARACTERS, NO_NUMBERS, NO_STRINGS, NUMBERS, STRINGS } from "./tokens.ts";

/**
 * JSON documents, well-formed and not, by the grammar of RFC 8259 and the table of UTF-8 in RFC 3629: each way to begin,
 * go on and end that the rules have, and what is next to it and not allowed.
 */
export interface JsonDocument {
  /** Printable. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** How deep objects and arrays may lie in each other (section 9 lets an implementation choose). */
export const DEPTH = 256;

const bytes = (...all: (number | string)[]): Buffer =>
  Buffer.concat(all.map((part) => (typeof part === "number" ? Buffer.of(part) : Buffer.from(part))));
const document = (content: Buffer): JsonDocument => ({
  name: JSON.stringify(content.toString("latin1").slice(0, 60)),
  bytes: content,
});
const texts = (...all: string[]): JsonDocument[] => all.map((text) => document(Buffer.from(text)));

const nested = (open: string, inner: string, close: string, times: number) =>
  open.repeat(times) + inner + close.repeat(times);

/** A document for each place where a value may stand. */
const around = (value: string): string[] => [
  value,
  ` ${value}\n`,
  `[${value}]`,
  `[0, ${value} ]`,
  `[${value},null]`,
  `{"a":${value}}`,
  `{"a": 1,"b" :${value}\t}`,
];

/** Each of these is one document by section 2, in UTF-8. */
export const WELL_FORMED: readonly JsonDocument[] = [
  ...texts(
    ...NUMBERS.flatMap((number) => [
      number,
      `[${number}]`,
      `{"n":${number} ,"m":-${number.replace("-", "")}}`,
    ]),
  ),
  ...texts(...["true", "false", "null", "{}", "[]", "1", '""', "[[],{}]", '{"":{}}'].flatMap(around)),
  ...texts(...STRINGS.flatMap((string) => [string, `[${string},${string}]`, `{${string}:${string}}`])),
  ...CHARACTERS.map((character) => document(bytes('{"a', ...character, '":"', ...character, '"}'))),
  ...texts(
    ' \t\r\n{ \t\r\n"a" \t\r\n: \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n} \t\r\n',
    '{"a":1,"a":2,"\\u0061":3}',
    '{"a":{"b":{"c":[[[{"d":null}]]]}}}',
    nested("[", "", "]", DEPTH),
    nested('{"a":', "1", "}", DEPTH),
    nested('[{"a":', "[]", "}]", DEPTH / 2 - 1),
    `[${"0,".repeat(20_000)}0]`,
    `[${"[],".repeat(20_000)}{}]`,
    `${" ".repeat(20_000)}[${"\n".repeat(20_000)}]`,
  ),
];

/** None of these is. */
export const MALFORMED: readonly JsonDocument[] = [
  ...texts(
    "",
    " ",
    "\n",
    "\u0000",
    "\ufeff",
    "\ufeff{}",
    "{}\ufeff",
    "\u00a0{}",
    "\u2028[]",
    "\u000b[]",
    "[]\u000c",
    "[\u00a0]",
  ),
  ...texts(...[...NO_NUMBERS, ...NO_STRINGS].flatMap((value) => [`[${value}]`, `{"a":${value}}`])),
  ...texts(...NO_STRINGS.map((key) => `{${key}:1}`)),
  ...texts(
    ...[
      "tru",
      "truee",
      "True",
      "TRUE",
      "t",
      "fals",
      "falsey",
      "nul",
      "nulll",
      "Null",
      "NULL",
      "nil",
      "undefined",
      "none",
    ].flatMap(around),
  ),
  ...texts(
    ...[
      "[",
      "]",
      "{",
      "}",
      "[[",
      "[]]",
      "{}}",
      "{{}}",
      "[}",
      "{]",
      "[{]}",
      "{[}]",
      "[1",
      "[1,",
      "[,",
      "[,]",
      "[,1]",
      "[1,]",
    ],
    ...[
      "[1,,2]",
      "[1 2]",
      "[1;2]",
      "[1:2]",
      '["a":1]',
      '["a" 1]',
      "1,",
      ",1",
      "1 2",
      "[] []",
      "{}[]",
      "[],",
      "[]x",
      "[]#",
      "[]/**/",
    ],
    ...[
      '{"a"}',
      '{"a":}',
      '{"a",1}',
      '{"a"=1}',
      '{"a":1,}',
      '{,"a":1}',
      "{,}",
      '{"a":1,,"b":2}',
      '{"a":1 "b":2}',
      '{"a":1;"b":2}',
    ],
    ...[
      "{a:1}",
      "{'a':1}",
      "{1:1}",
      "{null:1}",
      "{[]:1}",
      "{:1}",
      '{"a"::1}',
      '{"a":1:2}',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":1,',
      '{"',
    ],
    ...[
      '{"a":1}}',
      '{"a":1}]',
      "//\n[]",
      "[]//",
      "/**/[]",
      "[/**/]",
      "#\n[]",
      "[1]\u0000",
      "[\u0000]",
      "{\u0000}",
      "*",
      "()",
      "<a>",
      "...",
    ],
    ...['["a",\n', "[true,nul", '{"a":tru', "[-", "[1e", '["\\', '["\\u12'],
  ),
  ...NO_CHARACTERS.flatMap((character) => [
    document(bytes('["', ...character, '"]')),
    document(bytes('{"', ...character, '":1}')),
    document(bytes("[1", ...character, "]")),
  ]),
  // UTF-16 and UTF-32, with and without a byte order mark
  ...[[0xff, 0xfe], []].map((mark) =>
    document(Buffer.concat([Buffer.from(mark), Buffer.from("[1]", "utf16le")])),
  ),
  document(Buffer.from("[1]", "utf16le").swap16()),
  document(bytes(0xfe, 0xff, 0, "[", 0, "]")),
  document(bytes("[", 0, 0, 0, "]", 0, 0, 0)),
];

/** Well-formed, and refused. */
export const TOO_DEEP: readonly JsonDocument[] = texts(
  nested("[", "", "]", DEPTH + 1),
  nested('{"a":', "1", "}", DEPTH + 1),
  nested('[{"a":', "[]", "}]", DEPTH / 2),
  nested("[", "", "]", 10_000),
  nested('{"a":', "1", "}", 10_000),
  nested("[", "", "", 100_000),
);

/** Well-formed documents, and how many values each has: itself, what lies in it, and no names. */
export const COUNTED: readonly (readonly [text: string, values: number])[] = [
  ["1", 1],
  [' "a" ', 1],
  ["{}", 1],
  ["[]", 1],
  ["[[]]", 2],
  ["[1,2,3]", 4],
  ['{"a":1,"b":null}', 3],
  ['{"a":{"b":[true,{}]}}', 5],
  ['[{"a":"b"},"c",[[],[1.5e3]]]', 8],
];

/** A message of the type that has so many values. */
export function messageOf(type: string, values: number): string {
  return `{"type":"${type}","list":[${Array.from({ length: values - 3 }, () => "1").join(",")}]}`;
}
