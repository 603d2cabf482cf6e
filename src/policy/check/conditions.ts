import { checkCondition, checkKey, compileCondition } from "../condition/index.ts";
import { reportWithin } from "../syntax/report-within.ts";
import { BASE_ROOTS, rootsOf } from "../roots.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { conditionsOf } from "./uses.ts";

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
  for (const { condition, use, parameters, fieldArguments, anyRoot, purpose } of conditionsOf(set)) {
    const roots = rootsOf(use, lookedUp);
    if (anyRoot) {
      const read = compileCondition(condition.ast, condition.text).reads.map(([root = ""]) => root);
      roots.push(...read.filter((root) => !BASE_ROOTS.includes(root)));
    }
    for (const finding of checkCondition(condition.ast, {
      roots,
      parameters,
      fieldArguments,
      types,
      open,
      opensWhen: purpose === "permits",
    })) {
      reportWithin(report, condition.node, finding);
    }
  }
};
