import type { Knex } from "knex";
import { lockRowsUntilEnd } from "../../../storage/index.ts";
import { ApiError } from "../../platform/errors.ts";
import { foldName, prefixPattern } from "../../platform/fold-name.ts";

export const POLICY_TYPES = ["authentication", "authorization"] as const;
export type PolicyType = (typeof POLICY_TYPES)[number];
export const POLICY_STATUSES = ["active", "inactive"] as const;
export type PolicyStatus = (typeof POLICY_STATUSES)[number];

/** A row of `policies`. */
export interface PolicyRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly type: PolicyType;
  readonly status: PolicyStatus;
  readonly conditions: Readonly<Record<string, unknown>>;
  readonly assign_to_new_customers: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly revision: number;
}

/** The members of a policy that can change. */
export type PolicyFields = Pick<
  PolicyRow,
  "name" | "description" | "status" | "conditions" | "assign_to_new_customers"
>;

export const POLICY_COLUMNS = [
  "policies.id",
  "policies.name",
  "policies.description",
  "policies.type",
  "policies.status",
  "policies.conditions",
  "policies.assign_to_new_customers",
  "policies.created_at",
  "policies.updated_at",
  "policies.revision",
] as const;

/** Columns by the values of `sort`. */
export const POLICY_SORT_COLUMNS = {
  id: "policies.id",
  created_at: "policies.created_at",
  updated_at: "policies.updated_at",
  name: "policies.name_key",
} as const;

/** All policies, or those of one customer, joined with the assignment if there is one. */
export function policiesOf(db: Knex, customerId: string | undefined): Knex.QueryBuilder {
  const query: Knex.QueryBuilder = db("policies");
  if (customerId === undefined) return query;
  return query
    .join("policy_assignments", "policy_assignments.policy_id", "policies.id")
    .where("policy_assignments.customer_id", customerId);
}

/** Filters a list. */
export function filterPolicies(
  query: Knex.QueryBuilder,
  {
    type,
    status,
    name,
  }: {
    readonly type?: PolicyType | undefined;
    readonly status?: PolicyStatus | undefined;
    readonly name?: string | undefined;
  },
): Knex.QueryBuilder {
  if (type !== undefined) void query.where("policies.type", type);
  if (status !== undefined) void query.where("policies.status", status);
  if (name !== undefined) void query.whereLike("policies.name_key", prefixPattern(name));
  return query;
}

/**
 * @throws ApiError POLICY_NOT_FOUND if it does not exist, or is not assigned to the only customer that the caller may
 *   see
 */
export async function requirePolicy(db: Knex, id: string, only: string | undefined): Promise<PolicyRow> {
  const row = await policiesOf(db, only)
    .where("policies.id", id)
    .first<PolicyRow | undefined>(...POLICY_COLUMNS);
  return found(row, id);
}

/** Reads a policy that is about to change; assignments wait until the transaction ends. */
export async function lockPolicy(trx: Knex.Transaction, id: string): Promise<PolicyRow> {
  await lockRowsUntilEnd(trx, "policies", [id]);
  const row = await trx("policies")
    .where({ id })
    .forUpdate()
    .first<PolicyRow | undefined>(...POLICY_COLUMNS);
  return found(row, id);
}

function found(row: PolicyRow | undefined, id: string): PolicyRow {
  if (row === undefined) throw new ApiError("POLICY_NOT_FOUND", { details: { policy_id: id } });
  return row;
}

export async function insertPolicy(
  trx: Knex.Transaction,
  row: PolicyFields & { readonly id: string; readonly type: PolicyType },
  now: Date,
): Promise<PolicyRow> {
  const [inserted] = await trx("policies")
    .insert({ ...columnsOf(row), id: row.id, type: row.type, created_at: now, updated_at: now })
    .returning<PolicyRow[]>([...POLICY_COLUMNS]);
  if (inserted === undefined) throw new Error("an insert returned no row");
  return inserted;
}

/** Writes the given members and increments the revision. */
export async function updatePolicy(
  trx: Knex.Transaction,
  { id, revision }: PolicyRow,
  fields: Partial<PolicyFields>,
  now: Date,
): Promise<PolicyRow> {
  const [updated] = await trx("policies")
    .where({ id, revision })
    .update({ ...columnsOf(fields), updated_at: now, revision: revision + 1 })
    .returning<PolicyRow[]>([...POLICY_COLUMNS]);
  if (updated === undefined) throw new Error(`the policy ${id} was not locked`);
  return updated;
}

/** The number of customers that a policy is assigned to. */
export async function countAssignees(db: Knex, policyId: string): Promise<number> {
  const [counted] = await db("policy_assignments")
    .where({ policy_id: policyId })
    .count<{ total: number }[]>({ total: "*" });
  return counted?.total ?? 0;
}

function columnsOf({
  name,
  description,
  status,
  conditions,
  assign_to_new_customers,
}: Partial<PolicyFields>): Record<string, unknown> {
  return {
    ...(name !== undefined && { name, name_key: foldName(name) }),
    ...(description !== undefined && { description }),
    ...(status !== undefined && { status }),
    ...(conditions !== undefined && { conditions: JSON.stringify(conditions) }),
    ...(assign_to_new_customers !== undefined && { assign_to_new_customers }),
  };
}
