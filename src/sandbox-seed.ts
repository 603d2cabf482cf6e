import type { GatewayConfig } from "./config/index.ts";
import type { SandboxSeed } from "./control/sandbox/seed/types.ts";
import { PEOPLE } from "./demo/people.ts";
import { describePerson } from "./demo/person.ts";

/** What this program fills a sandbox with: the people of the demo application, and the policies that guard it. */
export function sandboxSeed({ policies }: GatewayConfig): SandboxSeed {
  return {
    people: PEOPLE.map(describePerson),
    policies: { directory: policies.directory, policySet: policies.policy_set },
  };
}
