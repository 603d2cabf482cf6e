import type { Reporter } from "../diagnostics/reporter.ts";
import type { PolicySetSource } from "../read/index.ts";
import type { Check } from "./check.ts";
import { conditions } from "./conditions.ts";
import { duplicateFields } from "./duplicate-fields.ts";
import { duplicateRules } from "./duplicate-rules.ts";
import { emptySet } from "./empty-set.ts";
import { lookupKeys } from "./lookup-keys.ts";
import { neverTrue } from "./never-true.ts";
import { schemaFields } from "./schema-fields.ts";
import { unreachableRules } from "./unreachable-rules.ts";

const CHECKS: readonly Check[] = [
  emptySet,
  duplicateRules,
  duplicateFields,
  unreachableRules,
  conditions,
  neverTrue,
  lookupKeys,
  schemaFields,
];

/** Reports every mistake that only shows when the set is seen as a whole. */
export function checkPolicySet(set: PolicySetSource, report: Reporter): void {
  for (const check of CHECKS) check(set, report);
}
