import { Lexer, type ILexingError, type IToken, type TokenType } from "chevrotain";
import { quoted } from "../../text/index.ts";
import type { TextSpan } from "./ast.ts";
import { errorAt, type ConditionFinding } from "./finding.ts";
import { operatorHint, regexHint } from "./foreign.ts";
import { codePointName, decodeNumber, decodeString, encodeString } from "./literal.ts";
import {
  Dot,
  ForeignAnd,
  ForeignComparator,
  ForeignName,
  ForeignNot,
  ForeignOr,
  KEYWORDS,
  LookalikeString,
  NumberLiteral,
  RegexLiteral,
  StringLiteral,
  UnterminatedString,
  VOCABULARY,
} from "./tokens.ts";

const lexer = new Lexer(VOCABULARY, { positionTracking: "onlyOffset", ensureOptimizations: true });

/** @returns the tokens of `text` and everything wrong with its characters, literals and foreign operators. */
export function lex(text: string): { tokens: IToken[]; findings: ConditionFinding[] } {
  const { tokens, errors } = lexer.tokenize(text);
  const findings = errors.map((error) => characterFinding(text, error));
  let previous: IToken | undefined;
  for (const token of tokens) {
    const { tokenType, image, startOffset } = token;
    if (KEYWORDS.includes(tokenType)) {
      if (image !== tokenType.name && previous?.tokenType !== Dot) findings.push(keywordFinding(token));
    } else {
      const found = EXAMINERS.get(tokenType)?.(image, startOffset, tokenSpan(token)) ?? [];
      for (const finding of found) findings.push(finding);
    }
    previous = token;
  }
  return { tokens, findings };
}

/** @returns the span of `token`; meaningless for a token that error recovery inserted */
export function tokenSpan({ image, startOffset }: IToken): TextSpan {
  return { start: startOffset, end: startOffset + image.length };
}

type Examiner = (image: string, start: number, span: TextSpan) => readonly ConditionFinding[];

/** Tokens that may be wrong in themselves. */
const EXAMINERS: ReadonlyMap<TokenType, Examiner> = new Map<TokenType, Examiner>([
  [StringLiteral, (image, start) => decodeString(image, start).findings],
  [NumberLiteral, (image, start) => decodeNumber(image, start).findings],
  [
    UnterminatedString,
    (image, _, span) => [
      errorAt(
        span,
        "unterminated-string",
        `the string ${quoted(image)} is not closed`,
        `close it with \`${image.charAt(0)}\` on the same line; write a line break as \`\\n\``,
      ),
    ],
  ],
  [
    LookalikeString,
    (image, _, span) => [
      errorAt(
        span,
        "lookalike-quote",
        `${quoted(image)} is not a string: these quotes are not supported`,
        "put strings in `\"` or `'`",
      ),
    ],
  ],
  [
    RegexLiteral,
    (image, _, span) => [
      errorAt(span, "regular-expression", `${quoted(image)} looks like a regular expression`, regexHint()),
    ],
  ],
  [
    ForeignName,
    (image, _, span) => [
      errorAt(
        span,
        "unexpected-character",
        `${quoted(image)} is not a plain name`,
        `write a name like this in brackets: \`user[${encodeString(image)}]\``,
      ),
    ],
  ],
  ...[ForeignAnd, ForeignOr, ForeignNot, ForeignComparator].map((type): [TokenType, Examiner] => [
    type,
    (image, _, span) => [
      errorAt(span, "foreign-operator", `${quoted(image)} is not a supported operator`, operatorHint(image)),
    ],
  ]),
]);

function keywordFinding(token: IToken): ConditionFinding {
  const { name } = token.tokenType;
  return errorAt(
    tokenSpan(token),
    "keyword-case",
    `\`${token.image}\` must be in lower case`,
    `write \`${name}\``,
  );
}

/** The lexer drops characters that it cannot read; this reports them. */
function characterFinding(text: string, { offset, length }: ILexingError): ConditionFinding {
  const span = { start: offset, end: offset + length };
  const image = text.slice(span.start, span.end);
  const character = String.fromCodePoint(image.codePointAt(0) ?? 0);
  if (/[“”„‟«»‘’‚‛`´＂＇]/.test(character)) {
    return errorAt(
      span,
      "lookalike-quote",
      `${quoted(image)} is not a supported quotation mark`,
      "put strings in `\"` or `'`",
    );
  }
  if (/[\p{C}\p{Z}]/u.test(character)) {
    return errorAt(
      span,
      "control-character",
      `the character ${codePointName(character)} is invisible and not accepted`,
      "delete it; use only spaces, tabs and line breaks between words",
    );
  }
  return errorAt(span, "unexpected-character", `unexpected character ${quoted(image)}`);
}
