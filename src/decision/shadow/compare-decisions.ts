import type { PlanIR } from "../../policy/index.ts";
import type { ShadowRecord } from "../../protocol/index.ts";
import { decidingRule } from "../decide/deciding-rule.ts";
import type { Decision } from "../types.ts";
import type { ShadowCandidate, ShadowTask } from "./shadow-messages.ts";

/** @returns the record of what the candidate would do differently; `undefined` if it does the same */
export function compareDecisions(
  { access, stable }: ShadowTask,
  decision: Decision,
  candidate: ShadowCandidate,
): ShadowRecord | undefined {
  const difference = differenceOf(stable, decision);
  if (difference === undefined) return undefined;
  const { request, identity, detail } = decision;
  const customer = identity?.customer?.["id"];
  return {
    timestamp: new Date(access.receivedAt).toISOString(),
    event: "shadow_decision",
    request_id: access.requestId,
    user_id: identity?.userId ?? "",
    ...(typeof customer === "string" && { customer_id: customer }),
    resource: request?.path ?? "",
    action: access.raw.method,
    difference,
    policy_set: stable.label,
    policy_digest: stable.digest,
    decision: stable.verdict,
    reason: stable.reason,
    rule: stable.rule,
    candidate_policy_set: candidate.label,
    candidate_digest: candidate.digest,
    candidate_decision: decision.verdict,
    candidate_reason: decision.reason,
    candidate_rule: decidingRule(decision)?.id ?? null,
    ...(detail !== undefined && { candidate_detail: detail }),
  };
}

function differenceOf(
  stable: ShadowTask["stable"],
  decision: Decision,
): ShadowRecord["difference"] | undefined {
  if (stable.verdict !== decision.verdict) return decision.verdict === "DENY" ? "denies" : "allows";
  // what the customer's own sets mask at a GraphQL endpoint is in the plans of all sets for operations there
  if (stable.isJoined && [stable.plan, decision.plan].some(isOfOperations)) return undefined;
  return effectOf(stable.plan) === effectOf(decision.plan) ? undefined : "plan";
}

function isOfOperations(plan: PlanIR | undefined): boolean {
  return plan?.response?.graphql === true || plan?.websocket?.graphql !== undefined;
}

/** Two plans with the same text have the same effect; the ids of rules have none. */
function effectOf(plan: PlanIR | undefined): string {
  if (plan === undefined) return "";
  return JSON.stringify(plan, (name, value: unknown) => (name === "rule" ? undefined : value));
}
