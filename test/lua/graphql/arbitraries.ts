import fc from "fast-check";

const NAMES = ["a", "b", "on", "query", "fragment", "true", "null", "_x9", "__typename", "Customer", "ssn"];
const name = fc.constantFrom(...NAMES);
const fragmentName = fc.constantFrom("F", "F", "G", "G", "query", "on");

/** What stands between tokens, most often a blank. */
const ignored = fc.oneof(
  { weight: 8, arbitrary: fc.constant(" ") },
  fc.constantFrom("\n", "\r\n", "\r", "\t", ",", "\uFEFF", "# any text é \u{1F600}\n", "#\r", ",,  "),
);

const number = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("0", "-7", "12", "1.50", "-0e+12", "3E-2", "123456789012345678901234567890"),
  },
  fc
    .tuple(
      fc.constantFrom("", "-", "--"),
      fc.constantFrom("0", "1", "007"),
      fc.constantFrom("", ".5", ".", ".05e1"),
      fc.constantFrom("", "e1", "E-3", "e+", "e"),
    )
    .map((parts) => parts.join("")),
);

const inString = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.constantFrom(
      ...["a", " ", "é", "\u{1F600}", "\u2028", "\u0000", "'", '\\"', "\\\\", "\\/", "\\n"],
      ...["\\u0041", "\\uD83D\\uDE00", "\\u{1F600}", "\\u{0}", "\\u{00000041}"],
    ),
  },
  fc.constantFrom(
    ...[
      "\\uD83D",
      "\\uDE00",
      "\\u{}",
      "\\u{110000}",
      "\\u{D800}",
      "\\u{000000041}",
      "\\x",
      "\\u00g0",
      "\\",
      "\n",
    ],
  ),
);
const inBlock = fc.constantFrom(
  ...["a", "b", " ", "é", "\u{1F600}", "\\", "'"],
  ...["\n", "\r\n", "\r", "  ", "\t", " a\n", '\\"""', '"', '""', "\\u0041", "\n    b\n", "\uFEFF"],
);
const string = fc.oneof(
  fc.array(inString, { maxLength: 4 }).map((parts) => `"${parts.join("")}"`),
  fc.array(inBlock, { maxLength: 8 }).map((parts) => `"""${parts.join("")}"""`),
);

type Tokens = fc.Arbitrary<string[]>;

const words = (...tokens: string[]): Tokens => fc.constant(tokens);
const oneWord = (token: fc.Arbitrary<string>): Tokens => token.map((one) => [one]);
const sequence = (...parts: Tokens[]): Tokens => fc.tuple(...parts).map((all) => all.flat());
const optional = (part: Tokens): Tokens => fc.oneof({ weight: 2, arbitrary: words() }, part);
const rare = (part: Tokens): Tokens => fc.oneof({ weight: 9, arbitrary: words() }, part);
/** What nests: of one identifier, so that depth is counted over all of it. */
const nesting = { depthIdentifier: "graphql", depthSize: "small" } as const;
const list = (item: Tokens, open: string, close: string, minLength = 1): Tokens =>
  fc
    .array(item, { minLength, maxLength: 3, depthIdentifier: "graphql" })
    .map((items) => [open, ...items.flat(), close]);

const description = rare(oneWord(string));

type Part =
  | "value"
  | "named"
  | "arguments"
  | "directives"
  | "type"
  | "variable"
  | "selection"
  | "selections"
  | "definition"
  | "document";

/** Tokens of a document. Rarely, it is not well-formed. */
const { document } = fc.letrec<Record<Part, string[]>>((tie) => {
  const part = (name: Part): Tokens => tie(name);
  return {
    value: fc.oneof(
      nesting,
      oneWord(name),
      oneWord(number),
      oneWord(string),
      sequence(words("$"), oneWord(name)),
      list(part("value"), "[", "]", 0),
      list(part("named"), "{", "}", 0),
    ),
    named: sequence(oneWord(name), words(":"), part("value")),
    arguments: optional(list(part("named"), "(", ")")),
    directives: optional(sequence(words("@"), oneWord(name), part("arguments"))),
    type: sequence(
      fc.oneof(nesting, oneWord(name), sequence(words("["), part("type"), words("]"))),
      optional(words("!")),
      rare(words("!")),
    ),
    variable: sequence(
      sequence(description, words("$"), oneWord(name), words(":"), part("type")),
      optional(sequence(words("="), part("value"))),
      part("directives"),
    ),
    selection: fc.oneof(
      nesting,
      sequence(oneWord(name), part("arguments"), part("directives")),
      sequence(oneWord(name), words(":"), oneWord(name), part("arguments"), optional(part("selections"))),
      sequence(oneWord(name), part("arguments"), part("directives"), part("selections")),
      sequence(words("..."), oneWord(fragmentName), part("directives")),
      sequence(
        words("..."),
        optional(sequence(words("on"), oneWord(name))),
        part("directives"),
        part("selections"),
      ),
    ),
    selections: list(part("selection"), "{", "}"),
    definition: fc.oneof(
      part("selections"),
      sequence(
        description,
        oneWord(fc.constantFrom("query", "mutation", "subscription")),
        optional(oneWord(name)),
        optional(list(part("variable"), "(", ")")),
        part("directives"),
        part("selections"),
      ),
      sequence(
        sequence(description, words("fragment"), oneWord(fragmentName), words("on"), oneWord(name)),
        part("directives"),
        part("selections"),
      ),
      rare(fc.oneof(words("type", "A", "{", "a", ":", "Int", "}"), words("extend", "type", "A", "@b"))),
    ),
    document: fc.array(part("definition"), { minLength: 1, maxLength: 3 }).map((parts) => parts.flat()),
  };
});

const mark = fc.constantFrom("{", "}", "(", ")", "[", "]", ":", "=", "@", "!", "$", "&", "|", ".", "...");
const soup: Tokens = fc.array(fc.oneof(mark, name, number, string), { maxLength: 8 });
const tokens: Tokens = fc.oneof(document, document, document, document, soup);

const edit = fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.constantFrom("", "{", '"', "1", ".", "\\", "}"));

/** Texts that are GraphQL documents, nearly, or not at all. */
export const graphqlTexts: fc.Arbitrary<string> = fc
  .tuple(
    tokens,
    fc.array(ignored, { minLength: 16, maxLength: 16 }),
    fc.option(edit, { freq: 2 }),
    fc.boolean(),
  )
  .map(([parts, blanks, change, tight]) => {
    const text = parts.map((part, index) => part + (tight ? " " : (blanks[index % 16] ?? ""))).join("");
    if (change === null) return text;
    const [at, length, instead] = change;
    const start = at % (text.length + 1);
    return (text.slice(0, start) + instead + text.slice(start + length)).toWellFormed();
  });
