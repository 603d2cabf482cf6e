import type { Knex } from "knex";
import { isUniqueViolation } from "../../../storage/index.ts";
import { ApiError } from "../../platform/errors.ts";
import { foldName } from "../../platform/fold-name.ts";
import {
  CUSTOMER_COLUMNS,
  CUSTOMER_STATUSES,
  type CustomerFields,
  type CustomerRow,
  type CustomerStatus,
  type NewCustomerFields,
} from "../../tenancy/customers.ts";

/** @throws ApiError DUPLICATE if another customer has the `external_id` */
export async function insertCustomer(
  trx: Knex.Transaction,
  id: string,
  fields: NewCustomerFields,
  now: Date,
): Promise<CustomerRow> {
  const [row] = await refuseDuplicate(fields.external_id, () =>
    trx("customers")
      .insert({ ...columnsOf(fields), id, created_at: now, updated_at: now })
      .returning<CustomerRow[]>([...CUSTOMER_COLUMNS]),
  );
  if (row === undefined) throw new Error("an insert returned no row");
  return row;
}

/**
 * Writes the given members and increments the revision.
 * @throws ApiError DUPLICATE as {@link insertCustomer}
 */
export async function updateCustomer(
  trx: Knex.Transaction,
  { id, revision }: CustomerRow,
  fields: Partial<CustomerFields> & { readonly deleted_at?: Date },
  now: Date,
): Promise<CustomerRow> {
  const { deleted_at, ...rest } = fields;
  const [row] = await refuseDuplicate(rest.external_id, () =>
    trx("customers")
      .where({ id, revision })
      .update({
        ...columnsOf(rest),
        ...(deleted_at !== undefined && { deleted_at }),
        updated_at: now,
        revision: revision + 1,
      })
      .returning<CustomerRow[]>([...CUSTOMER_COLUMNS]),
  );
  if (row === undefined) throw new Error(`the customer ${id} was not locked`);
  return row;
}

function columnsOf({
  metadata,
  role_mapping: mapping,
  ...fields
}: Partial<CustomerFields>): Record<string, unknown> {
  return {
    ...fields,
    ...(fields.name !== undefined && { name_key: foldName(fields.name) }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
    ...(mapping !== undefined && { role_mapping: JSON.stringify(mapping) }),
  };
}

async function refuseDuplicate<T>(
  externalId: string | null | undefined,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error, "customers_external_id")) throw error;
    throw new ApiError("DUPLICATE", {
      message: "another customer has this `external_id`",
      details: { external_id: externalId },
    });
  }
}

/** The number of customers, of one status or in total: exact, from maintained counts. */
export async function countCustomers(db: Knex, status?: CustomerStatus): Promise<number> {
  const rows = await db("customer_counts").select<Record<CustomerStatus, number>[]>(...CUSTOMER_STATUSES);
  const statuses = status === undefined ? CUSTOMER_STATUSES : [status];
  return rows.flatMap((row) => statuses.map((each) => row[each])).reduce((sum, part) => sum + part, 0);
}
