import type { AttributePath, ConditionIR, Expression } from "../ir.ts";
import type { Goal } from "./find-attributes.ts";
import { TRUE } from "./verdicts.ts";

const USER_ID: AttributePath = ["user", "id"];

/**
 * Anyone who has an attribute of `user` or `customer` has an id: the gateway takes no token without one. Otherwise a condition on a
 * role in place of `exists(user.id)` would permit more: to somebody with the role and without an id.
 *
 * @returns what holds for every request, as far as these conditions can tell
 */
export function signedInFacts(conditions: readonly Pick<ConditionIR, "reads">[]): readonly Goal[] {
  const reads = conditions.flatMap(({ reads }) => reads);
  const ofCaller = reads.filter(([root]) => root === "user" || root === "customer");
  const others = new Map(
    ofCaller.filter((path) => !isUserId(path)).map((path) => [JSON.stringify(path), path]),
  );
  // nobody asks for the id, or for nothing else
  if (others.size === 0 || others.size === ofCaller.length) return [];
  const missing = [...others.values()].map((path): Expression => ({
    op: "not",
    arg: { op: "exists", path },
  }));
  const hasId: Expression = { op: "exists", path: USER_ID };
  return [{ expression: { op: "or", args: [hasId, { op: "and", args: missing }] }, verdicts: TRUE }];
}

function isUserId(path: AttributePath): boolean {
  return path.length === USER_ID.length && path.every((part, index) => part === USER_ID[index]);
}
