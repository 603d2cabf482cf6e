import { isDeepStrictEqual } from "node:util";
import { inBackticks } from "../../../text/index.ts";
import type { Actor } from "../../platform/actor.ts";
import { endClientTokens } from "../clients/store.ts";
import { requestErasure } from "../erasure/store.ts";
import { ApiError } from "../../platform/errors.ts";
import { announceUpdate, customerPayload } from "../../tenancy/announce-update.ts";
import { requireOperator } from "../../platform/require-operator.ts";
import { newId } from "../../platform/ids.ts";
import { endSessionsOfCustomer, type EndReason } from "../sessions/end.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { revokeApiKeysOf } from "../api-keys/store.ts";
import { disableWebhooksOf } from "../webhooks/service.ts";
import {
  CLAIM_RULES,
  type CustomerFields,
  type CustomerRow,
  type CustomerStatus,
  type NewCustomerFields,
} from "../../tenancy/customers.ts";
import { insertCustomer, updateCustomer } from "./store.ts";

/** The allowed changes of a customer's status. */
const TRANSITIONS = {
  active: ["suspended", "archived"],
  suspended: ["active", "archived"],
  archived: ["active"],
} as const satisfies Record<CustomerStatus, readonly CustomerStatus[]>;

/** Why sessions end with a status. */
const ENDS_SESSIONS = {
  suspended: "customer_suspended",
  archived: "customer_archived",
} as const satisfies Partial<Record<CustomerStatus, EndReason>>;

/**
 * Creates a customer, announces it, and notifies gateways if it starts suspended.
 *
 * @param omitted - policies of new customers that cannot be assigned, for the record
 */
export async function createCustomer(
  unit: UnitOfWork,
  fields: NewCustomerFields,
  omitted: readonly string[] = [],
): Promise<CustomerRow> {
  const row = await insertCustomer(unit.trx, newId("customer"), fields, unit.now);
  const after = { ...writtenOf(row), ...(omitted.length > 0 && { policies_not_assigned: omitted }) };
  unit.record({ ...about("customer.created", row), after });
  unit.emit({ type: "customer.created", customerId: row.id, data: { customer: customerPayload(row) } });
  if (row.status !== "active") unit.notifyGateways({ type: "customer_changed", customer_id: row.id });
  return row;
}

/**
 * Applies the given changes, if anything differs. If the customer is no longer active, its sessions end, and so do the
 * tokens of its machine clients.
 *
 * @throws ApiError INVALID_TRANSITION, DUPLICATE
 */
export async function changeCustomer(
  unit: UnitOfWork,
  row: CustomerRow,
  given: { readonly [Name in keyof CustomerFields]?: CustomerFields[Name] | undefined },
): Promise<CustomerRow> {
  const changes = Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => value !== undefined && !isDeepStrictEqual(value, row[name as keyof CustomerFields]),
    ),
  ) as Partial<CustomerFields>;
  if (Object.keys(changes).length === 0) return row;
  if (changes.status !== undefined) requireTransition(row.status, changes.status);
  const after = await updateCustomer(unit.trx, row, changes, unit.now);
  unit.record({ ...about("customer.updated", row), before: writtenOf(row), after: writtenOf(after) });
  announceUpdate(unit, after, Object.keys(changes).sort().join(", "));
  if (changes.status !== undefined) await enterStatus(unit, after);
  return after;
}

/**
 * Deletes a customer: it is no longer visible, its provider's secret is removed, its sessions end, its users are
 * erased, and its webhooks get no more events.
 */
export async function deleteCustomer(unit: UnitOfWork, row: CustomerRow): Promise<void> {
  const { trx } = unit;
  await trx("policy_assignments").where({ customer_id: row.id }).delete();
  await trx("customer_idps").where({ customer_id: row.id }).delete();
  await updateCustomer(trx, row, { deleted_at: unit.now }, unit.now);
  unit.record({ ...about("customer.deleted", row), before: writtenOf(row) });
  await disableWebhooksOf(unit, row.id);
  await revokeApiKeysOf(unit, row.id);
  unit.emit({
    type: "customer.updated",
    customerId: row.id,
    data: { customer: { ...customerPayload(row), status: "deleted" }, detail: "deleted" },
  });
  await requestErasure(unit, { kind: "customer", id: row.id, customerId: row.id });
  await endSessionsOfCustomer(unit, row.id, "customer_deleted");
  unit.notifyGateways({ type: "customer_changed", customer_id: row.id });
}

/**
 * Only those who run the platform may decide which claims of a customer's identity provider are accepted: otherwise a
 * customer's own key could make its users administrators.
 *
 * @throws ApiError CUSTOMER_KEY_NOT_ALLOWED if a key of the customer sends any of these members, even unchanged
 */
export function requireOperatorForClaims(actor: Actor, given: object): void {
  const fields = CLAIM_RULES.filter((name) => Object.hasOwn(given, name));
  if (fields.length === 0) return;
  const message =
    "which claims of the customer's identity provider count can only be set by keys that are not limited to one customer: " +
    inBackticks(fields);
  requireOperator(actor, { message, fields });
}

function requireTransition(from: CustomerStatus, to: CustomerStatus): void {
  const allowed: readonly CustomerStatus[] = TRANSITIONS[from];
  if (allowed.includes(to)) return;
  throw new ApiError("INVALID_TRANSITION", {
    message: `the status cannot change from ${from} to ${to}`,
    details: { from, to, allowed },
  });
}

async function enterStatus(unit: UnitOfWork, row: CustomerRow): Promise<void> {
  if (row.status === "suspended")
    unit.emit({ type: "customer.suspended", customerId: row.id, data: { customer: customerPayload(row) } });
  if (row.status !== "active") {
    await endSessionsOfCustomer(unit, row.id, ENDS_SESSIONS[row.status]);
  }
  // also when it becomes active again: an instance of the previous release may have suspended it
  await endClientTokens(unit, row.id);
  unit.notifyGateways({ type: "customer_changed", customer_id: row.id });
}

function about(action: string, { id }: CustomerRow) {
  return { action, target: { type: "customer", id }, customerId: id };
}

function writtenOf(row: CustomerRow): Readonly<Record<string, unknown>> {
  const { name, external_id, status, allowed_return_urls, metadata } = row;
  const rules = Object.fromEntries(CLAIM_RULES.map((rule) => [rule, row[rule]]));
  return { name, external_id, status, allowed_return_urls, metadata, ...rules };
}
