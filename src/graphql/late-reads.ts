import { pathsIn, type AttributePath, type Expression } from "../policy/index.ts";

/** @returns the paths of what a subscription delivers that a condition reads, in the order of its text. */
export function lateReads(expression: Expression): readonly AttributePath[] {
  return pathsIn(expression).filter(([root]) => root !== undefined && root !== "args" && root !== "env");
}
