import { isDeepStrictEqual } from "node:util";
import type { Knex } from "knex";
import { counted } from "../../../text/index.ts";
import { ApiError, validationFailed } from "../../platform/errors.ts";
import { parseBody } from "../../platform/frame/parse-input.ts";
import { newId } from "../../platform/ids.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { lockFlagOfNewCustomers, requireRoomForFlag } from "./of-new-customers.ts";
import { requireActiveSet } from "./required-sets.ts";
import { conditionsOf, type NewPolicy, type PolicyUpdate } from "./schemas.ts";
import { countAssignees, insertPolicy, updatePolicy, type PolicyFields, type PolicyRow } from "./store.ts";

/**
 * Creates a policy, which is not assigned to anybody yet.
 * @throws ApiError 422 for a policy set that is not in force, and for one too many that new customers get
 */
export async function createPolicy(unit: UnitOfWork, body: NewPolicy): Promise<PolicyRow> {
  await requireActiveSet(unit.trx, body.conditions);
  if (body.assign_to_new_customers) {
    await lockFlagOfNewCustomers(unit.trx);
    await requireRoomForFlag(unit.trx);
  }
  const row = await insertPolicy(unit.trx, { ...body, id: newId("policy") }, unit.now);
  unit.record({ ...about("policy.created", row), after: writtenOf(row) });
  return row;
}

/**
 * Applies the given changes, if anything differs; gateways are notified for each customer that has the policy.
 *
 * @throws ApiError 422 for another type, for conditions of another type, and for one too many that new customers get
 */
export async function changePolicy(
  unit: UnitOfWork,
  row: PolicyRow,
  given: PolicyUpdate,
): Promise<PolicyRow> {
  if (given.type !== undefined && given.type !== row.type)
    throw validationFailed([{ path: "type", message: `cannot be changed: it is \`${row.type}\`` }]);
  const changes = await changesOf(unit.trx, row, given);
  if (Object.keys(changes).length === 0) return row;
  if (changes.assign_to_new_customers === true) await requireRoomForFlag(unit.trx);
  const after = await updatePolicy(unit.trx, row, changes, unit.now);
  unit.record({ ...about("policy.updated", row), before: writtenOf(row), after: writtenOf(after) });
  unit.emit({
    type: "policy.updated",
    data: { policy: policyPayload(after), detail: Object.keys(changes).sort().join(", ") },
  });
  if (changes.conditions !== undefined || changes.status !== undefined)
    unit.notifyGateways({ type: "policy_changed", policy_id: row.id });
  return after;
}

/**
 * Deletes a policy that is not assigned. @throws ApiError CONFLICT with the number of customers that it is assigned to
 */
export async function deletePolicy(unit: UnitOfWork, row: PolicyRow): Promise<void> {
  const customers = await countAssignees(unit.trx, row.id);
  if (customers > 0)
    throw new ApiError("CONFLICT", {
      message: `the policy is assigned to ${counted(customers, "customer")}`,
      details: { policy_id: row.id, customers },
    });
  await unit.trx("policies").where({ id: row.id }).delete();
  unit.record({ ...about("policy.deleted", row), before: writtenOf(row) });
  unit.emit({ type: "policy.updated", data: { policy: policyPayload(row), detail: "deleted" } });
}

async function changesOf(
  trx: Knex.Transaction,
  row: PolicyRow,
  given: PolicyUpdate,
): Promise<Partial<PolicyFields>> {
  const { name, description, status, assign_to_new_customers } = given;
  const read = given.conditions === undefined ? undefined : readConditions(row, given.conditions);
  // a policy that becomes inactive may name any set
  if (read !== undefined || (status === "active" && row.status !== "active"))
    await requireActiveSet(trx, read ?? row.conditions);
  const fields = { name, description, status, conditions: read, assign_to_new_customers };
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([key, value]) => value !== undefined && !isDeepStrictEqual(value, row[key as keyof PolicyFields]),
    ),
  );
}

function readConditions({ type }: PolicyRow, conditions: unknown): PolicyRow["conditions"] {
  const parsed = parseBody(conditionsOf[type], { conditions }) as Pick<PolicyRow, "conditions">;
  return parsed.conditions;
}

function policyPayload({ id, name, type }: PolicyRow) {
  return { id, name, type };
}

function about(action: string, { id }: PolicyRow) {
  return { action, target: { type: "policy", id } };
}

function writtenOf({
  name,
  description,
  type,
  status,
  conditions,
  assign_to_new_customers,
}: PolicyRow): Readonly<Record<string, unknown>> {
  return { name, description, type, status, conditions, assign_to_new_customers };
}
