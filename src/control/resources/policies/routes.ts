import * as z from "zod";
import { onlyCustomerOf } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { readPage } from "../../platform/frame/list.ts";
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
import { assignmentRoutes } from "./assignment-routes.ts";
import { bulkRoutes } from "./bulk/routes.ts";
import { lockFlagOfNewCustomers } from "./of-new-customers.ts";
import { warningsOfPolicy } from "./provider-warnings.ts";
import {
  deletedPolicy,
  MERGED_OF_POLICY,
  newPolicy,
  policy,
  policyList,
  policyPatch,
  policyPath,
  policyUpdate,
  type PolicyUpdate,
} from "./schemas.ts";
import { changePolicy, createPolicy, deletePolicy } from "./service.ts";
import {
  filterPolicies,
  lockPolicy,
  policiesOf,
  POLICY_COLUMNS,
  POLICY_SORT_COLUMNS,
  requirePolicy,
  type PolicyRow,
} from "./store.ts";

const common = { tag: "Policies", group: "management" } as const;

/** Policies, and their assignment to customers. */
export function policyRoutes(context: ControlContext): Route[] {
  return [...ownRoutes(context), ...assignmentRoutes(context), ...bulkRoutes(context)];
}

function ownRoutes({ db }: ControlContext): Route[] {
  return [
    readRoute({
      ...common,
      method: "get",
      path: "/policies",
      operation: "listPolicies",
      summary: "List policies",
      description: "A key that is limited to a customer sees those that are assigned to it.",
      permission: "read",
      tenancy: "handler",
      query: policyList,
      answers: { 200: z.array(policy) },
      paginated: true,
      read: async ({ query, actor }) => {
        const visible = policiesOf(db, onlyCustomerOf(actor)).select(...POLICY_COLUMNS);
        const { rows, total } = await readPage<PolicyRow>(
          filterPolicies(visible, query),
          query,
          POLICY_SORT_COLUMNS,
        );
        return page(rows, { ...query, total });
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/policies",
      operation: "createPolicy",
      summary: "Create a policy",
      description:
        "Type `authentication`: requirements for each sign-in, refresh and request of a customer's users. Type " +
        "`authorization`: a published policy set that must also permit their requests. If a customer has several policies, " +
        "all must be satisfied.",
      permission: "configure",
      tenancy: "all",
      body: newPolicy,
      answers: { 201: policy },
      etag: true,
      errors: ["POLICY_SET_NOT_ACTIVE"],
      write: async ({ body }, unit) => {
        const row = await createPolicy(unit, body);
        return created(row, { etag: etagOf(row), location: `/v1/policies/${row.id}` });
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/policies/{id}",
      operation: "getPolicy",
      summary: "Read a policy",
      permission: "read",
      tenancy: "handler",
      params: policyPath,
      answers: { 200: policy },
      revalidated: true,
      etag: true,
      errors: ["POLICY_NOT_FOUND"],
      read: async ({ params, actor }) => {
        const row = await requirePolicy(db, params.id, onlyCustomerOf(actor));
        return ok(row, { etag: etagOf(row) });
      },
    }),
    writeRoute({
      ...common,
      method: "put",
      path: "/policies/{id}",
      operation: "updatePolicy",
      summary: "Update a policy",
      description:
        "Only given members change; `conditions` is replaced as a whole. Takes effect for all its customers at once. Warns if it requires something " +
        "that their identity providers do not announce.",
      permission: "configure",
      tenancy: "all",
      params: policyPath,
      body: policyUpdate,
      answers: { 200: policy },
      etag: true,
      warns: true,
      errors: ["POLICY_NOT_FOUND", "POLICY_SET_NOT_ACTIVE"],
      write: (call, unit) => change(call, unit, () => call.body),
    }),
    writeRoute({
      ...common,
      method: "patch",
      path: "/policies/{id}",
      operation: "patchPolicy",
      summary: "Change parts of a policy",
      description: "As PUT, but `conditions` are merged with those it has (RFC 7396): `null` removes one.",
      permission: "configure",
      tenancy: "all",
      params: policyPath,
      body: policyPatch,
      answers: { 200: policy },
      etag: true,
      warns: true,
      errors: ["POLICY_NOT_FOUND", "POLICY_SET_NOT_ACTIVE"],
      write: (call, unit) =>
        change(call, unit, (row) => mergedBody(policyUpdate, row, call.body, MERGED_OF_POLICY)),
    }),
    writeRoute({
      ...common,
      method: "delete",
      path: "/policies/{id}",
      operation: "deletePolicy",
      summary: "Delete a policy",
      description: "Refused while it is assigned to a customer.",
      permission: "configure",
      tenancy: "all",
      params: policyPath,
      answers: { 200: deletedPolicy },
      etag: true,
      errors: ["POLICY_NOT_FOUND", "CONFLICT"],
      write: async ({ params, ...call }, unit) => {
        const row = await lockPolicy(unit.trx, params.id);
        call.ifMatch(etagOf(row));
        await deletePolicy(unit, row);
        return ok({ id: row.id, deleted: true });
      },
    }),
  ];
}

/** @param given - the members that change, of the locked policy */
async function change(
  { params, ...call }: Call<z.output<typeof policyPath>, undefined, object>,
  unit: UnitOfWork,
  given: (row: PolicyRow) => PolicyUpdate,
): Promise<Answer> {
  if ("assign_to_new_customers" in call.body) await lockFlagOfNewCustomers(unit.trx);
  const row = await lockPolicy(unit.trx, params.id);
  call.ifMatch(etagOf(row));
  const after = await changePolicy(unit, row, given(row));
  return ok(after, { etag: etagOf(after), warnings: await warningsOfPolicy(unit.trx, after) });
}
