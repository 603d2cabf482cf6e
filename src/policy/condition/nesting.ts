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

/** Maximum nesting depth of parentheses, brackets, calls and `not`. */
export const MAX_NESTING = 64;

/**
 * Looks for nesting beyond {@link MAX_NESTING}, without recursion: the parser is recursive, and is not started on
 * text that could exhaust its stack.
 */
export function nestingFinding(tokens: readonly IToken[]): ConditionFinding | undefined {
  const enclosing: number[] = []; // for each open bracket, the number of `not` before it
  let nots = 0;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (is(token, LeftParenthesis) || is(token, LeftBracket)) {
      enclosing.push(nots);
      nots = 0;
      depth++;
    } else if (is(token, RightParenthesis) || is(token, RightBracket)) {
      if (enclosing.length === 0) continue; // an extra bracket: the parser reports it
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
        "remove parentheses: `and` and `or` take any number of terms",
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
