import type { Knex } from "knex";
import type { EventType, StoredEvent } from "../../platform/events.ts";
import { newId } from "../../platform/ids.ts";
import { coalesce, type WebhookEvent } from "./coalesce.ts";
import { payloadOf } from "./payload.ts";

/** The channel on which commits with new deliveries are announced. */
export const CHANNEL = "gatehouse_webhook_deliveries";
/** The name that subscribes to all events. */
export const EVERY_EVENT = "*";
/** The event that is counted in windows. */
export const VIOLATION = "policy.violated" satisfies EventType;
/** Maximum number of rows per statement. */
const BATCH = 1_000;

/** A new delivery. */
export interface NewDelivery {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly payload: string;
  readonly created_at: Date;
  readonly first_created_at?: Date;
  /** Whether a failed attempt is retried. */
  readonly retried: boolean;
  readonly priority: Priority;
}

/**
 * The priority of a webhook's deliveries: first those that somebody requested (tests and repeated deliveries), then
 * events, then events that anybody can cause in any number (violations and failed sign-ins).
 */
export const PRIORITIES = [0, 1, 2] as const;
export type Priority = (typeof PRIORITIES)[number];

/**
 * Adds a delivery to the outbox for each enabled webhook that subscribes to an event, within the transaction that made
 * the change. A webhook that belongs to a customer receives only that customer's events; any other webhook
 * receives all events. Repeated violations are counted.
 */
export async function enqueueDeliveries(trx: Knex, events: readonly StoredEvent[]): Promise<void> {
  const webhooks = await subscribers(trx, events);
  const wanted = events.flatMap((event) =>
    webhooks.filter((webhook) => isFor(webhook, event)).map((webhook): WebhookEvent => ({ webhook, event })),
  );
  await insertDeliveries(trx, (await coalesce(trx, wanted)).map(deliveryOf));
}

function deliveryOf({ webhook, event }: WebhookEvent): NewDelivery {
  const { id: event_id, type: event_type, timestamp: created_at } = event;
  const priority = OF_ANYBODY.has(event_type) ? 2 : 1;
  const about = {
    webhook_id: webhook.id,
    event_id,
    event_type,
    created_at,
    priority,
    retried: true,
  } as const;
  return { ...about, id: newId("delivery"), payload: payloadOf(event) };
}

const OF_ANYBODY: ReadonlySet<EventType> = new Set([VIOLATION, "user.authentication_failed"]);

interface Subscriber {
  readonly id: string;
  readonly customer_id: string | null;
  readonly events: readonly string[];
}

function subscribers(trx: Knex, events: readonly StoredEvent[]): Promise<Subscriber[]> {
  const customers = [...new Set(events.flatMap(({ customerId }) => customerId ?? []))];
  const types = [...new Set<string>(events.map(({ type }) => type)), EVERY_EVENT];
  return trx<Subscriber>("webhooks")
    .where("enabled", true)
    .whereRaw("events && ?::text[]", [types])
    .whereRaw("(customer_id is null or customer_id = any(?::text[]))", [customers])
    .select("id", "customer_id", "events")
    .orderBy("id");
}

function isFor(webhook: Subscriber, { type, customerId }: StoredEvent): boolean {
  const mine = webhook.customer_id === null || webhook.customer_id === customerId;
  return mine && (webhook.events.includes(type) || webhook.events.includes(EVERY_EVENT));
}

/** Adds deliveries to the outbox, and notifies those who deliver when the transaction commits. */
export async function insertDeliveries(trx: Knex, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const rows = deliveries.map((delivery) => ({
    ...delivery,
    status: "pending",
    next_attempt_at: delivery.created_at,
  }));
  for (let from = 0; from < rows.length; from += BATCH)
    await trx("webhook_deliveries").insert(rows.slice(from, from + BATCH));
  await trx.raw("select pg_notify(?, '')", [CHANNEL]);
}
