import type { IToken, TokenType } from "chevrotain";
import { errorAt, type ConditionFinding } from "./finding.ts";
import { tokenSpan } from "./lex.ts";
import {
  And,
  Comma,
  In,
  LeftBracket,
  LeftParenthesis,
  Not,
  Or,
  RightBracket,
  RightParenthesis,
} from "./tokens.ts";

/** Parentheses, brackets, calls and `not` within each other, at most. */
export const MAX_NESTING = 64;

/**
 * Looks for nesting beyond {@link MAX_NESTING}, without recursion: the parser is recursive, and is not started on
 * text that could exhaust its stack.
 */
export function nestingFinding(tokens: readonly IToken[]): ConditionFinding | undefined {
  const enclosing: number[] = []; // for each open bracket, how many `not` stood before it
  let nots = 0;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (is(token, LeftParenthesis) || is(token, LeftBracket)) {
      enclosing.push(nots);
      nots = 0;
      depth++;
    } else if (is(token, RightParenthesis) || is(token, RightBracket)) {
      if (enclosing.length === 0) continue; // one too many: the parser says so
      depth -= nots + 1;
      nots = enclosing.pop() ?? 0;
    } else if (is(token, Not) && !is(tokens[index + 1], In)) {
      nots++;
      depth++;
    } else if (is(token, And) || is(token, Or) || is(token, Comma)) {
      depth -= nots;
      nots = 0;
    }
    if (depth > MAX_NESTING) {
      return errorAt(
        tokenSpan(token),
        "condition-too-deep",
        `the condition is nested more than ${MAX_NESTING} levels deep`,
        "`and` and `or` take any number of terms without parentheses",
      );
    }
  }
  return undefined;
}

function is(token: IToken | undefined, type: TokenType): boolean {
  return (
    token !== undefined && (token.tokenType === type || (token.tokenType.CATEGORIES ?? []).includes(type))
  );
}
