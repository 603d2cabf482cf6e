import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { GatewayConfig } from "../../config/index.ts";
import type { SandboxSeed } from "../../control/sandbox/seed/types.ts";
import { PEOPLE } from "../../demo/people.ts";
import { describePerson } from "../../demo/person.ts";

/** The policies folder in the package. */
export const PACKAGED_POLICIES = fileURLToPath(new URL("../../../policies", import.meta.url));

/** The seed of a sandbox: the users of the demo application, and the policies that protect it. */
export function sandboxSeed({ policies }: GatewayConfig): SandboxSeed {
  return {
    people: PEOPLE.map(describePerson),
    policies: existsSync(policies.directory)
      ? { directory: policies.directory, policySet: policies.policy_set }
      : { directory: PACKAGED_POLICIES, policySet: "default" },
  };
}
