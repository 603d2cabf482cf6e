import type { GatewayConfig } from "../config/index.ts";
import { renderDiagnostics, type PolicySetIR } from "../policy/index.ts";
import { compileSet } from "./policy-sets.ts";
import { progress } from "./progress.ts";

/**
 * Says at start, on stderr, what is wrong with the policy set, and which of its sections this version compiles but
 * does not enforce.
 */
export async function notEnforcedYet({ policies }: GatewayConfig): Promise<void> {
  const { ir, diagnostics, files } = await compileSet(policies.directory, policies.policy_set);
  if (diagnostics.length > 0) progress(renderDiagnostics([...diagnostics], [...files]).trimEnd());
  if (ir === undefined) progress("the gateway denies everything until the policy set is good");
  else for (const line of describe(ir)) progress(line);
}

function describe(ir: PolicySetIR): string[] {
  const sections = new Set([
    ...ir.responses.map(({ section }) => section),
    ...ir.graphql.rules.map(({ section }) => section),
    ...[...ir.websocket.connections, ...ir.websocket.messages].map(({ section }) => section),
  ]);
  return [...sections].map(
    (section) =>
      `policy set ${ir.name}@${ir.version}: \`${section}\` is checked but NOT ENFORCED by this version`,
  );
}
