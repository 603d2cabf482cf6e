import { createDecisionIds } from "../../audit/index.ts";
import type { AuditRecord } from "../../protocol/record.ts";
import { traceIdOf } from "../../telemetry/tracing.ts";
import { redactTarget } from "../../text/index.ts";
import { detailOf } from "../explain/detail-of.ts";
import { explainDecision } from "../explain/explain.ts";
import { recordInputs, type InputProtection } from "../inputs/index.ts";
import type { AccessRequest, Decision } from "../types.ts";
import { unknownReads } from "../explain/unknown-reads.ts";
import { decidingRule, type DecidingRule } from "../decide/deciding-rule.ts";

/** What a record contains besides the decision. `access` is absent if the check could not be decoded. */
export interface RecordContext {
  readonly access: AccessRequest | undefined;
  /** Unix ms. */
  readonly at: number;
  /** Present if the decision already has an id, because something refers to it. */
  readonly decisionId?: string;
}

/** Creates the ids of this process's decisions. */
export const nextDecisionId = createDecisionIds();

/**
 * Builds the audit record of a final decision (the fields of specification 2.8 and our own). Called when the record is
 * written.
 */
export function auditRecord(
  decision: Decision,
  context: RecordContext,
  elapsedMs: number,
  trace: boolean,
  protection?: InputProtection,
): AuditRecord {
  const { access } = context;
  const { snapshot, request, identity } = decision;
  const rule = decidingRule(decision);
  const rawPath = access === undefined ? "" : redactTarget(access.raw.target);
  const traceId = access?.traceparent === undefined ? undefined : traceIdOf(access.traceparent);
  const customer = identity?.customer?.["id"];
  const unknown = unknownReads(decision);
  const detail = detailOf(decision);
  const inputs = protection && recordInputs(decision, protection);
  const explanation = trace ? explainDecision(decision) : undefined;
  return {
    timestamp: new Date(context.at).toISOString(),
    request_id: access?.requestId ?? "",
    user_id: identity?.userId ?? "",
    resource: request?.path ?? pathOf(rawPath),
    action: access?.raw.method ?? "",
    decision: decision.verdict,
    policy_set: snapshot?.label ?? "",
    evaluation_time_ms: Math.floor(elapsedMs),
    client_ip: decision.clientIp,
    decision_id: context.decisionId ?? nextDecisionId(),
    reason: decision.reason,
    rule: rule?.id ?? null,
    ...(rule?.name !== undefined && { rule_name: rule.name }),
    ...(rule !== undefined && { rule_resource: resourceOf(rule) }),
    policy_digest: snapshot?.digest ?? "",
    ...(decision.arm !== undefined && { rollout_arm: decision.arm.name }),
    ...(typeof customer === "string" && { customer_id: customer }),
    ...(decision.customerPolicySet !== undefined && { customer_policy_set: decision.customerPolicySet }),
    host: request === undefined || request.host === "" ? (access?.raw.host ?? "") : request.host,
    raw_path: rawPath,
    evaluation_time_us: Math.round(elapsedMs * 1000),
    ...(traceId !== undefined && { trace_id: traceId }),
    ...(detail !== undefined && { detail }),
    ...(unknown.length > 0 && { unknown }),
    ...(decision.accepted.length > 0 && { accepted_ambiguities: decision.accepted }),
    ...(inputs !== undefined && { inputs }),
    ...(explanation !== undefined && { trace: explanation }),
  };
}

/** The resource of a rule, as its author wrote it. */
function resourceOf(rule: DecidingRule): string {
  if (rule.section === "graphql_policies")
    return `${rule.operation} ${rule.type === undefined ? "" : `${rule.type}.`}${rule.field}`;
  return rule.section === "policies" ? `${rule.method} ${rule.pattern}` : rule.pattern;
}

function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}
