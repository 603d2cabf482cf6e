import {
  EOF,
  type IParserErrorMessageProvider,
  type IRecognitionException,
  type IToken,
  type TokenType,
} from "chevrotain";
import { errorAt, type ConditionFinding } from "./finding.ts";
import { quoted } from "../../text/index.ts";
import { tokenSpan } from "./lex.ts";
import { RightBracket, RightParenthesis } from "./tokens.ts";

/** Recovering from more errors than this finds nothing useful, and each one costs more. */
const MAX_SYNTAX_ERRORS = 20;

/** Ends parsing from within: unlike a recognition error, the parser does not recover from it. */
export class TooManyErrors extends Error {}

/**
 * Messages for the parser's errors. Stops the parser after {@link MAX_SYNTAX_ERRORS} since `count` was last set to 0.
 */
export const messages = {
  count: 0,

  buildMismatchTokenMessage({ expected, actual }: { expected: TokenType; actual: IToken }): string {
    countError();
    return `expected ${expected.LABEL ?? expected.name}, found ${described(actual)}`;
  },

  buildNotAllInputParsedMessage({ firstRedundant }: { firstRedundant: IToken }): string {
    countError();
    return `found ${described(firstRedundant)} where the condition should end`;
  },

  buildNoViableAltMessage: valueExpected,
  buildEarlyExitMessage: valueExpected,
} satisfies IParserErrorMessageProvider & { count: number };

/** @returns the finding for an error that the parser met. */
export function findingOf({
  token,
  previousToken,
  message,
}: IRecognitionException & { previousToken?: IToken }): ConditionFinding {
  if (token.tokenType === EOF) {
    // nothing can be marked beyond the end, so mark the last word
    return errorAt(tokenSpan(previousToken ?? token), "unexpected-end", message);
  }
  return errorAt(tokenSpan(token), "unexpected-token", message, hintFor(token, message));
}

function hintFor(token: IToken, message: string): string | undefined {
  const closing = token.tokenType === RightParenthesis || token.tokenType === RightBracket;
  return message.endsWith("should end") && !closing ? "join conditions with `and` or `or`" : undefined;
}

function valueExpected({ actual }: { actual: IToken[] }): string {
  countError();
  return `expected an attribute or a value, found ${described(actual[0])}`;
}

function countError(): void {
  if (++messages.count > MAX_SYNTAX_ERRORS) throw new TooManyErrors();
}

function described(token: IToken | undefined): string {
  return token === undefined || token.tokenType === EOF ? "the end of the condition" : quoted(token.image);
}
