import { canonicalContent } from "../compile/canonical-content.ts";
import type { PolicySetIR } from "../ir.ts";
import { headChanges } from "./head-changes.ts";
import { keyedChanges } from "./keyed-changes.ts";
import { routeChange } from "./route-change.ts";
import { routePairs } from "./routes.ts";
import type { RuleChange } from "./rule-change.ts";

/** Lists every rule whose meaning or text differs between two sets, in the order of the sets. */
export function diffPolicySets(before: PolicySetIR, after: PolicySetIR): RuleChange[] {
  if (canonicalContent(before) === canonicalContent(after)) return [];
  return [
    ...headChanges(before, after),
    ...[...routePairs(before, after)].flatMap((pair) => routeChange(pair, before, after)),
    ...keyedChanges(before, after),
  ];
}
