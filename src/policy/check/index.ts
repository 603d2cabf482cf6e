import type { Reporter } from "../diagnostics/reporter.ts";
import type { PolicySetSource } from "../read/index.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { conditions } from "./conditions.ts";
import { duplicateFields } from "./duplicate-fields.ts";
import { duplicateRules } from "./duplicate-rules.ts";
import { emptySet } from "./empty-set.ts";
import { lookupKeys } from "./lookup-keys.ts";
import { neverTrue } from "./never-true.ts";
import { roleWithoutCustomer } from "./role-without-customer.ts";
import { schemaFields } from "./schema-fields.ts";
import { uncheckedOperations } from "./unchecked-operations.ts";
import { unreachableRules } from "./unreachable-rules.ts";

const CHECKS: readonly PolicySetCheck[] = [
  emptySet,
  duplicateRules,
  duplicateFields,
  unreachableRules,
  conditions,
  neverTrue,
  lookupKeys,
  schemaFields,
  uncheckedOperations,
];

/** What is known of where a set will be in force. */
export interface DeploymentContext {
  /** The identity providers of several customers say who its users are. */
  readonly severalProviders?: boolean;
}

/** Reports every mistake that only shows when the set is seen as a whole. */
export function checkPolicySet(
  set: PolicySetSource,
  report: Reporter,
  { severalProviders = false }: DeploymentContext,
): void {
  for (const check of CHECKS) check(set, report);
  if (severalProviders) roleWithoutCustomer(set, report);
}
