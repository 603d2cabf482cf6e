import type { AttributePath, AttributeType } from "../ir.ts";
import type { ConditionNode } from "./ast.ts";
import type { Finding } from "./finding.ts";
import { isSentSeveralTimes } from "./values.ts";

/** What is known of the conditions of one section, and of one rule in it. */
export interface ConditionContext {
  /** The roots that its conditions may read. */
  readonly roots: readonly string[];
  /** The parameters of the rule's path pattern; absent where conditions have no pattern. */
  readonly parameters?: readonly string[];
  /** Declared types, by root and then by member; members of members have dotted names. */
  readonly types?: Readonly<Record<string, Readonly<Record<string, AttributeType>>>>;
  /** The verdict that gives access: a permit's is true, that of a rule which masks is false. Absent: it is not known. */
  readonly opensWhen?: boolean;
}

/** One static check: called with every node of a condition, and the node above it. */
export type Rule = (
  node: ConditionNode,
  context: ConditionContext,
  parent: ConditionNode | undefined,
) => readonly Finding[];

/** The type of an expression, as far as it is certain. `undefined`: anything. */
export type KnownType = AttributeType | "null" | undefined;

/** The members of `request`, all that there are. */
export const REQUEST_MEMBERS: ReadonlyMap<string, AttributeType | undefined> = new Map([
  ["method", "string"],
  ["path", "string"],
  ["host", "string"],
  ["scheme", "string"],
  ["protocol", "string"],
  ["client_ip", "string"],
  ["headers", "object"],
  ["query", "object"],
  ["body", undefined],
]);

/** Roots that are objects whatever is in them. `item` and `response` are whatever the application sends. */
const OBJECT_ROOTS: ReadonlySet<string> = new Set(["user", "customer", "path", "request", "env"]);

/** @returns the type that an operand is certain to have, if it has a value at all. */
export function typeOf(node: ConditionNode, context: ConditionContext): KnownType {
  switch (node.op) {
    case "attribute":
      // where it was sent once; of several, nobody knows which one counts
      return isSentSeveralTimes(node.path) ? "string" : typeOfPath(node.path, context);
    case "list":
      return "list";
    case "literal":
      return typeOfLiteral(node.value);
    default:
      return "boolean";
  }
}

/** {@link typeOf} what `in` searches: a query parameter or header is the list of its values. */
export function typeOfList(node: ConditionNode, context: ConditionContext): KnownType {
  return node.op === "attribute" ? typeOfPath(node.path, context) : typeOf(node, context);
}

/** @returns the type of the attribute at `path`. */
export function typeOfPath(path: AttributePath, { types }: ConditionContext): KnownType {
  const [root = "", ...members] = path;
  const declared = types !== undefined && Object.hasOwn(types, root) ? types[root] : undefined;
  if (members.length === 0) return OBJECT_ROOTS.has(root) || declared !== undefined ? "object" : undefined;
  // a key that has a dot itself could be read in two ways
  if (declared !== undefined && !members.some((member) => member.includes("."))) {
    const name = members.join(".");
    if (Object.hasOwn(declared, name)) return declared[name];
  }
  if (root === "path") return members.length === 1 ? "string" : undefined;
  if (root === "request") return typeOfRequest(members);
  return undefined;
}

/** @returns "a string", "null", ... */
export function typeName(type: KnownType): string {
  return type === undefined || type === "null" ? "null" : `${type === "object" ? "an" : "a"} ${type}`;
}

function typeOfRequest(members: readonly string[]): KnownType {
  const [member = ""] = members;
  if (members.length === 1) return REQUEST_MEMBERS.get(member);
  return isSentSeveralTimes(["request", ...members]) ? "list" : undefined;
}

function typeOfLiteral(value: string | number | boolean | null): KnownType {
  return value === null ? "null" : (typeof value as "string" | "number" | "boolean");
}
