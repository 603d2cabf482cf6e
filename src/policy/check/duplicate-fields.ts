import { quoted } from "../../text/index.ts";
import { placeName } from "../diagnostics/reporter.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { placeOf } from "../syntax/place-of.ts";

/** A field listed twice with the same condition and action is probably a typing error for another field. */
export const duplicateFields: PolicySetCheck = (set, report) => {
  for (const { fields } of [...set.responses, ...set.messages]) {
    const seen = new Map<string, (typeof fields)[number]>();
    for (const entry of fields) {
      const key = JSON.stringify([entry.field, entry.action, entry.condition.text]);
      const first = seen.get(key);
      if (first === undefined) {
        seen.set(key, entry);
        continue;
      }
      const message = `duplicate field ${quoted(entry.node.text)}; first listed at ${placeName(placeOf(first.node))}`;
      report.warning(placeOf(entry.node), "duplicate-field", message);
    }
  }
};
