import type { AttributePath, ComparisonOperator, LiteralValue, StringMethod } from "../ir.ts";

/** A stretch of a condition's text, in UTF-16 units from its beginning; `end` is exclusive. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * A parsed condition. Every node is the IR expression of the same `op` plus what only people and tools need: its
 * position and spelling. Parentheses have no node; the span of the enclosed node includes them.
 */
export type ConditionNode =
  | LogicalNode
  | NotNode
  | ComparisonNode
  | MembershipNode
  | StringTestNode
  | ExistsNode
  | AttributeNode
  | LiteralNode
  | ListNode;

/** Two or more arguments, as written: `a and (b and c)` is nested here, and flat only in the IR. */
export interface LogicalNode extends TextSpan {
  readonly op: "and" | "or";
  readonly args: readonly ConditionNode[];
}

export interface NotNode extends TextSpan {
  readonly op: "not";
  readonly arg: ConditionNode;
}

export interface ComparisonNode extends TextSpan {
  readonly op: ComparisonOperator;
  readonly left: ConditionNode;
  readonly right: ConditionNode;
}

export interface MembershipNode extends TextSpan {
  readonly op: "in";
  /** `value in list`, or `list.includes(value)`. */
  readonly form: "in" | "includes";
  readonly value: ConditionNode;
  readonly list: ConditionNode;
}

export interface StringTestNode extends TextSpan {
  readonly op: StringMethod;
  readonly target: ConditionNode;
  readonly arg: ConditionNode;
}

export interface ExistsNode extends TextSpan {
  readonly op: "exists";
  readonly path: AttributePath;
  /** The arguments between the parentheses. */
  readonly attribute: AttributeNode;
}

export interface AttributeNode extends TextSpan {
  readonly op: "attribute";
  readonly path: AttributePath;
}

export interface LiteralNode extends TextSpan {
  readonly op: "literal";
  readonly value: LiteralValue;
  /** The literal as written. */
  readonly text: string;
}

export interface ListNode extends TextSpan {
  readonly op: "list";
  readonly items: readonly ConditionNode[];
}
