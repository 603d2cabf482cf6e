import type { Knex } from "knex";
import { readPage } from "../../platform/frame/list.ts";
import { prefixPattern } from "../../platform/fold-name.ts";
import type { CustomerList } from "./schemas.ts";
import { CUSTOMER_COLUMNS, customers, type CustomerRow } from "../../tenancy/customers.ts";
import { countCustomers } from "./store.ts";

const SORT_COLUMNS = {
  id: "id",
  created_at: "created_at",
  updated_at: "updated_at",
  name: "name_key",
  status: "status",
};

/**
 * One page of customers.
 *
 * @param only - the only customer that the caller may see; `undefined` for all
 */
export async function listCustomers(
  db: Knex,
  request: CustomerList,
  only: string | undefined,
): Promise<{ readonly rows: readonly CustomerRow[]; readonly total: number }> {
  const { status, name, external_id, created_after, created_before } = request;
  const query = customers(db).select(...CUSTOMER_COLUMNS);
  if (status !== undefined) void query.where({ status });
  const byStatusAlone = [only, name, external_id, created_after, created_before].every(
    (filter) => filter === undefined,
  );
  if (only !== undefined) void query.where({ id: only });
  if (name !== undefined) void query.whereLike("name_key", prefixPattern(name));
  if (external_id !== undefined) void query.where({ external_id });
  if (created_after !== undefined) void query.where("created_at", ">", created_after);
  if (created_before !== undefined) void query.where("created_at", "<", created_before);
  return readPage<CustomerRow>(
    query,
    request,
    SORT_COLUMNS,
    byStatusAlone ? { total: () => countCustomers(db, status) } : {},
  );
}
