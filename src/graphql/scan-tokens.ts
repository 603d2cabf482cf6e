import { GraphQLError, Lexer, Source, TokenKind } from "graphql";
import { malformed, overLimit } from "./types.ts";

/** Maximum nesting depth of brackets. It limits every recursion over the document. */
const MAX_BRACKETS = 200;

const OPENING: ReadonlySet<string> = new Set([TokenKind.PAREN_L, TokenKind.BRACKET_L, TokenKind.BRACE_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.PAREN_R, TokenKind.BRACKET_R, TokenKind.BRACE_R]);

/**
 * Counts the lexical tokens of a document (GraphQL, section 2.1.6), including punctuators but not comments.
 *
 * @param budget - the maximum number of tokens
 * @returns the number of tokens
 * @throws GraphqlRefusal
 */
export function scanTokens(text: string, budget: number): number {
  const lexer = new Lexer(new Source(text));
  let count = 0;
  let open = 0;
  for (;;) {
    const kind = nextKind(lexer);
    if (kind === TokenKind.EOF) return count;
    count += 1;
    if (count > budget) overLimit("the documents have too many tokens");
    if (OPENING.has(kind)) {
      open += 1;
      if (open > MAX_BRACKETS) overLimit(`brackets are nested more than ${MAX_BRACKETS} levels deep`);
    } else if (CLOSING.has(kind)) open = Math.max(0, open - 1);
  }
}

function nextKind(lexer: Lexer): TokenKind {
  try {
    return lexer.advance().kind;
  } catch (error) {
    return malformed(syntaxErrorAt(error));
  }
}

/** The position of a syntax error, without the document's text. */
export function syntaxErrorAt(error: unknown): string {
  const [at] = (error instanceof GraphQLError ? error.locations : undefined) ?? [];
  const place = at === undefined ? "" : ` at line ${at.line}, column ${at.column}`;
  return `GraphQL syntax error${place}`;
}
