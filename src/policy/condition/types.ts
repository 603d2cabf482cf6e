import type { AttributePath, AttributeType } from "../ir.ts";
import type { ConditionNode } from "./ast.ts";
import type { ConditionFinding } from "./finding.ts";
import { isValue } from "./operators.ts";
import { lookUp } from "./shapes.ts";
import { isSentSeveralTimes } from "./values.ts";

/** What is known about the conditions of one section, and of one rule in it. */
export interface ConditionContext {
  /** The roots that its conditions may read. */
  readonly roots: readonly string[];
  /** The parameters of the rule's path pattern; absent if there is no pattern. */
  readonly parameters?: readonly string[];
  /** The arguments of the rule's GraphQL field; absent if they are not known. */
  readonly fieldArguments?: readonly string[] | undefined;
  /** Declared types, by root and then by member; members of members have dotted names. */
  readonly types?: Readonly<Record<string, Readonly<Record<string, AttributeType>>>>;
  /** Roots that may have members other than the declared ones. */
  readonly open?: readonly string[];
  /** The verdict that grants access: true for a rule that permits, false for a rule that masks. Absent if not known. */
  readonly opensWhen?: boolean;
}

/** One static check, called with every node of a condition and its parent. */
export type ConditionCheck = (
  node: ConditionNode,
  context: ConditionContext,
  parent: ConditionNode | undefined,
) => readonly ConditionFinding[];

/** The type of an expression if it is certain; `undefined` if it may be anything. */
export type KnownType = AttributeType | "null" | undefined;

/** @returns the type that an operand certainly has, provided it has a value */
export function typeOf(node: ConditionNode, context: ConditionContext): KnownType {
  if (!isValue(node)) return "boolean";
  switch (node.op) {
    case "attribute":
      // applies if it was sent once; of several values, it is not known which one the application uses
      return isSentSeveralTimes(node.path) ? "string" : typeOfPath(node.path, context);
    case "list":
      return "list";
    case "literal":
      return typeOfLiteral(node.value);
  }
}

/** {@link typeOf} what `in` searches: a query parameter or header is the list of its values. */
export function typeOfList(node: ConditionNode, context: ConditionContext): KnownType {
  return node.op === "attribute" ? typeOfPath(node.path, context) : typeOf(node, context);
}

/** @returns the type of the attribute at `path`. */
export function typeOfPath(path: AttributePath, context: ConditionContext): KnownType {
  return lookUp(path, context).shape?.type;
}

/** @returns the type of the entries of `list`, if certain: the values of parameters and headers are strings */
export function typeOfEntries(list: ConditionNode, context: ConditionContext): KnownType {
  return list.op === "attribute" ? lookUp(list.path, context).shape?.entries : undefined;
}

/** Whether the attribute is never null: without a value it is missing. */
export function isNeverNull(node: ConditionNode, context: ConditionContext): boolean {
  return node.op === "attribute" && lookUp(node.path, context).shape?.notNull === true;
}

/** @returns "a string", "null", ... */
export function typeName(type: KnownType): string {
  return type === undefined || type === "null" ? "null" : `${type === "object" ? "an" : "a"} ${type}`;
}

function typeOfLiteral(value: string | number | boolean | null): KnownType {
  return value === null ? "null" : (typeof value as "string" | "number" | "boolean");
}
