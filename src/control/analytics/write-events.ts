import type { Knex } from "knex";
import type { StoredEvent } from "../events.ts";
import { countEvents } from "./count-events.ts";

/** Keeps events in their history and counts them, within the transaction that announces them. */
export async function writeEvents(trx: Knex.Transaction, events: readonly StoredEvent[]): Promise<void> {
  await trx("events").insert(
    events.map(({ id, timestamp, type, customerId, userId, data }) => ({
      timestamp,
      id,
      type,
      customer_id: customerId ?? null,
      user_id: userId ?? null,
      data: JSON.stringify(data),
    })),
  );
  await countEvents(trx, events);
}
