import { randomBytes } from "node:crypto";
import type { Knex } from "knex";
import { lockUntilEnd } from "../../storage/index.ts";
import type { GatewayChange } from "../platform/gateway-change.ts";
import { CHANNEL } from "../platform/gateway-signal.ts";

/** Rows of one statement. */
const BATCH = 5_000;

/** Stands for its customers: they are found in the database, for there may be a million of them. */
type PolicyChanged = Extract<GatewayChange, { type: "policy_changed" }>;

/** A row of the table. */
interface ChangeColumns {
  readonly type: Exclude<GatewayChange, PolicyChanged>["type"];
  readonly session_id?: string;
  readonly until?: string;
  readonly customer_id?: string;
  readonly user_id?: string;
  readonly policy_set?: string;
}

/**
 * Appends changes for gateways. The numbers are assigned under a lock that is held until the transaction has committed,
 * so their order is the commit order: a reader that has seen one number has seen all before it. Call it last in a
 * transaction, because the lock makes all others wait.
 */
export async function appendGatewayChanges(trx: Knex, changes: readonly GatewayChange[]): Promise<void> {
  if (changes.length === 0) return;
  const rows = distinct(changes.filter((change) => change.type !== "policy_changed"));
  const policies = changes.filter((change) => change.type === "policy_changed");
  await lockUntilEnd(trx, "gatewayChanges");
  const tag = randomBytes(6).toString("base64url");
  for (let from = 0; from < rows.length; from += BATCH) {
    await trx.raw(
      `insert into gateway_changes (tag, type, session_id, until, customer_id, user_id, policy_set)
       select ?, type, session_id, until, customer_id, user_id, policy_set
       from jsonb_to_recordset(?::jsonb) as change (
         type text, session_id text, until timestamptz, customer_id text, user_id text, policy_set text
       )`,
      [tag, JSON.stringify(rows.slice(from, from + BATCH))],
    );
  }
  await appendCustomersOf(trx, policies, tag);
  // delivered with the commit
  await trx.raw("select pg_notify(?, '')", [CHANNEL]);
}

async function appendCustomersOf(trx: Knex, policies: readonly PolicyChanged[], tag: string): Promise<void> {
  if (policies.length === 0) return;
  await trx.raw(
    `insert into gateway_changes (tag, type, customer_id)
     select distinct ?, 'customer_changed', customer_id from policy_assignments where policy_id = any(?)`,
    [tag, policies.map(({ policy_id }) => policy_id)],
  );
}

function distinct(changes: readonly Exclude<GatewayChange, PolicyChanged>[]): ChangeColumns[] {
  const byText = new Map(changes.map((change) => [JSON.stringify(change), change]));
  return [...byText.values()].map(columnsOf);
}

function columnsOf(change: Exclude<GatewayChange, PolicyChanged>): ChangeColumns {
  switch (change.type) {
    case "session_ended":
      return { type: change.type, session_id: change.session_id, until: change.until };
    case "customer_changed":
      return { type: change.type, customer_id: change.customer_id };
    case "user_changed":
      return { type: change.type, user_id: change.user_id, customer_id: change.customer_id };
    case "policy_set_activated":
      return { type: change.type, policy_set: change.name };
  }
}
