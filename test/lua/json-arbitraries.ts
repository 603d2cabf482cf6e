import fc from "fast-check";

const text = fc.constantFrom;

/** Names that meet each other in several spellings, and some that JSON, Lua or JavaScript might stumble on. */
const USUAL = ["a", "a", "\\u0061", "b", "c", "ssn", "s\\u0073n", "errors"];
const ODD = [
  "",
  "a.b",
  "a b",
  "n",
  "kind",
  "é",
  "\\u00e9",
  "\u{1F600}",
  "\\ud83d\\ude00",
  "\\ud83d",
  "\\ude00x",
];
const ODDER = [
  "__proto__",
  "constructor",
  "\\u0000",
  '\\"',
  "\u007f\u2028",
  "[*]",
  "long".repeat(20),
  "é".repeat(60),
];
export const jsonName = fc
  .oneof({ weight: 3, arbitrary: text(...USUAL) }, text(...ODD, ...ODDER))
  .map((name) => `"${name}"`);

const piece = fc.oneof(
  { weight: 4, arbitrary: text("a", "1", "word", "é", "€", "\u{1F600}", "\u2028", "\u007f", "'", "/") },
  text("\\n", "\\u0000", '\\"', "\\\\", "\\/", "\\u0041", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\ude00"),
);
export const jsonString = fc.array(piece, { maxLength: 9 }).map((pieces) => `"${pieces.join("")}"`);

/** Numbers of every form, the most of which a double does not hold among them. */
export const jsonNumber = fc.oneof(
  text(
    "0",
    "-0",
    "1",
    "42",
    "-7",
    "1000",
    "12345",
    "1e3",
    "1E+03",
    "-0.0e-0",
    "100e-2",
    "0.1",
    "1.50",
    "1e400",
    `1e${"9".repeat(400)}`,
    `1e-${"9".repeat(400)}`,
    `0e${"9".repeat(400)}`,
    `1.5e-${"0".repeat(400)}1`,
    `1${"0".repeat(400)}e-400`,
    "-1e-400",
  ),
  text(
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "0.30000000000000004",
    "123456789012345678901",
    "123456789012345680000",
    "9223372036854775808",
    "100000000000000000000000",
  ),
  text(
    "5e-324",
    "4.9e-324",
    "2.2250738585072014e-308",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "1e21",
    "1e-7",
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc
    .tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(20))
    .map(([number, digits]) => number.toExponential(digits)),
  // powers of two, where what is nearest is not always read back
  fc
    .tuple(fc.integer({ min: -1074, max: 1023 }), fc.integer({ min: 14, max: 18 }))
    .map(([power, digits]) => (2 ** power).toPrecision(digits)),
  fc.integer({ min: -1074, max: 1023 }).map((power) => String(2 ** power)),
  fc
    .tuple(
      text("", "-"),
      text("0", "7", "120", "99999999999999999"),
      text("", ".0", ".25", ".00000000000000001"),
      text("", "e2", "E-12"),
    )
    .map((parts) => parts.join("")),
);

const space = fc.oneof({ weight: 5, arbitrary: fc.constant("") }, text(" ", "\n  ", "\t", "\r\n", "   "));

const { value, container } = fc.letrec<{ value: string; container: string; member: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(text("true", "false", "null", '"***"', '"word"'), jsonNumber, jsonString),
    tie("container"),
  ),
  container: fc.oneof({ weight: 3, arbitrary: list(tie("member"), "{", "}") }, list(tie("value"), "[", "]")),
  member: fc
    .tuple(space, jsonName, space, space, tie("value"), space)
    .map(([a, name, b, c, member, d]) => `${a}${name}${b}:${c}${member}${d}`),
}));

/** A document of some size, with names that stand twice, escapes, and white space wherever it may be. */
export const jsonDocument: fc.Arbitrary<string> = fc
  .tuple(space, fc.oneof({ weight: 9, arbitrary: container }, value), space)
  .map((parts) => parts.join(""));

function list(item: fc.Arbitrary<string>, open: string, close: string): fc.Arbitrary<string> {
  return fc
    .tuple(
      space,
      fc.array(
        fc.tuple(item, space).map((parts) => parts.join("")),
        { maxLength: 5 },
      ),
    )
    .map(([gap, items]) => open + gap + items.join(",") + close);
}
