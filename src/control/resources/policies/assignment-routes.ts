import * as z from "zod";
import type { ControlContext } from "../../platform/context.ts";
import { requireCustomer } from "../../tenancy/customers.ts";
import { readPage } from "../../platform/frame/list.ts";
import { ok, page, readRoute, writeRoute, type Route } from "../../platform/frame/route.ts";
import { pathId } from "../../platform/frame/schemas.ts";
import { assignPolicies, ASSIGNED_COLUMNS, unassignPolicy, type AssignedRow } from "./assignments.ts";
import { impactOf } from "./impact.ts";
import { warningsOfCustomer } from "./provider-warnings.ts";
import {
  assignedList,
  assignedPolicy,
  assignee,
  assigneeList,
  assignment,
  assignmentPath,
  policyImpact,
  policyPath,
  unassigned,
} from "./schemas.ts";
import { countAssignees, filterPolicies, policiesOf, POLICY_SORT_COLUMNS, requirePolicy } from "./store.ts";
import { lockCustomerForOperator } from "../../tenancy/operator.ts";

const common = { tag: "Policies", group: "management" } as const;
const ofCustomer = {
  ...common,
  path: "/customers/{id}/policies",
  tenancy: { path: "id" },
  params: z.object({ id: pathId() }),
} as const;

/** Which policies apply to which customers. */
export function assignmentRoutes({ db, clock }: ControlContext): Route[] {
  return [
    readRoute({
      ...ofCustomer,
      method: "get",
      operation: "listCustomerPolicies",
      summary: "List a customer's policies",
      permission: "read",
      query: assignedList,
      answers: { 200: z.array(assignedPolicy) },
      paginated: true,
      errors: ["INVALID_CUSTOMER"],
      read: async ({ params, query, actor }) => {
        await requireCustomer(db, actor, params.id, "path");
        const assigned = policiesOf(db, params.id).select(...ASSIGNED_COLUMNS);
        const { rows, total } = await readPage<AssignedRow>(filterPolicies(assigned, query), query, {
          ...POLICY_SORT_COLUMNS,
          assigned_at: "policy_assignments.assigned_at",
        });
        return page(rows, { ...query, total });
      },
    }),
    writeRoute({
      ...ofCustomer,
      method: "post",
      operation: "assignPolicies",
      summary: "Assign policies to a customer",
      description:
        "Assigns all of them or none; existing assignments stay. Returns all policies of the customer. Keys " +
        "that are limited to the customer are refused. Warns if a policy requires something that the customer's identity provider " +
        "does not announce.",
      permission: "configure",
      body: assignment,
      answers: { 200: z.array(assignedPolicy) },
      warns: true,
      errors: ["INVALID_CUSTOMER", "CUSTOMER_KEY_NOT_ALLOWED", "CONFLICT", "POLICY_SET_NOT_ACTIVE"],
      write: async ({ params, body, actor }, unit) => {
        const customer = await lockCustomerForOperator(unit, actor, params.id);
        const assigned = await assignPolicies(unit, customer, body.policy_ids);
        return ok(assigned, { warnings: await warningsOfCustomer(unit.trx, customer.id, body.policy_ids) });
      },
    }),
    writeRoute({
      ...ofCustomer,
      method: "delete",
      path: "/customers/{id}/policies/{policy_id}",
      operation: "unassignPolicy",
      summary: "Remove a policy from a customer",
      permission: "configure",
      params: assignmentPath,
      answers: { 200: unassigned },
      errors: ["INVALID_CUSTOMER", "CUSTOMER_KEY_NOT_ALLOWED", "POLICY_NOT_FOUND"],
      write: async ({ params, actor }, unit) => {
        const customer = await lockCustomerForOperator(unit, actor, params.id);
        await unassignPolicy(unit, customer, params.policy_id);
        return ok({ customer_id: customer.id, policy_id: params.policy_id, assigned: false });
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/customers/{id}/policies/{policy_id}/impact",
      operation: "previewPolicy",
      summary: "Count the open sessions of a customer that a policy would refuse",
      description:
        "As if the policy were assigned and active now, and no other. The newest 10,000 open sessions are examined. Nothing changes.",
      permission: "read",
      tenancy: "all",
      params: assignmentPath,
      answers: { 200: policyImpact },
      errors: ["INVALID_CUSTOMER", "POLICY_NOT_FOUND"],
      read: async ({ params, actor }) => {
        const customer = await requireCustomer(db, actor, params.id, "path");
        const policy = await requirePolicy(db, params.policy_id, undefined);
        return ok(await impactOf(db, policy, customer.id, new Date(clock())));
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/policies/{id}/customers",
      operation: "listPolicyCustomers",
      summary: "List the customers that a policy is assigned to",
      permission: "read",
      tenancy: "all",
      params: policyPath,
      query: assigneeList,
      answers: { 200: z.array(assignee) },
      paginated: true,
      errors: ["POLICY_NOT_FOUND"],
      read: async ({ params, query }) => {
        await requirePolicy(db, params.id, undefined);
        // a left join, which costs nothing if only ids are read
        const customers = db("policy_assignments")
          .leftJoin("customers", "customers.id", "policy_assignments.customer_id")
          .where("policy_assignments.policy_id", params.id)
          .select("customers.id", "customers.name", "customers.status", "policy_assignments.assigned_at");
        const { rows, total } = await readPage<z.input<typeof assignee>>(
          customers,
          query,
          { id: "policy_assignments.customer_id", assigned_at: "policy_assignments.assigned_at" },
          { total: () => countAssignees(db, params.id) },
        );
        return page(rows, { ...query, total });
      },
    }),
  ];
}
