import { pathsIn, type AttributePath, type Expression } from "../policy/evaluation.ts";

/** @returns the paths of a subscription's payload that a condition reads, in source order */
export function lateReads(expression: Expression): readonly AttributePath[] {
  return pathsIn(expression).filter(([root]) => root !== undefined && root !== "args" && root !== "env");
}
