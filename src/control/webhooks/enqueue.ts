import type { Knex } from "knex";
import type { StoredEvent } from "../events.ts";
import { newId } from "../ids.ts";
import { payloadOf } from "./payload.ts";
import { withoutRepetitions, type Sending } from "./repetitions.ts";

/** Where commits are announced that leave something to deliver. */
export const CHANNEL = "gatehouse_webhook_deliveries";
/** The event that stands for all. */
export const EVERY_EVENT = "*";
/** Rows of one statement. */
const BATCH = 1_000;

/** A delivery that is new. */
export interface NewDelivery {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly payload: string;
  readonly created_at: Date;
  /** Whether a failure is followed by further attempts. */
  readonly retried: boolean;
}

/**
 * Puts one delivery into the outbox for each webhook that is enabled and asks for an event, within the transaction that
 * made the change. A webhook of a customer gets that customer's events alone, one without gets all; and of those that a user
 * can repeat at will not each.
 */
export async function enqueueDeliveries(trx: Knex, events: readonly StoredEvent[]): Promise<void> {
  const webhooks = await subscribers(trx, events);
  const wanted = events.flatMap((event) =>
    webhooks
      .filter((webhook) => isFor(webhook, event))
      .map(({ id: webhookId }): Sending => ({ webhookId, event })),
  );
  const deliveries = (await withoutRepetitions(trx, wanted)).map(
    ({ webhookId, event, suppressed }): NewDelivery => {
      const { id: event_id, type: event_type, timestamp: created_at } = event;
      const payload = payloadOf(event, suppressed);
      const about = { webhook_id: webhookId, event_id, event_type, payload, created_at, retried: true };
      return { id: newId("delivery"), ...about };
    },
  );
  await insertDeliveries(trx, deliveries);
}

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

/** Adds to the outbox; those who deliver are told when the transaction commits. */
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
