import * as z from "zod";
import { listQuery, timestampParameter } from "../../platform/frame/list.ts";
import { actorReference, timestamp } from "../../platform/frame/schemas.ts";
import { cursorParameter } from "../records/trail.ts";

/**
 * The contents of the trail: decisions of gateways, their outcomes, changes in the control plane, what candidates would have
 * decided differently in shadow, how rollouts took effect at gateways, and calls to the API that were refused because of who called.
 */
export const KINDS = ["decision", "outcome", "change", "shadow", "rollout", "refused_call"] as const;
export type Kind = (typeof KINDS)[number];

const text = (max: number) => z.string().min(1).max(max);

export const logsQuery = listQuery(["timestamp"], {
  from: timestampParameter().optional(),
  to: timestampParameter().optional(),
  kind: z
    .string()
    .transform((list, context) => {
      const kinds = list.split(",");
      if (kinds.every((kind): kind is Kind => (KINDS as readonly string[]).includes(kind))) return kinds;
      context.addIssue(`must be one or more of ${KINDS.join(", ")}, separated by commas`);
      return z.NEVER;
    })
    .optional()
    .meta({
      type: "string",
      description:
        "`decision`, `outcome`, `change`, `shadow`, `rollout`, `refused_call`, or several separated by commas. Default: `decision,change`.",
    }),
  customer_id: text(512).optional(),
  user_id: text(512).optional(),
  decision: z.enum(["ALLOW", "DENY"]).optional(),
  reason: text(64).optional(),
  resource: text(2048).optional().meta({
    description: "The path of a decision, or `type/id` of a change; a trailing `*` matches any rest.",
  }),
  action: text(256).optional(),
  rule: text(512).optional(),
  policy_set: text(512).optional(),
  request_id: text(512).optional(),
  decision_id: text(64).optional(),
  ingested_by: text(64).optional().meta({ description: "The API key that sent the record." }),
  gateway: text(128).optional().meta({ description: "The gateway's name for itself." }),
  inputs: z.literal("true").optional().meta({
    description:
      "Adds to decisions what the rules read, where the gateway sent it (`audit.inputs`) and `retention.inputs` has not passed. Not for keys that are limited to a customer, because rules may read attributes of others.",
  }),
  cursor: cursorParameter().optional(),
  format: z.enum(["json", "ndjson"]).optional(),
});
export type LogsQuery = z.output<typeof logsQuery>;

const common = {
  timestamp: timestamp(),
  customer_id: z.string().optional(),
  user_id: z.string(),
};

const provenance = {
  ingested_by: z.string().optional().meta({ description: "The API key that sent the record." }),
  gateway: z.string().optional().meta({ description: "The gateway's name for itself." }),
  received_at: timestamp().optional(),
};

const decision = z
  .looseObject({
    kind: z.literal("decision"),
    ...common,
    ...provenance,
    decision_id: z.string(),
    request_id: z.string(),
    resource: z.string(),
    action: z.string(),
    decision: z.enum(["ALLOW", "DENY"]),
    reason: z.string(),
    rule: z.string().nullable(),
    policy_set: z.string(),
    client_ip: z.string(),
    evaluation_time_us: z.int().nonnegative(),
  })
  .meta({ id: "DecisionRecord" });

const outcome = z
  .looseObject({
    kind: z.literal("outcome"),
    ...common,
    ...provenance,
    event: z.enum(["response", "connection"]),
    decision_id: z.string().meta({ description: "Empty if only `request_id` identifies the decision." }),
    request_id: z.string().optional(),
  })
  .meta({ id: "OutcomeRecord" });

const shadow = z
  .looseObject({
    kind: z.literal("shadow"),
    id: z.string(),
    ...common,
    ...provenance,
    request_id: z.string(),
    resource: z.string(),
    action: z.string(),
    difference: z.enum(["denies", "allows", "plan"]).meta({ description: "What the candidate would do." }),
    rule: z.string().nullable(),
    policy_set: z.string(),
    candidate_decision: z.enum(["ALLOW", "DENY"]),
  })
  .meta({ id: "ShadowRecord" });

const rollout = z
  .looseObject({
    kind: z.literal("rollout"),
    decision_id: z.string(),
    timestamp: timestamp(),
    ...provenance,
    change: z.string(),
    policy_set: z.string(),
  })
  .meta({ id: "RolloutRecord" });

const change = z
  .object({
    kind: z.literal("change"),
    id: z.string(),
    ...common,
    request_id: z.string(),
    action: z.string(),
    actor: actorReference,
    target: z.object({ type: z.string(), id: z.string() }),
    before: z.record(z.string(), z.unknown()).optional(),
    after: z.record(z.string(), z.unknown()).optional(),
    client_ip: z.string(),
  })
  .meta({ id: "ChangeRecord" });

const refusedCall = z
  .object({
    kind: z.literal("refused_call"),
    id: z.string(),
    ...common,
    request_id: z.string(),
    actor: z
      .object({ kind: z.string(), id: z.string() })
      .meta({ description: "`id` is empty if it is not known who called." }),
    operation: z.string().meta({ description: "As in this document; `oauth` or `other` outside of it." }),
    method: z.string(),
    path: z
      .string()
      .meta({ description: "With those parameters that are ids; empty outside of this document." }),
    status: z.int(),
    code: z.string(),
    client_ip: z.string(),
    calls: z.int().optional().meta({
      description:
        "Number of refused calls that the record stands for, if the caller had too many for a record each; the last of them is described.",
    }),
  })
  .meta({ id: "RefusedCallRecord" });

const auditRecord = z
  .discriminatedUnion("kind", [decision, outcome, change, shadow, rollout, refusedCall])
  .meta({ id: "AuditRecord" });

export const logEntries = z.array(auditRecord);
