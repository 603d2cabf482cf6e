import type { GatewayConfig } from "../config/index.ts";
import { renderDiagnostics } from "../policy/index.ts";
import { compileSet } from "./policy-sets.ts";
import { progress } from "./progress.ts";

/**
 * Says at start, on stderr, what is wrong with the policy set of the folder; nothing where policies come from elsewhere.
 *
 * @param untilMended - what holds as long as the set has errors
 */
export async function reportPolicies(
  { policies, control_plane }: GatewayConfig,
  untilMended = "no policy set is in force until then, so every request is refused",
): Promise<void> {
  if (policies.source === "control_plane") return;
  // as `policy validate --config` has it: how many customers have a provider, only the control plane knows, and it may change
  const severalProviders = control_plane.url !== undefined;
  const { ir, diagnostics, files } = await compileSet(policies.directory, policies.policy_set, {
    severalProviders,
  });
  if (diagnostics.length > 0) progress(renderDiagnostics([...diagnostics], [...files]).trimEnd());
  if (ir === undefined) progress(`mend the policy set: ${untilMended}`);
}
