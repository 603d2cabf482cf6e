import type { GatewayConfig } from "../config/index.ts";
import { renderDiagnostics } from "../policy/index.ts";
import { compileSet } from "./policy-sets.ts";
import { progress } from "./progress.ts";

/** Says at start, on stderr, what is wrong with the policy set. */
export async function reportPolicies({ policies }: GatewayConfig): Promise<void> {
  const { ir, diagnostics, files } = await compileSet(policies.directory, policies.policy_set);
  if (diagnostics.length > 0) progress(renderDiagnostics([...diagnostics], [...files]).trimEnd());
  if (ir === undefined) progress("the gateway denies everything until the policy set is good");
}
