import * as z from "zod";
import { listQuery } from "../../platform/frame/list.ts";
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

const status = z
  .enum(POLICY_STATUSES)
  .meta({ description: "An inactive policy stays assigned but is not enforced." });
const fields = { name: nameText(), description: longText() };
const ofNew = {
  name: fields.name,
  description: fields.description.default(""),
  status: status.default("active"),
};

/** The body of POST /policies (specification 2.4). */
export const newPolicy = z.discriminatedUnion("type", [
  z.strictObject({ ...ofNew, type: z.literal("authentication"), conditions: authenticationConditions }),
  z.strictObject({ ...ofNew, type: z.literal("authorization"), conditions: authorizationConditions }),
]);
export type NewPolicy = z.output<typeof newPolicy>;

/** The body of PUT /policies/{id}; its conditions are validated by {@link conditionsOf} the policy's type. */
export const policyUpdate = someOf({
  ...fields,
  status,
  type: z.enum(POLICY_TYPES).meta({ description: "Cannot change." }),
  conditions: z.looseObject({}).meta({
    description: "Replaced as a whole; must match the policy's type, see the body of POST /policies.",
  }),
});
export type PolicyUpdate = z.output<typeof policyUpdate>;

/** The schema of a type's conditions, for their place in a body. */
export const conditionsOf = {
  authentication: z.object({ conditions: authenticationConditions }),
  authorization: z.object({ conditions: authorizationConditions }),
} as const;

/** A policy as returned by the API. */
export const policy = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  type: z.enum(POLICY_TYPES),
  status: z.enum(POLICY_STATUSES),
  conditions: z.record(z.string(), z.unknown()),
  created_at: timestamp(),
  updated_at: timestamp(),
});

/** A policy of a customer. */
export const assignedPolicy = policy.extend({ assigned_at: timestamp() });

export const deletedPolicy = z.object({ id: z.string(), deleted: z.literal(true) });
export const unassigned = z.object({
  customer_id: z.string(),
  policy_id: z.string(),
  assigned: z.literal(false),
});

/** The body of POST /customers/{id}/policies. */
export const assignment = z.strictObject({
  policy_ids: z
    .array(idOf("policy"))
    .min(1)
    .max(100)
    .refine((ids) => new Set(ids).size === ids.length, "must not repeat an entry"),
});

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

/** A customer that a policy is assigned to. */
export const assignee = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  assigned_at: timestamp(),
});
