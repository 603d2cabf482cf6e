import type { PolicySetCheck } from "./policy-set-check.ts";
import { placeOf } from "../syntax/place-of.ts";

/** A policy set without rules is valid, but rarely intended. */
export const emptySet: PolicySetCheck = (set, report) => {
  const guarded = [set.rules, set.graphql, set.connections].some((rules) => rules.length > 0);
  if (guarded || !report.clean || set.root === undefined) return;
  const outcome = set.head.default === "allow" ? "every request is allowed" : "every request is denied";
  report.warning(placeOf(set.root), "no-rules", `the policy set has no rules: ${outcome}`);
};
