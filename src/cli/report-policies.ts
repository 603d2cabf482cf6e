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
  { policies }: GatewayConfig,
  untilMended = "no policy set is in force until then, so every request is refused",
): Promise<void> {
  if (policies.source === "control_plane") return;
  const { ir, diagnostics, files } = await compileSet(policies.directory, policies.policy_set);
  if (diagnostics.length > 0) progress(renderDiagnostics([...diagnostics], [...files]).trimEnd());
  if (ir === undefined) progress(`mend the policy set: ${untilMended}`);
}
