import { checkSettings } from "./checks/check-settings.ts";
import { client } from "./checks/client.ts";
import { coverage } from "./checks/coverage.ts";
import { plans } from "./checks/plans.ts";
import { surroundings } from "./checks/surroundings.ts";
import { transport } from "./checks/transport.ts";
import type { Facts } from "./facts.ts";
import { onlyAsking } from "./services.ts";
import { ranked, type Finding } from "./finding.ts";

export { applicationClusters, isLocal, serviceClusters } from "./checks/transport.ts";
export { readConfigDump, type Address, type EnvoyView } from "./envoy-view.ts";
export type { Facts, PolicyNeeds } from "./facts.ts";
export { PROBLEMS, SEVERITIES, type Finding, type ProblemCode, type Severity } from "./finding.ts";

const CHECKS: readonly ((facts: Facts) => readonly Finding[])[] = [
  coverage,
  checkSettings,
  plans,
  client,
  transport,
  surroundings,
];

/**
 * Looks for what lets requests get past Gatehouse, or makes what it decides untrue.
 *
 * @returns the findings, the worst first
 */
export function diagnose(facts: Facts): readonly Finding[] {
  const { envoy, authzCluster } = facts;
  const known =
    envoy === undefined || authzCluster === undefined
      ? facts
      : { ...facts, envoy: onlyAsking(envoy, authzCluster) };
  return ranked(CHECKS.flatMap((check) => check(known)));
}
