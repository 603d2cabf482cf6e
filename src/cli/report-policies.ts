import type { GatewayConfig } from "../config/index.ts";
import { renderDiagnostics } from "../policy/evaluation.ts";
import { compileSet } from "./policy-sets.ts";
import { progress } from "./progress.ts";

/**
 * Reports the problems of the folder's policy set on stderr at startup. Does nothing if policies come from elsewhere.
 *
 * @param untilMended - the consequence while the set has errors
 */
export async function reportPolicies(
  { policies, rollout, control_plane }: GatewayConfig,
  untilMended = "until then no policy set is in force and every request is denied",
): Promise<void> {
  if (policies.source === "control_plane" || rollout.stable === "none") return;
  // as in `policy validate --config`: only the control plane knows how many customers have a provider, and that may change
  const severalProviders = control_plane.url !== undefined;
  const { ir, diagnostics, files } = await compileSet(policies.directory, policies.policy_set, {
    severalProviders,
  });
  if (diagnostics.length > 0) progress(renderDiagnostics([...diagnostics], [...files]).trimEnd());
  if (ir === undefined) progress(`the policy set has errors; fix them: ${untilMended}`);
}
