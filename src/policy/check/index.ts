import type { Reporter } from "../diagnostics/reporter.ts";
import type { PolicySetSource } from "../read/index.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { conditions } from "./conditions.ts";
import { duplicateFields } from "./duplicate-fields.ts";
import { duplicateRules } from "./duplicate-rules.ts";
import { emptySet } from "./empty-set.ts";
import { lookupKeys } from "./lookup-keys.ts";
import { operationsElsewhere } from "./operations-elsewhere.ts";
import { redundantRules } from "./redundant-rules.ts";
import { roleWithoutCustomer } from "./role-without-customer.ts";
import { schemaFields } from "./schema-fields.ts";
import { uncheckedOperations } from "./unchecked-operations.ts";
import { unreachableRules } from "./unreachable-rules.ts";
import { unusedResponseRules } from "./unused-response-rules.ts";

const CHECKS: readonly PolicySetCheck[] = [
  emptySet,
  duplicateRules,
  duplicateFields,
  unreachableRules,
  conditions,
  lookupKeys,
  schemaFields,
  uncheckedOperations,
  operationsElsewhere,
];

/** Checks that compare rules with all others: without the rules that cannot be read, they would be wrong. */
const CHECKS_OF_ALL: readonly PolicySetCheck[] = [redundantRules, unusedResponseRules];

/** What the caller knows about where the set will be in force. */
export interface DeploymentContext {
  /** Its users come from the identity providers of several customers. */
  readonly severalProviders?: boolean;
}

/** Reports mistakes that show only in the set as a whole. */
export function checkPolicySet(
  set: PolicySetSource,
  report: Reporter,
  { severalProviders = false }: DeploymentContext,
): void {
  for (const check of CHECKS) check(set, report);
  if (report.clean) for (const check of CHECKS_OF_ALL) check(set, report);
  if (severalProviders) roleWithoutCustomer(set, report);
}
