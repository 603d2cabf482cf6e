import { createToken, Lexer, type TokenType } from "chevrotain";
import { COMPARISON_OPERATORS } from "../ir.ts";

/**
 * The vocabulary. Tokens of other languages are recognized as well, as variants of the intended token. Parsing
 * continues as if that had been written, so one pass finds everything that is wrong with a condition.
 */

/** What may follow a dot: any identifier, keywords included. */
export const Name = createToken({ name: "Name", pattern: Lexer.NA });
export const Identifier = createToken({
  name: "Identifier",
  label: "a name",
  pattern: /[A-Za-z_][A-Za-z0-9_]*/,
  categories: [Name],
});

/** A name with letters beyond ASCII. */
export const ForeignName = createToken({
  name: "ForeignName",
  pattern: /[A-Za-z_]*[\u00c0-\u167f\u3041-\ud7ff][A-Za-z0-9_\u00c0-\u167f\u3041-\ud7ff]*/,
  categories: [Identifier],
});

// keywords are matched in any letter case, so that `AND` is reported as such
export const And = keyword("and", /and/i);
export const Or = keyword("or", /or/i);
export const Not = keyword("not", /not/i);
export const In = keyword("in", /in/i);
export const True = keyword("true", /true/i);
export const False = keyword("false", /false/i);
export const Null = keyword("null", /null/i);

export const StringLiteral = createToken({
  name: "StringLiteral",
  label: "a string",
  pattern: /"(?:[^"\\\r\n]|\\[^\r\n])*"|'(?:[^'\\\r\n]|\\[^\r\n])*'/,
  line_breaks: false,
});
export const UnterminatedString = createToken({
  name: "UnterminatedString",
  pattern: /"(?:[^"\\\r\n]|\\[^\r\n])*\\?|'(?:[^'\\\r\n]|\\[^\r\n])*\\?/,
  categories: [StringLiteral],
  line_breaks: false,
});
/** `“x”`, `‘x’`, `«x»`, `` `x` `` and other unsupported quotation marks. */
export const LookalikeString = createToken({
  name: "LookalikeString",
  pattern: /[“”„‟«»‘’‚‛`´＂＇][^“”„‟«»‘’‚‛`´＂＇\r\n]*[“”„‟«»‘’‚‛`´＂＇]/,
  categories: [StringLiteral],
  line_breaks: false,
});
export const RegexLiteral = createToken({
  name: "RegexLiteral",
  pattern: /\/[^/\s][^/\r\n]*\/[a-z]*/,
  categories: [StringLiteral],
  line_breaks: false,
});

/** Everything that looks like a number. {@link decodeNumber} decides whether it is one. */
export const NumberLiteral = createToken({
  name: "NumberLiteral",
  label: "a number",
  pattern: /[-+]?\d(?:[eE][-+]\d|[A-Za-z0-9_.])*/,
});

export const Comparator = createToken({
  name: "Comparator",
  label: "a comparison",
  pattern: anyOf(COMPARISON_OPERATORS),
});
/** Tried before {@link Comparator}, so it must not match any of {@link COMPARISON_OPERATORS}. */
export const ForeignComparator = createToken({
  name: "ForeignComparator",
  pattern: /={3,}|!==|=~|!~|<>|=>|=<|=(?!=)/,
  categories: [Comparator],
});
export const ForeignAnd = createToken({ name: "ForeignAnd", pattern: /&&?/, categories: [And] });
export const ForeignOr = createToken({ name: "ForeignOr", pattern: /\|\|?/, categories: [Or] });
export const ForeignNot = createToken({ name: "ForeignNot", pattern: /!/, categories: [Not] });

export const Dot = punctuation("Dot", ".");
export const Comma = punctuation("Comma", ",");
export const LeftParenthesis = punctuation("LeftParenthesis", "(");
export const RightParenthesis = punctuation("RightParenthesis", ")");
export const LeftBracket = punctuation("LeftBracket", "[");
export const RightBracket = punctuation("RightBracket", "]");
export const Arithmetic = createToken({ name: "Arithmetic", pattern: /[-+*/%^]/ });

const WhiteSpace = createToken({
  name: "WhiteSpace",
  pattern: /[ \t\r\n]+/,
  group: Lexer.SKIPPED,
  line_breaks: true,
});

/** In order of preference: the first match wins. */
export const VOCABULARY: TokenType[] = [
  WhiteSpace,
  StringLiteral,
  UnterminatedString,
  LookalikeString,
  RegexLiteral,
  NumberLiteral,
  ForeignName,
  And,
  Or,
  Not,
  In,
  True,
  False,
  Null,
  Identifier,
  ForeignComparator,
  Comparator,
  ForeignAnd,
  ForeignOr,
  ForeignNot,
  Dot,
  Comma,
  LeftParenthesis,
  RightParenthesis,
  LeftBracket,
  RightBracket,
  Arithmetic,
  Name,
];

/** The words that cannot name an attribute root. */
export const KEYWORDS: readonly TokenType[] = [And, Or, Not, In, True, False, Null];

function keyword(name: string, pattern: RegExp): TokenType {
  return createToken({ name, label: `\`${name}\``, pattern, longer_alt: Identifier, categories: [Name] });
}

/** Matches the longest one: `<=`, not `<`. */
function anyOf(symbols: readonly string[]): RegExp {
  const longestFirst = symbols.toSorted((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((symbol) => symbol.replace(/\W/g, "\\$&")).join("|"));
}

function punctuation(name: string, text: string): TokenType {
  return createToken({ name, label: `\`${text}\``, pattern: text });
}
