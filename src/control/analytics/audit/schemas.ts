import * as z from "zod";
import { listQuery, timestampParameter } from "../../platform/frame/list.ts";
import { timestamp } from "../../platform/frame/schemas.ts";
import { cursorParameter } from "../records/trail.ts";

/** The contents of the trail: decisions of gateways, their outcomes, and changes in the control plane. */
export const KINDS = ["decision", "outcome", "change"] as const;
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
        "`decision`, `outcome`, `change`, or several separated by commas. Default: `decision,change`.",
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

const decision = z.looseObject({
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
});

const outcome = z.looseObject({
  kind: z.literal("outcome"),
  ...common,
  ...provenance,
  event: z.enum(["response", "connection"]),
  decision_id: z.string().meta({ description: "Empty if only `request_id` identifies the decision." }),
  request_id: z.string().optional(),
});

const change = z.object({
  kind: z.literal("change"),
  id: z.string(),
  ...common,
  request_id: z.string(),
  action: z.string(),
  actor: z.object({ kind: z.string(), id: z.string(), name: z.string().optional() }),
  target: z.object({ type: z.string(), id: z.string() }),
  before: z.record(z.string(), z.unknown()).optional(),
  after: z.record(z.string(), z.unknown()).optional(),
  client_ip: z.string(),
});

export const logEntries = z.array(z.discriminatedUnion("kind", [decision, outcome, change]));
