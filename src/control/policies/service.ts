import { isDeepStrictEqual } from "node:util";
import type { Knex } from "knex";
import { ApiError, validationFailed } from "../errors.ts";
import { parseBody } from "../frame/parse-input.ts";
import { newId } from "../ids.ts";
import type { Unit } from "../unit.ts";
import { conditionsOf, type NewPolicy, type PolicyUpdate } from "./schemas.ts";
import { countAssignees, insertPolicy, updatePolicy, type PolicyFields, type PolicyRow } from "./store.ts";

/** Creates a policy; it holds for nobody yet. @throws ApiError 422 for a policy set that does not exist */
export async function createPolicy(unit: Unit, body: NewPolicy): Promise<PolicyRow> {
  await requirePolicySet(unit.trx, body.conditions);
  const row = await insertPolicy(unit.trx, { ...body, id: newId("policy") }, unit.now);
  unit.record({ ...about("policy.created", row), after: writtenOf(row) });
  return row;
}

/**
 * Changes what is given and is not so already; gateways learn of it for each customer that has the policy.
 *
 * @throws ApiError 422 for another type, and conditions that are none of its type
 */
export async function changePolicy(unit: Unit, row: PolicyRow, given: PolicyUpdate): Promise<PolicyRow> {
  if (given.type !== undefined && given.type !== row.type)
    throw validationFailed([{ path: "type", message: `cannot change: it is \`${row.type}\`` }]);
  const changes = await changesOf(unit.trx, row, given);
  if (Object.keys(changes).length === 0) return row;
  const after = await updatePolicy(unit.trx, row, changes, unit.now);
  unit.record({ ...about("policy.updated", row), before: writtenOf(row), after: writtenOf(after) });
  unit.emit({
    type: "policy.updated",
    data: { policy: told(after), detail: Object.keys(changes).sort().join(", ") },
  });
  if (changes.conditions !== undefined || changes.status !== undefined)
    unit.tellGateways({ type: "policy_changed", policy_id: row.id });
  return after;
}

/** Deletes a policy that holds for nobody. @throws ApiError CONFLICT with the number of customers that it is assigned to */
export async function deletePolicy(unit: Unit, row: PolicyRow): Promise<void> {
  const customers = await countAssignees(unit.trx, row.id);
  if (customers > 0)
    throw new ApiError("CONFLICT", {
      message: `the policy is assigned to ${customers} customer${customers === 1 ? "" : "s"}`,
      details: { policy_id: row.id, customers },
    });
  await unit.trx("policies").where({ id: row.id }).delete();
  unit.record({ ...about("policy.deleted", row), before: writtenOf(row) });
  unit.emit({ type: "policy.updated", data: { policy: told(row), detail: "deleted" } });
}

async function changesOf(
  trx: Knex.Transaction,
  row: PolicyRow,
  given: PolicyUpdate,
): Promise<Partial<PolicyFields>> {
  const { name, description, status } = given;
  const read = given.conditions === undefined ? undefined : readConditions(row, given.conditions);
  if (read !== undefined) await requirePolicySet(trx, read);
  const fields = { name, description, status, conditions: read };
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

/** Sets that were published stay, so what exists now does so later. */
async function requirePolicySet(
  trx: Knex.Transaction,
  conditions: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { policy_set: name } = conditions;
  if (typeof name !== "string") return;
  const row: unknown = await trx("policy_sets").where({ name }).first("name");
  if (row === undefined)
    throw validationFailed([{ path: "conditions.policy_set", message: "is no published policy set" }]);
}

function told({ id, name, type }: PolicyRow) {
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
}: PolicyRow): Readonly<Record<string, unknown>> {
  return { name, description, type, status, conditions };
}
