import * as z from "zod";
import type { Violation } from "../../../customer-state/index.ts";
import { listQuery } from "../../platform/frame/list.ts";
import { mergedMember } from "../../platform/frame/merge-patch.ts";
import {
  idOf,
  longText,
  nameText,
  pathId,
  someOf,
  timestamp,
  nameFilter,
} from "../../platform/frame/schemas.ts";
import { authenticationConditions, authorizationConditions } from "./conditions.ts";
import { POLICY_STATUSES, POLICY_TYPES } from "./store.ts";

export const policyPath = z.object({ id: pathId() });
export const assignmentPath = z.object({ id: pathId(), policy_id: pathId() });

export const VIOLATIONS = [
  "MFA_REQUIRED",
  "SESSION_TOO_OLD",
  "EMAIL_DOMAIN_NOT_ALLOWED",
  "CLIENT_ADDRESS_NOT_ALLOWED",
] as const satisfies readonly Violation[];

const status = z
  .enum(POLICY_STATUSES)
  .meta({ description: "An inactive policy stays assigned but is not enforced." });
const assignToNew = z.boolean().meta({
  description:
    "Whether it is assigned to each customer that is created from now on; at most 20 policies are.",
});
const fields = { name: nameText(), description: longText(), assign_to_new_customers: assignToNew };
const ofNew = {
  name: fields.name,
  description: fields.description.default(""),
  status: status.default("active"),
  assign_to_new_customers: fields.assign_to_new_customers.default(false),
};

/** The body of POST /policies (specification 2.4). */
export const newPolicy = z
  .discriminatedUnion("type", [
    z
      .strictObject({ ...ofNew, type: z.literal("authentication"), conditions: authenticationConditions })
      .meta({ id: "NewAuthenticationPolicy" }),
    z
      .strictObject({ ...ofNew, type: z.literal("authorization"), conditions: authorizationConditions })
      .meta({ id: "NewAuthorizationPolicy" }),
  ])
  .meta({ id: "NewPolicy" });
export type NewPolicy = z.output<typeof newPolicy>;

/** The body of PUT /policies/{id}; its conditions are validated by {@link conditionsOf} the policy's type. */
export const policyUpdate = someOf({
  ...fields,
  status,
  type: z.enum(POLICY_TYPES).meta({ description: "Cannot change." }),
  conditions: z.looseObject({}).meta({
    description: "Replaced as a whole; must match the policy's type, see the body of POST /policies.",
  }),
}).meta({ id: "PolicyUpdate" });
export type PolicyUpdate = z.output<typeof policyUpdate>;

/** The body of PATCH /policies/{id}. */
export const policyPatch = someOf({
  ...fields,
  status,
  type: z.enum(POLICY_TYPES).meta({ description: "Cannot change." }),
  conditions: mergedMember(),
}).meta({ id: "PolicyPatch" });
export const MERGED_OF_POLICY = ["conditions"] as const;

/** The schema of a type's conditions, for their place in a body. */
export const conditionsOf = {
  authentication: z.object({ conditions: authenticationConditions }),
  authorization: z.object({ conditions: authorizationConditions }),
} as const;

/** A policy as returned by the API. */
export const policy = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    type: z.enum(POLICY_TYPES),
    status: z.enum(POLICY_STATUSES),
    conditions: z.record(z.string(), z.unknown()),
    assign_to_new_customers: z.boolean(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: "Policy" });

/** A policy of a customer. */
export const assignedPolicy = policy.extend({ assigned_at: timestamp() }).meta({ id: "AssignedPolicy" });

export const deletedPolicy = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: "DeletedPolicy" });
export const unassigned = z
  .object({
    customer_id: z.string(),
    policy_id: z.string(),
    assigned: z.literal(false),
  })
  .meta({ id: "PolicyUnassignment" });

/** A list of policies, each once. */
export function policyIds(least: number) {
  return z
    .array(idOf("policy"))
    .min(least)
    .max(100)
    .refine((ids) => new Set(ids).size === ids.length, "must not repeat an entry");
}

/** The body of POST /customers/{id}/policies. */
export const assignment = z
  .strictObject({
    policy_ids: policyIds(1),
  })
  .meta({ id: "PolicyAssignment" });

const filters = {
  type: z.enum(POLICY_TYPES).optional(),
  status: z.enum(POLICY_STATUSES).optional(),
  name: nameFilter(),
};

export const policyList = listQuery(["created_at", "updated_at", "name"], filters);
export type PolicyList = z.output<typeof policyList>;
export const assignedList = listQuery(["assigned_at", "created_at", "updated_at", "name"], filters);
export type AssignedList = z.output<typeof assignedList>;
export const assigneeList = listQuery(["assigned_at"], {});
export type AssigneeList = z.output<typeof assigneeList>;

/** What a policy would do to a customer's open sessions. */
export const policyImpact = z
  .object({
    sessions: z.int().describe("open sessions that were examined, newest first"),
    complete: z.boolean().describe("false if the customer has more open sessions"),
    refused: z
      .int()
      .nullable()
      .describe(
        "sessions whose requests gateways would refuse; null for an authorization policy, whose set decides on each request",
      ),
    users: z.int().describe("users of the refused sessions"),
    requirements: z.array(z.object({ requirement: z.enum(VIOLATIONS), sessions: z.int() })),
    examples: z
      .array(
        z.object({
          session_id: z.string(),
          user_id: z.string(),
          email: z.string().nullable(),
          requirement: z.enum(VIOLATIONS),
        }),
      )
      .describe("the newest refused sessions"),
  })
  .meta({ id: "PolicyImpact" });

/** A customer that a policy is assigned to. */
export const assignee = z
  .object({
    id: z.string(),
    name: z.string(),
    status: z.string(),
    assigned_at: timestamp(),
  })
  .meta({ id: "PolicyAssignee" });
