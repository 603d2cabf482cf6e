import { quoted } from "../../text/index.ts";
import { redundantTo, RulesByPath } from "../analyze/index.ts";
import { compilePathRule } from "../compile/compile.ts";
import { placeName } from "../diagnostics/reporter.ts";
import { placeOf } from "../syntax/place-of.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";

/** Limits the time per set: rules are compared with at most this many others, and at most this many rules are. */
const MAX_NEAR = 30;
const MAX_COMPARED = 200;

/** A rule without which another one decides the same, probably because one of the two was meant to differ. */
export const redundantRules: PolicySetCheck = (set, report) => {
  const sources = new Map(set.rules.map((source) => [compilePathRule(source), source]));
  const index = new RulesByPath([...sources.keys()]);
  let compared = 0;
  for (const [rule, { pattern }] of sources) {
    const near = index.overlapping(rule.segments).filter((other) => other !== rule);
    if (near.length === 0 || near.length > MAX_NEAR) continue;
    if (++compared > MAX_COMPARED) return;
    const other = redundantTo(rule, near, { default: set.head.default ?? "deny" });
    const source = other && sources.get(other);
    if (source === undefined) continue;
    const nameOf = ({ method, text }: typeof pattern) =>
      quoted(rule.section === "policies" ? `${method} ${text}` : text);
    report.warning(
      placeOf(pattern.node),
      "redundant-rule",
      `${nameOf(pattern)} is redundant: ${nameOf(source.pattern)} at ${placeName(placeOf(source.pattern.node))} would decide the same`,
      "delete it, or change its condition",
    );
  }
};
