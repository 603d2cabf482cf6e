import type { Knex } from "knex";
import { lockRowsUntilEnd } from "../../../storage/index.ts";
import type { EventType } from "../../platform/events.ts";

/** Events of one type per key and window; the last one of a window stands for all gateways that are left. */
export const MOST_ANNOUNCED = 10;
const WINDOW_MS = 60_000;

/**
 * How many events of a type the gateways of a key may still cause: anyone who holds the key can report any number of
 * gateways, lose and forget them, and each event is a row and a delivery to each webhook. Other instances wait for the
 * end of the transaction.
 */
export async function remainingAnnouncements(
  trx: Knex.Transaction,
  sender: string,
  type: EventType,
): Promise<number> {
  await lockRowsUntilEnd(trx, "gateways", [sender]);
  const row = await trx("gateway_announcements")
    .where({ sender, type })
    // a window of the future is one that was opened before the clock was set back
    .whereRaw("opened_at between clock_timestamp() - ? * interval '1 ms' and clock_timestamp()", [WINDOW_MS])
    .first<{ announced: number } | undefined>("announced");
  return Math.max(0, MOST_ANNOUNCED - (row?.announced ?? 0));
}

/** Counts events in the open window, or in a new one. */
export async function countAnnouncements(
  trx: Knex.Transaction,
  sender: string,
  type: EventType,
  announced: number,
): Promise<void> {
  await trx.raw(
    `insert into gateway_announcements as known (sender, type, opened_at, announced)
     values (:sender, :type, clock_timestamp(), :announced)
     on conflict (sender, type) do update set
       opened_at = case when ${IS_OPEN} then known.opened_at else excluded.opened_at end,
       announced = case when ${IS_OPEN} then known.announced else 0 end + excluded.announced`,
    { sender, type, announced, window: WINDOW_MS },
  );
}

const IS_OPEN =
  "known.opened_at between excluded.opened_at - :window * interval '1 ms' and excluded.opened_at";
