import fc from "fast-check";

/** Whether a choice, by number, is made; the arbitrary hands them out in turn. */
type Choose = (of: number) => number;
type Encode = (character: string, choose: Choose) => string;

const bytes =
  (mark: string): Encode =>
  (character, choose) =>
    [...new TextEncoder().encode(character)]
      .map((byte) => mark + inAnyCase(byte.toString(16).padStart(2, "0"), choose))
      .join("");

/** How each encoding writes a character, and the characters that it has to write so, for they would be its own. */
const ENCODINGS: readonly (readonly [own: string, encode: Encode])[] = [
  ["%", bytes("%")],
  ["=", bytes("=")],
  [
    '\\"',
    (character, choose) =>
      Array.from({ length: character.length }, (_, at) => {
        const hex = character.charCodeAt(at).toString(16).padStart(4, "0");
        return character === "\\" && choose(2) === 0 ? "\\\\" : `\\u${inAnyCase(hex, choose)}`;
      }).join(""),
  ],
  [
    "&",
    (character, choose) => {
      const code = character.codePointAt(0) ?? 0;
      if (character === "&" && choose(3) === 0) return "&amp;";
      return choose(2) === 0
        ? `&#${code};`
        : `&#${inAnyCase("x", choose)}${inAnyCase(code.toString(16), choose)};`;
    },
  ],
];

function inAnyCase(text: string, choose: Choose): string {
  return Array.from(text, (letter) => (choose(2) === 0 ? letter.toUpperCase() : letter)).join("");
}

/** Encodes a text by up to so many encodings, one in the other, each of all characters or of some. */
export function encoded(most: number): fc.Arbitrary<(text: string) => string> {
  const layer = fc.record({
    encoding: fc.nat(ENCODINGS.length - 1),
    choices: fc.array(fc.nat(11), { minLength: 3, maxLength: 17 }),
    all: fc.boolean(),
  });
  return fc.array(layer, { minLength: 1, maxLength: most }).map((layers) => (text) => {
    let encoded = text;
    for (const { encoding, choices, all } of layers) {
      const [own, encode] = ENCODINGS[encoding]!;
      let turn = 0;
      const choose: Choose = (of) => choices[(turn += 1) % choices.length]! % of;
      encoded = Array.from(encoded, (character) =>
        all || own.includes(character) || choose(2) === 0 ? encode(character, choose) : character,
      ).join("");
    }
    return encoded;
  });
}
