import type { Knex } from "knex";
import { refuseTokensOf, type ClientRow } from "../resources/clients/store.ts";
import { keepDeletedIds } from "../resources/erasure/deleted-customers.ts";
import { refuseTokens } from "../resources/sessions/end.ts";
import type { SessionRow } from "../resources/sessions/store.ts";
import type { UnitOfWork } from "../platform/unit.ts";

/** Emptied row by row: tables that stay refer to the first, and of the others a part stays. */
const THINNED = ["customers", "api_keys", "clients", "idempotency_keys", "erasures"] as const;

/**
 * Left as they are: who works with the sandbox, the keys that sign, and what gateways have read or must go on refusing,
 * which must not go backwards. `customer_counts` follows the customers.
 */
const KEPT = [
  ...["dashboard_users", "dashboard_links", "dashboard_sessions", "dashboard_devices", "dashboard_throttles"],
  ...["dashboard_attempts", "rate_limits", "deleted_customers"],
  ...["signing_keys", "sandbox_provider_keys", "encryption_keys"],
  ...["gateway_changes", "gateway_feed", "event_feed", "schema_migrations", "customer_counts"],
] as const;

/** Removes the content of the sandbox. Tokens that were made before are refused by gateways from then on. */
export async function wipe(unit: UnitOfWork): Promise<void> {
  const { trx } = unit;
  await refuseAllTokens(unit);
  await forgetPolicySets(unit);
  // those of dashboard users go on: keys and clients of the platform stay, which name who made them
  await trx("erasures").whereNot({ kind: "dashboard_user" }).delete();
  const tables = await wipedTables(trx);
  // in one statement, for they refer to each other
  await trx.raw(`truncate ${tables.map(() => "??").join(", ")}`, tables);
  await trx("api_keys").whereNotNull("customer_id").delete();
  await trx("clients").whereNotNull("customer_id").delete();
  await forgetCustomers(unit);
  // the one of the request that this is stays: it has no answer yet
  await trx("idempotency_keys").whereNotNull("answer").delete();
}

/** To gateways they are deleted from then on, and not customers of whom there is nothing to know. */
async function forgetCustomers(unit: UnitOfWork): Promise<void> {
  const { trx, now } = unit;
  const ids = await trx("customers").orderBy("id").pluck<string[]>("id");
  await keepDeletedIds(trx, ids, now);
  await trx("customers").delete();
  for (const id of ids) unit.notifyGateways({ type: "customer_changed", customer_id: id });
}

/**
 * A gateway that is told of a set that is gone reads the complete state: otherwise it would keep the set's last version,
 * and the candidate of its rollout.
 */
async function forgetPolicySets(unit: UnitOfWork): Promise<void> {
  const names = await unit.trx("policy_sets").orderBy("name").pluck<string[]>("name");
  for (const name of names) unit.notifyGateways({ type: "policy_set_activated", name });
}

/** Every table that is not named above; partitions go with theirs. */
async function wipedTables(trx: Knex.Transaction): Promise<string[]> {
  const { rows } = await trx.raw<{ rows: { name: string }[] }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     order by c.relname`,
  );
  const stay: readonly string[] = [...THINNED, ...KEPT];
  return rows.map(({ name }) => name).filter((name) => !stay.includes(name));
}

async function refuseAllTokens(unit: UnitOfWork): Promise<void> {
  const rows: Pick<SessionRow, "id" | "last_token_expires_at">[] = await unit
    .trx("sessions")
    .whereNotNull("last_token_expires_at")
    .whereNull("ended_at")
    .orderBy("id")
    .select("id", "last_token_expires_at");
  for (const row of rows) refuseTokens(unit, row);
  const clients = await unit
    .trx("clients")
    .whereNotNull("customer_id")
    .orderBy("id")
    .select<Pick<ClientRow, "session_id">[]>("session_id");
  for (const client of clients) refuseTokensOf(unit, client);
}

/** Whether the sandbox was never used. */
export async function isEmpty(db: Knex): Promise<boolean> {
  const row: unknown = await db("customers").first("id");
  return row === undefined;
}
