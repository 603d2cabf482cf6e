import type { AttributePath, Expression } from "../ir.ts";
import { visit } from "./walk.ts";

/**
 * @returns the paths of all attributes that an expression reads, in source order, repeated as often as they are read
 */
export function pathsIn(expression: Expression): readonly AttributePath[] {
  const paths: AttributePath[] = [];
  visit(expression, (part) => {
    if (part.op === "attribute" || part.op === "exists") paths.push(part.path);
  });
  return paths;
}

/** @returns what an expression reads below a root, as paths relative to that root */
export function readsBelow(expression: Expression, root: string): readonly AttributePath[] {
  return pathsIn(expression).flatMap((path) => (path[0] === root && path.length > 1 ? [path.slice(1)] : []));
}
