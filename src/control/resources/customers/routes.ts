import { onlyCustomerOf } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { mergedBody } from "../../platform/frame/merge-patch.ts";
import {
  created,
  etagOf,
  ok,
  page,
  readRoute,
  writeRoute,
  type Answer,
  type Call,
  type Route,
} from "../../platform/frame/route.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { warning } from "../../platform/warnings.ts";
import { assignPolicies } from "../policies/assignments.ts";
import { lockPoliciesOfNewCustomers } from "../policies/of-new-customers.ts";
import { idpRoutes } from "./idp-routes.ts";
import { listCustomers } from "./list.ts";
import {
  customer,
  customerList,
  customerPatch,
  customerPath,
  customerUpdate,
  deletedCustomer,
  MERGED_OF_CUSTOMER,
  newCustomer,
  type CustomerUpdate,
} from "./schemas.ts";
import { changeCustomer, createCustomer, deleteCustomer, requireOperatorForClaims } from "./service.ts";
import { lockCustomer, requireCustomer, type CustomerRow } from "../../tenancy/customers.ts";
import * as z from "zod";
import { requireOperator } from "../../platform/require-operator.ts";
import { lockCustomerForOperator } from "../../tenancy/operator.ts";

const common = { tag: "Customers", group: "management" } as const;

/** Customers and their identity providers. */
export function customerRoutes(context: ControlContext): Route[] {
  return [...ownRoutes(context), ...idpRoutes(context)];
}

function ownRoutes({ db }: ControlContext): Route[] {
  return [
    readRoute({
      ...common,
      method: "get",
      path: "/customers",
      operation: "listCustomers",
      summary: "List customers",
      permission: "read",
      tenancy: "handler",
      query: customerList,
      answers: { 200: z.array(customer) },
      paginated: true,
      read: async ({ query, actor }) => {
        const { rows, total } = await listCustomers(db, query, onlyCustomerOf(actor));
        return page(rows, { ...query, total });
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/customers",
      operation: "createCustomer",
      summary: "Create a customer",
      description:
        "Policies in `policy_ids` are assigned to it: all of them, or no customer is created. So are those with `assign_to_new_customers`; " +
        "one that cannot be assigned is named in a warning.",
      permission: "configure",
      tenancy: "all",
      body: newCustomer,
      answers: { 201: customer },
      etag: true,
      warns: true,
      errors: ["DUPLICATE", "CONFLICT", "POLICY_SET_NOT_ACTIVE"],
      write: async ({ body: { policy_ids: chosen, ...fields } }, unit) => {
        const ofNew = await lockPoliciesOfNewCustomers(unit.trx);
        const omitted = ofNew.omitted.filter((id) => !chosen.includes(id));
        const row = await createCustomer(unit, fields, omitted);
        if (chosen.length > 0 || ofNew.assigned.length > 0)
          await assignPolicies(unit, row, chosen, ofNew.assigned);
        return created(row, {
          ...{ etag: etagOf(row), location: `/v1/customers/${row.id}` },
          warnings: omitted.map((policy_id) => warning("POLICY_NOT_ASSIGNED", { policy_id })),
        });
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/customers/{id}",
      operation: "getCustomer",
      summary: "Read a customer",
      permission: "read",
      tenancy: { path: "id" },
      params: customerPath,
      answers: { 200: customer },
      revalidated: true,
      etag: true,
      errors: ["INVALID_CUSTOMER"],
      read: async ({ params, actor }) => {
        const row = await requireCustomer(db, actor, params.id, "path");
        return ok(row, { etag: etagOf(row) });
      },
    }),
    writeRoute({
      ...common,
      method: "put",
      path: "/customers/{id}",
      operation: "updateCustomer",
      summary: "Update a customer",
      description:
        "Only given members change; lists, `metadata` and `role_mapping` are replaced as a whole. The status can change from `active` to " +
        "`suspended` and back, from both to `archived`, and from `archived` to `active`. Users of a customer that is " +
        "not active lose their sessions and cannot sign in. A key that is limited to the customer cannot change the " +
        "status or `external_id`, and must not send `allowed_roles`, `allowed_permissions`, `allowed_groups`, " +
        "`allowed_claims` or `role_mapping`: the platform decides which claims of its identity provider count. Existing tokens " +
        "keep their claims until they expire; new ones follow the change at once.",
      permission: "configure",
      tenancy: { path: "id" },
      params: customerPath,
      body: customerUpdate,
      answers: { 200: customer },
      etag: true,
      errors: ["INVALID_CUSTOMER", "CUSTOMER_KEY_NOT_ALLOWED", "INVALID_TRANSITION", "DUPLICATE"],
      write: (call, unit) => change(call, unit, () => call.body),
    }),
    writeRoute({
      ...common,
      method: "patch",
      path: "/customers/{id}",
      operation: "patchCustomer",
      summary: "Change parts of a customer",
      description:
        "As PUT, but `metadata` and `role_mapping` are merged with what they hold (RFC 7396): `null` removes a member.",
      permission: "configure",
      tenancy: { path: "id" },
      params: customerPath,
      body: customerPatch,
      answers: { 200: customer },
      etag: true,
      errors: ["INVALID_CUSTOMER", "CUSTOMER_KEY_NOT_ALLOWED", "INVALID_TRANSITION", "DUPLICATE"],
      write: (call, unit) =>
        change(call, unit, (row) => mergedBody(customerUpdate, row, call.body, MERGED_OF_CUSTOMER)),
    }),
    writeRoute({
      ...common,
      method: "delete",
      path: "/customers/{id}",
      operation: "deleteCustomer",
      summary: "Delete a customer",
      description:
        "The customer is no longer found, its users lose their sessions, its identity provider and policy " +
        "assignments are deleted, its webhooks are disabled, and its API keys are revoked. Its users are erased. The audit trail keeps decisions and changes, without the users' names. Announced as `customer.updated` with the status `deleted`.",
      permission: "configure",
      tenancy: { path: "id" },
      params: customerPath,
      answers: { 200: deletedCustomer },
      etag: true,
      errors: ["INVALID_CUSTOMER", "CUSTOMER_KEY_NOT_ALLOWED"],
      write: async ({ params, actor, ...call }, unit) => {
        const row = await lockCustomerForOperator(unit, actor, params.id);
        call.ifMatch(etagOf(row));
        await deleteCustomer(unit, row);
        return ok({ id: row.id, deleted: true });
      },
    }),
  ];
}

/** @param given - the members that change, of the locked customer */
async function change(
  { params, actor, ...call }: Call<z.output<typeof customerPath>, undefined, object>,
  unit: UnitOfWork,
  given: (row: CustomerRow) => CustomerUpdate,
): Promise<Answer> {
  const row = await lockCustomer(unit.trx, actor, params.id);
  call.ifMatch(etagOf(row));
  // first, because an invalid member of somebody who must not send it is still not theirs to send
  requireOperatorForClaims(actor, call.body);
  const body = given(row);
  // external ids are unique, so a key that could try them would learn about other customers
  const { status = row.status, external_id = row.external_id } = body;
  if (status !== row.status || external_id !== row.external_id) requireOperator(actor);
  const after = await changeCustomer(unit, row, body);
  return ok(after, { etag: etagOf(after) });
}
