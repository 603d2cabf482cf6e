import type { IToken } from "chevrotain";
import { COMPARISON_OPERATORS } from "../ir.ts";
import type { ConditionNode, LiteralNode, NotNode, TextSpan } from "./ast.ts";
import { tokenSpan } from "./lex.ts";
import { decodeNumber, decodeString } from "./literal.ts";
import { False, Null, NumberLiteral, True } from "./tokens.ts";

/** Placeholder for text that error recovery skipped. A tree that contains it never leaves {@link parseTokens}. */
export const SKIPPED: LiteralNode = { op: "literal", value: null, text: "null", start: 0, end: 0 };

/** @returns the node for terms joined by `op`; a single term is returned as it is */
export function logicalNode(op: "and" | "or", args: readonly ConditionNode[]): ConditionNode {
  const first = args[0] ?? SKIPPED;
  const last = args.at(-1) ?? SKIPPED;
  return args.length === 1 ? first : { op, args, ...between(first, last) };
}

/** @returns the node for `not arg`. */
export function notNode(not: IToken, arg: ConditionNode): NotNode {
  return { op: "not", arg, ...between(tokenSpan(not), arg) };
}

/** @returns the node for `left operator right`. */
export function comparisonNode(operator: IToken, left: ConditionNode, right: ConditionNode): ConditionNode {
  // an invalid comparison (`=`) is already reported; any operator will do to continue
  const op = COMPARISON_OPERATORS.find((known) => known === operator.image) ?? "==";
  return { op, left, right, ...between(left, right) };
}

/** @returns the node for `value in list` or `value not in list`. */
export function membershipNode(value: ConditionNode, list: ConditionNode, negated: boolean): ConditionNode {
  const span = between(value, list);
  const arg: ConditionNode = { op: "in", form: "in", value, list, ...span };
  return negated ? { op: "not", arg, ...span } : arg;
}

/** @returns the node for a literal's token. */
export function literalNode(token: IToken): LiteralNode {
  const { image, startOffset } = token;
  const at = { text: image, ...tokenSpan(token) };
  switch (token.tokenType) {
    case True:
      return { op: "literal", value: true, ...at };
    case False:
      return { op: "literal", value: false, ...at };
    case Null:
      return { op: "literal", value: null, ...at };
    case NumberLiteral:
      return { op: "literal", value: decodeNumber(image, startOffset).value, ...at };
    default:
      return { op: "literal", value: decodeString(image, startOffset).value, ...at };
  }
}

/** @returns the span from `first` to `last` */
export function between(first: TextSpan, last: TextSpan): TextSpan {
  return { start: first.start, end: last.end };
}
