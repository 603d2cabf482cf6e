import { contradictoryParts, Effort } from "../analyze/index.ts";
import { checkCondition, checkKey, compileCondition, type ConditionContext } from "../condition/index.ts";
import { reportWithin } from "../syntax/report-within.ts";
import { BASE_ROOTS, rootsOf } from "../roots.ts";
import { reportConstant } from "./never-true.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { conditionsOf } from "./uses.ts";

/** What searching for conditions that are always or never true may cost, for all of a set and for each. */
const EFFORT = 100_000;
const EFFORT_OF_ONE = 10_000;

/** Conditions and look-up keys read only attributes that exist, and compare only values of comparable types. */
export const conditions: PolicySetCheck = (set, report) => {
  const declared = set.head.attributes ?? [];
  const lookedUp = declared.flatMap(({ name, lookup }) => (lookup ? [name] : []));
  const types = Object.fromEntries(declared.map((root) => [root.name, root.types]));
  const open = declared.flatMap((root) => (root.open ? [root.name] : []));
  for (const { lookup } of declared) {
    if (lookup === undefined) continue;
    const { attribute, node } = lookup.written;
    for (const finding of checkKey(attribute, { roots: [], types, open }))
      reportWithin(report, node, finding);
  }
  const effort = new Effort(EFFORT);
  const more = [contradictoryParts(effort)];
  for (const used of conditionsOf(set)) {
    const { condition, use, parameters, fieldArguments, anyRoot, purpose } = used;
    const roots = rootsOf(use, lookedUp);
    if (anyRoot) {
      const read = compileCondition(condition.ast, condition.text).reads.map(([root = ""]) => root);
      roots.push(...read.filter((root) => !BASE_ROOTS.includes(root)));
    }
    const context: ConditionContext = {
      roots,
      parameters,
      fieldArguments,
      types,
      open,
      opensWhen: purpose === "permits",
    };
    const findings = checkCondition(condition.ast, context, more);
    for (const finding of findings) reportWithin(report, condition.node, finding);
    // a finding about a part explains it better
    if (findings.length === 0) reportConstant(used, report, new Effort(EFFORT_OF_ONE, effort));
  }
};
