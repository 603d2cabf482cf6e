import { quoted } from "../../text/index.ts";
import { compileCondition } from "../condition/index.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { conditionsOf } from "./uses.ts";
import { placeOf } from "../syntax/place-of.ts";

/** An attribute looked up by a path parameter is missing in every rule whose path does not have that parameter. */
export const lookupKeys: PolicySetCheck = (set, report) => {
  const needed = new Map<string, string>();
  for (const { name, lookup } of set.head.attributes ?? []) {
    const [root, parameter] = lookup?.key ?? [];
    if (root === "path" && parameter !== undefined) needed.set(name, parameter);
  }
  if (needed.size === 0) return;
  for (const { condition, parameters } of conditionsOf(set)) {
    for (const [root = ""] of compileCondition(condition.ast, condition.text).reads) {
      const parameter = needed.get(root);
      if (parameter === undefined || parameters.includes(parameter)) continue;
      const message = `${quoted(root)} is looked up by ${quoted(`path.${parameter}`)}, but this path has no parameter ${quoted(parameter)}`;
      report.error(placeOf(condition.node), "missing-path-parameter", message);
    }
  }
};
