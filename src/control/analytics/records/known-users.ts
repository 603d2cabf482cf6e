import type { Knex } from "knex";
import { inSlices } from "../../../runtime/in-slices.ts";
import { withoutPerson } from "../../platform/personal-data.ts";
import type { RecordFacts } from "./read-record.ts";

interface KnownUser {
  readonly id: string;
  readonly customer_id: string;
  readonly is_gone: boolean;
}

/**
 * Checks the users that records name. A record that names a user under another customer is not counted for that user.
 * For users and customers that were deleted while a record waited at its gateway, only ids are stored.
 */
export async function withKnownUsers(
  trx: Knex.Transaction,
  records: readonly RecordFacts[],
): Promise<readonly RecordFacts[]> {
  // from here on, an erasure either waits for this transaction or is visible below:
  // src/control/resources/erasure/jobs.ts
  await trx.raw("select pg_current_xact_id()");
  const users = await usersOf(trx, distinct(records, "user_id"));
  const gone = await deletedCustomersIn(trx, distinct(records, "customer_id"));
  return inSlices(records, (facts) => {
    const { user_id: userId, customer_id: customerId } = facts.row;
    const user = users.get(userId);
    const isGone = user?.is_gone === true || (customerId !== null && gone.has(customerId));
    const isForeignUser = user !== undefined && customerId !== null && user.customer_id !== customerId;
    const kept = isGone ? withoutTheirs(facts) : facts;
    return isForeignUser ? { ...kept, isForeignUser } : kept;
  });
}

function withoutTheirs({ inputs: _, row, ...facts }: RecordFacts): RecordFacts {
  return { ...facts, row: withoutPerson(row) };
}

function distinct(records: readonly RecordFacts[], column: "user_id" | "customer_id"): string[] {
  return [...new Set(records.flatMap(({ row }) => row[column] ?? []))].filter((id) => id !== "");
}

async function usersOf(
  trx: Knex.Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KnownUser>> {
  if (ids.length === 0) return new Map();
  const { rows } = await trx.raw<{ rows: KnownUser[] }>(
    `select u.id, u.customer_id, coalesce(u.deleted_at, u.erased_at, c.deleted_at) is not null as is_gone
     from users u join customers c on c.id = u.customer_id where u.id = any(?)`,
    [[...ids]],
  );
  return new Map(rows.map((user) => [user.id, user]));
}

async function deletedCustomersIn(
  trx: Knex.Transaction,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await trx.raw<{ rows: { id: string }[] }>(
    `select id from customers where id = any(:ids) and deleted_at is not null
     union all select id from deleted_customers where id = any(:ids)`,
    { ids: [...ids] },
  );
  return new Set(rows.map(({ id }) => id));
}
