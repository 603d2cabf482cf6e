import type { Knex } from "knex";
import { onlyCustomerOf, type Actor } from "../../platform/actor.ts";
import { entryOf, withoutMaker, type AuditRow } from "./store.ts";

/**
 * How an actor sees the rows of the trail. A key that is limited to a customer sees every change to that customer, but the
 * name and address of the actor only for the customer's own keys and its users' browsers: those of the platform's operators
 * are withheld.
 */
export async function visibleEntryFor(db: Knex, actor: Actor): Promise<(row: AuditRow) => object> {
  const only = onlyCustomerOf(actor);
  if (only === undefined) return entryOf;
  const keys = new Set(await db("api_keys").where({ customer_id: only }).pluck<string[]>("id"));
  return (row) => {
    const entry = entryOf(row);
    if (row.kind !== "change") return entry;
    const { kind, id } = row.record["actor"] as { readonly kind: string; readonly id: string };
    return kind === "anonymous" || (kind === "api_key" && keys.has(id)) ? entry : withoutMaker(entry);
  };
}
