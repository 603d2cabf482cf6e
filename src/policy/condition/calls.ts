import { STRING_METHODS } from "../ir.ts";
import { nearestHint, quoted } from "../../text/index.ts";
import type { ConditionNode, TextSpan } from "./ast.ts";
import { errorAt, type ConditionFinding } from "./finding.ts";
import { functionHint, methodHint } from "./foreign.ts";

/** The name of a function or method where it is called. */
export interface CalledName extends TextSpan {
  readonly name: string;
}

const METHODS = ["includes", ...STRING_METHODS] as const;

/** @returns the node for `target.name(args)`; with findings, `target` itself. */
export function methodNode(
  target: ConditionNode,
  called: CalledName,
  args: readonly ConditionNode[],
  end: number,
): { node: ConditionNode; findings: ConditionFinding[] } {
  const method = METHODS.find((known) => known === called.name);
  if (method === undefined) {
    const hint = methodHint(called.name) ?? nearestHint(called.name, METHODS);
    return {
      node: target,
      findings: [errorAt(called, "unknown-method", `unknown method ${quoted(called.name)}`, hint)],
    };
  }
  const [arg] = args;
  if (arg === undefined || args.length > 1) {
    return { node: target, findings: [wrongArguments(called, `\`.${method}\` takes one value`)] };
  }
  const span = { start: target.start, end };
  return method === "includes"
    ? { node: { op: "in", form: "includes", value: arg, list: target, ...span }, findings: [] }
    : { node: { op: method, target, arg, ...span }, findings: [] };
}

/** @returns the node for `name(args)`, which is `exists(path)`; with findings, none. */
export function callNode(
  called: CalledName,
  args: readonly ConditionNode[],
  end: number,
): { node?: ConditionNode; findings: ConditionFinding[] } {
  if (called.name !== "exists") {
    const hint = functionHint(called.name) ?? nearestHint(called.name, ["exists"]);
    return {
      findings: [errorAt(called, "unknown-function", `unknown function ${quoted(called.name)}`, hint)],
    };
  }
  const [attribute] = args;
  if (attribute?.op !== "attribute" || args.length > 1) {
    return { findings: [wrongArguments(called, "`exists` takes one attribute path")] };
  }
  const { path } = attribute;
  return { node: { op: "exists", path, attribute, start: called.start, end }, findings: [] };
}

function wrongArguments(called: CalledName, message: string): ConditionFinding {
  return errorAt(called, "wrong-arguments", message);
}
