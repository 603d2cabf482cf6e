import type { Knex } from "knex";
import type { StoredEvent } from "../platform/events.ts";
import { GENERATION } from "./event-feed-generation.ts";
import { countEvents } from "./rollups/count-events.ts";

/** Rows of one statement: a customer's suspension may end any number of sessions. */
const BATCH = 5_000;

/** Writes events to the event history and counts them, within the transaction that announces them. */
export async function writeEvents(trx: Knex.Transaction, events: readonly StoredEvent[]): Promise<void> {
  for (let from = 0; from < events.length; from += BATCH) {
    const rows = events
      .slice(from, from + BATCH)
      .map(({ customerId, userId, id, type, timestamp, data }) => ({
        ...{ id, type, timestamp, data },
        customer_id: customerId,
        user_id: userId,
      }));
    // one parameter: a statement may have at most 65,535, and many are slow
    await trx.raw(
      `insert into events (timestamp, id, type, customer_id, user_id, data, feed_generation)
       select timestamp, id, type, customer_id, user_id, data, ${GENERATION}
       from json_to_recordset(?::json) as event (
         timestamp timestamptz, id text, type text, customer_id text, user_id text, data jsonb
       )`,
      [JSON.stringify(rows)],
    );
  }
  await countEvents(trx, events);
}
