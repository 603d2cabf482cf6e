import fc from "fast-check";
import { RULES } from "./socket-support.ts";

/** A message as text, and what must become of it under `RULES`, which is known from how it was made. */
export interface MadeMessage {
  readonly text: string;
  readonly verdict: "PERMITTED" | "UNREADABLE" | "UNLISTED" | "AMBIGUOUS" | "CONDITION";
  readonly type?: string;
}

interface Member {
  readonly name: string;
  /** How the name is written. */
  readonly spelling: string;
  /** JSON. */
  readonly value: string;
}

const named = (name: string, spellings: readonly string[], values: readonly string[]): fc.Arbitrary<Member> =>
  fc.record({
    name: fc.constant(name),
    spelling: fc.constantFrom(...spellings),
    value: fc.constantFrom(...values),
  });

const PLAIN_TYPES = [
  '"chat"',
  '"chat"',
  '"admin"',
  '"kick"',
  '"count"',
  '"count"',
  '"other"',
  '"Chat"',
  '""',
  '"toString"',
];
const ODD_TYPES = [
  '"\\u0063hat"',
  '"ch\\u0061t\\u0000"',
  '"adm\\u0069n"',
  '"\\ud800"',
  "1",
  "null",
  '["chat"]',
  '{"type":"chat"}',
];

const type = fc.oneof(
  { weight: 8, arbitrary: named("type", ["type"], PLAIN_TYPES) },
  { weight: 1, arbitrary: named("type", ["type"], ODD_TYPES) },
  { weight: 1, arbitrary: named("type", ["\\u0074ype", "typ\\u0065"], PLAIN_TYPES) },
);
const n = named(
  "n",
  ["n", "n", "n", "\\u006e"],
  ["1", "4.5", "5", "-1e3", "9", '"1"', "null", "[1]", "1e400", "0.1"],
);
const noise = named(
  "x",
  ["x", "Type", "type\\u0000", "", "__index"],
  ["1", '"type"', '{"type":"chat","n":1}', "[[]]", '"\\""'],
);

const sometimes = (member: fc.Arbitrary<Member>, most: number) => fc.array(member, { maxLength: most });
const members = fc
  .tuple(
    fc.oneof({ weight: 8, arbitrary: fc.tuple(type) }, { weight: 1, arbitrary: sometimes(type, 2) }),
    fc.oneof({ weight: 3, arbitrary: sometimes(n, 1) }, { weight: 1, arbitrary: sometimes(n, 2) }),
    sometimes(noise, 3),
  )
  .chain(([types, numbers, others]) =>
    fc.shuffledSubarray([...types, ...numbers, ...others], {
      minLength: types.length + numbers.length + others.length,
    }),
  );

/** What stands around the object; the first leave it what it is. */
const AROUND = [
  ["", ""],
  [" \t\r\n", " "],
  ["[", "]"],
  ["\ufeff", ""],
  ["", ","],
  ["", "{}"],
  ["", "\u0000"],
  ["//\n", ""],
] as const;
const around = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...AROUND.slice(0, 2)) },
  { weight: 1, arbitrary: fc.constantFrom(...AROUND.slice(2)) },
);

function verdictOf(all: readonly Member[], isObject: boolean): Omit<MadeMessage, "text"> {
  const types = all.filter(({ name }) => name === "type");
  const [only] = types;
  const type: unknown = only && JSON.parse(only.value);
  if (
    !isObject ||
    types.length !== 1 ||
    only!.spelling !== "type" ||
    typeof type !== "string" ||
    type === "\ud800"
  ) {
    return { verdict: "UNREADABLE" };
  }
  if (!Object.hasOwn(RULES, type)) return { verdict: "UNLISTED", type };
  // read without their case, or to their end in C
  if (all.some(({ name, spelling }) => name === "x" && /^type\b/i.test(spelling)))
    return { verdict: "AMBIGUOUS", type };
  const numbers = all.filter(({ name }) => name === "n").map(({ value }) => JSON.parse(value) as unknown);
  const small = numbers.length === 1 && typeof numbers[0] === "number" && numbers[0] < 5;
  return { verdict: type === "chat" || (type === "count" && small) ? "PERMITTED" : "CONDITION", type };
}

/** Messages for `RULES`. */
export const madeMessage: fc.Arbitrary<MadeMessage> = fc
  .tuple(members, around)
  .map(([all, [before, after]]) => {
    const object = `{${all.map(({ spelling, value }) => `"${spelling}":${value}`).join(",")}}`;
    const isObject = AROUND.slice(0, 2).some(([start, end]) => start === before && end === after);
    return { text: `${before}${object}${after}`, ...verdictOf(all, isObject) };
  });
