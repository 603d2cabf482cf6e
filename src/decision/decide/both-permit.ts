import type { PlanIR, PlannedMessage } from "../../policy/index.ts";
import type { Decision, Permit } from "../types.ts";
import { requiresAudit } from "./evaluation-context.ts";
import { joinPlans } from "./join-plans.ts";

/**
 * Joins two permits for one request, by two sets of rules or for two readings.
 *
 * @returns `undefined` if the two plans cannot be carried out together
 */
export function bothPermit(decision: Permit, second: Permit): Permit | undefined {
  const read = new Set([...(decision.alsoRead ?? []), ...(second.alsoRead ?? [])]);
  const both = {
    ...decision,
    ...(requiresAudit(second) && { auditRequired: true as const }),
    ...(read.size > 0 && { alsoRead: [...read] }),
    ...((decision.gatewayPlan !== undefined || second.gatewayPlan !== undefined) && {
      gatewayPlan: joinPlans(gatewayPlanOf(decision), gatewayPlanOf(second)) ?? null,
    }),
  };
  const plan = joinPlans(decision.plan, second.plan);
  if (plan === undefined) return decision.plan === undefined ? both : undefined;
  return { ...both, plan };
}

/** @returns the permit of a customer's own set, whose rules for messages say whose they are: each set has a `websocket_policies[0]` */
export function ofCustomersSet(permit: Permit, set: string): Permit {
  const { websocket } = permit.plan ?? {};
  if (permit.plan === undefined || websocket === undefined) return permit;
  const { send, receive, graphql } = websocket;
  return {
    ...permit,
    plan: {
      ...permit.plan,
      websocket: {
        ...websocket,
        ...(send && { send: messagesOf(send, set) }),
        ...(receive && { receive: messagesOf(receive, set) }),
        ...(graphql && { graphql: { ...graphql, rules: graphql.rules.map((rule) => named(rule, set)) } }),
      },
    },
  };
}

function messagesOf(messages: Readonly<Record<string, PlannedMessage>>, set: string) {
  return Object.fromEntries(Object.entries(messages).map(([type, message]) => [type, named(message, set)]));
}

/** By the name of the set, without its version: connections whose plan says the same go on with the next one. */
function named<Rule extends { readonly rule: string }>(rule: Rule, set: string): Rule {
  return { ...rule, rule: `${set}: ${rule.rule}` };
}

/** @returns the plan by the gateway's own set alone, whatever the customer's own sets add to it */
export function gatewayPlanOf({ plan, gatewayPlan }: Decision): PlanIR | undefined {
  return gatewayPlan === undefined ? plan : (gatewayPlan ?? undefined);
}
