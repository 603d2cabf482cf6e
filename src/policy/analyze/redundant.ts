import type { PathRuleIR, SegmentIR } from "../ir.ts";
import { areMethodsShared } from "./overlap.ts";
import { routeChange } from "./route-change.ts";
import { routePairs, type RoutedSet } from "./routes.ts";

/**
 * Looks for the rule that would decide in place of another one, the same for every request. Paths that differ from the
 * rule's only in spelling are not considered: these are denied while it exists.
 *
 * @param near - the rules whose paths overlap, without the rule itself
 */
export function redundantTo(
  rule: PathRuleIR,
  near: readonly PathRuleIR[],
  set: Pick<RoutedSet, "default">,
): PathRuleIR | undefined {
  if (!near.some((other) => mayReplace(other, rule))) return undefined;
  const [before, after] = [
    { ...set, rules: [...near, rule] },
    { ...set, rules: near },
  ];
  let replacing: PathRuleIR | undefined;
  for (const pair of routePairs(before, after)) {
    if (pair.before !== rule) continue;
    if (typeof pair.after !== "object" || !isAlike(pair.after, rule)) return undefined;
    if (routeChange(pair, before, after).length > 0) return undefined;
    replacing ??= pair.after;
  }
  return replacing;
}

/** Whether one rule matches all that another one does, and reads as many attributes. */
function mayReplace(one: PathRuleIR, other: PathRuleIR): boolean {
  return (
    isAlike(one, other) &&
    areMethodsShared(one.method, other.method) &&
    one.condition.reads.length === other.condition.reads.length &&
    covers(one.segments, other.segments)
  );
}

/** Whether a denial or a record does not depend on which of two rules decides. */
function isAlike(one: PathRuleIR, other: PathRuleIR): boolean {
  return one.section === other.section && one.auditRequired === other.auditRequired;
}

function covers(wide: readonly SegmentIR[], narrow: readonly SegmentIR[]): boolean {
  for (let index = 0; ; index++) {
    const [one, other] = [wide[index], narrow[index]];
    if (one?.kind === "rest") return true;
    if (one === undefined || other === undefined) return one === other;
    if (other.kind === "rest") return false;
    if (one.kind === "literal" && (other.kind !== "literal" || other.value !== one.value)) return false;
  }
}
