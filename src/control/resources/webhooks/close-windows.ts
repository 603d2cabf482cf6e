import type { Knex } from "knex";
import { every } from "../../../runtime/every.ts";
import { transaction } from "../../../storage/index.ts";
import type { BackgroundWork, ControlContext } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import { BEYOND_WINDOW, WINDOW_END, type LastEvent } from "./coalesce.ts";
import { EVERY_EVENT, insertDeliveries, VIOLATION, type NewDelivery } from "./enqueue.ts";
import { summaryPayload } from "./payload.ts";

const EVERY_MS = 1_000;
/** Maximum number of windows per transaction. */
const AT_ONCE = 500;

interface Due {
  readonly webhook_id: string;
  readonly key: string;
  readonly count: number;
  readonly first_at: Date;
  readonly last_at: Date;
  readonly last_event: LastEvent;
  /** Whether the webhook still exists, is enabled, and subscribes to them. */
  readonly wanted: boolean;
}

/** Closes windows as they end. Several instances may run it: each skips windows that another one is closing. */
export function startClosingWindows(context: Pick<ControlContext, "db" | "clock" | "log">): BackgroundWork {
  const { db, clock, log } = context;
  const what = "close violation windows";
  return every(EVERY_MS, () => closeWindows(db, new Date(clock())), { what, log });
}

/**
 * Sends the counts of windows that have ended and opens the next ones at once, so that ongoing violations are sent once
 * per window. A window that counted nothing is forgotten: the next of its kind is sent at once again. The database's
 * clock decides which windows have ended.
 *
 * @param now - the time of its deliveries
 */
export async function closeWindows(db: Knex, now: Date): Promise<void> {
  while ((await closeSome(db, now)) === AT_ONCE);
}

function closeSome(db: Knex, now: Date): Promise<number> {
  return transaction(db, async (trx) => {
    const { rows } = await trx.raw<{ rows: Due[] }>(
      `select v.webhook_id, v.key, v.count, v.first_at, v.last_at, v.last_event, w.id is not null as wanted
       from webhook_windows v
       left join webhooks w on w.id = v.webhook_id and w.enabled and w.events && array[:type::text, :every::text]
       where v.closes_at <= now() or v.closes_at > ${BEYOND_WINDOW}
       order by v.closes_at limit :most
       for update of v skip locked`,
      { type: VIOLATION, every: EVERY_EVENT, most: AT_ONCE },
    );
    const isDelivered = ({ count, wanted }: Due) => count > 0 && wanted;
    const delivered = rows.filter(isDelivered);
    await forget(
      trx,
      rows.filter((row) => !isDelivered(row)),
    );
    await goOn(trx, delivered);
    await insertDeliveries(
      trx,
      delivered.map((row) => deliveryOf(row, now)),
    );
    return rows.length;
  });
}

async function forget(trx: Knex, windows: readonly Due[]): Promise<void> {
  if (windows.length === 0) return;
  await trx.raw(
    `delete from webhook_windows where (webhook_id, key) in (select * from unnest(?::text[], ?::text[]))`,
    keysOf(windows),
  );
}

async function goOn(trx: Knex, windows: readonly Due[]): Promise<void> {
  if (windows.length === 0) return;
  await trx.raw(
    `update webhook_windows set count = 0, event_id = null, closes_at = ${WINDOW_END}
     where (webhook_id, key) in (select * from unnest(?::text[], ?::text[]))`,
    keysOf(windows),
  );
}

function keysOf(windows: readonly Due[]): [string[], string[]] {
  return [windows.map(({ webhook_id }) => webhook_id), windows.map(({ key }) => key)];
}

/** A new event: each event that it counts has its own id in the history. */
function deliveryOf({ webhook_id, count, first_at, last_at, last_event }: Due, now: Date): NewDelivery {
  const event_id = newId("event");
  const { customerId, data } = last_event;
  const payload = summaryPayload(
    {
      id: event_id,
      type: VIOLATION,
      timestamp: last_at,
      ...(customerId !== undefined && { customerId }),
      data,
    },
    { count, first_at: first_at.toISOString(), last_at: last_at.toISOString() },
  );
  return {
    id: newId("delivery"),
    webhook_id,
    event_id,
    event_type: VIOLATION,
    payload,
    created_at: now,
    retried: true,
    priority: 2,
  };
}
