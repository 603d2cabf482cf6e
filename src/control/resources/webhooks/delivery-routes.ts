import type { ControlContext } from "../../platform/context.ts";
import { ApiError } from "../../platform/errors.ts";
import { readPage } from "../../platform/frame/list.ts";
import { ok, page, readRoute, writeRoute, type Answer, type Route } from "../../platform/frame/route.ts";
import { newId } from "../../platform/ids.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { lockDelivery, readDelivery, type DeliveryRow } from "./delivery-store.ts";
import { insertDeliveries, type NewDelivery } from "./enqueue.ts";
import { TEST_EVENT, testPayload } from "./payload.ts";
import { endPause } from "./receiver-health.ts";
import { delivery, deliveryList, deliveryPath, deliveryWithPayload, webhookPath } from "./schemas.ts";
import { readWebhook, type WebhookRow } from "./store.ts";

const ABOUT = { tag: "Webhooks", group: "management", tenancy: "handler" } as const;

/** Past and pending deliveries of a webhook. */
export function deliveryRoutes(context: ControlContext): Route[] {
  return [...log(context), ...sending()];
}

function log({ db }: ControlContext): Route[] {
  return [
    readRoute({
      ...ABOUT,
      method: "get",
      path: "/webhooks/{id}/deliveries",
      operation: "listWebhookDeliveries",
      summary: "List the deliveries of a webhook",
      description: "Kept for 30 days; a delivery that was sent again, for 30 days from the first.",
      permission: "read",
      params: webhookPath,
      query: deliveryList,
      answers: { 200: delivery.array() },
      paginated: true,
      errors: ["WEBHOOK_NOT_FOUND"],
      async read({ params, query, actor }) {
        const { id } = await readWebhook(db, actor, params.id);
        const rows = db("webhook_deliveries").where("webhook_id", id);
        if (query.status !== undefined) void rows.where("status", query.status);
        if (query.type !== undefined) void rows.where("event_type", query.type);
        const found = await readPage<DeliveryRow>(rows, query, { id: "id", created_at: "created_at" });
        return page(found.rows.map(presented), { ...query, total: found.total });
      },
    }),
    readRoute({
      ...ABOUT,
      method: "get",
      path: "/webhooks/{id}/deliveries/{delivery_id}",
      operation: "getWebhookDelivery",
      summary: "Read a delivery with its payload",
      permission: "read",
      params: deliveryPath,
      answers: { 200: deliveryWithPayload },
      errors: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND"],
      async read({ params, actor }) {
        const { id } = await readWebhook(db, actor, params.id);
        const row = await readDelivery(db, id, params.delivery_id);
        return ok({ ...presented(row), payload: JSON.parse(row.payload) as unknown });
      },
    }),
  ];
}

function sending(): Route[] {
  return [
    writeRoute({
      ...ABOUT,
      method: "post",
      path: "/webhooks/{id}/test",
      operation: "testWebhook",
      summary: "Send a test event",
      description:
        "Sends an event of type `webhook.test` once. The delivery shows the result. " +
        "It is sent before all pending deliveries, even while deliveries are paused.",
      permission: "configure",
      params: webhookPath,
      answers: { 202: delivery },
      errors: ["WEBHOOK_NOT_FOUND", "CONFLICT"],
      async write({ params, actor }, unit) {
        const webhook = await readEnabled(unit, actor, params.id);
        const event_id = newId("event");
        const payload = testPayload(event_id, unit.now, webhook.id);
        const content = { event_id, event_type: TEST_EVENT, payload, retried: false };
        return send(unit, webhook, "webhook.tested", content);
      },
    }),
    writeRoute({
      ...ABOUT,
      method: "post",
      path: "/webhooks/{id}/deliveries/{delivery_id}/redeliver",
      operation: "redeliverWebhookDelivery",
      summary: "Send the event of a delivery again",
      description: "Creates a new delivery with the same event id, by which receivers identify the event.",
      permission: "configure",
      params: deliveryPath,
      answers: { 202: delivery },
      errors: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND", "CONFLICT"],
      async write({ params, actor }, unit) {
        const webhook = await readEnabled(unit, actor, params.id);
        const before = await lockDelivery(unit.trx, webhook.id, params.delivery_id);
        if (before.status === "pending" || before.status === "delivering")
          throw new ApiError("CONFLICT", { message: "the delivery is still in progress" });
        const { event_id, event_type, payload, retried } = before;
        const first_created_at = before.first_created_at ?? before.created_at;
        const content = { event_id, event_type, payload, retried, first_created_at };
        return send(unit, webhook, "webhook.redelivered", content);
      },
    }),
  ];
}

async function readEnabled(
  unit: UnitOfWork,
  actor: UnitOfWork["origin"]["actor"],
  id: string,
): Promise<WebhookRow> {
  const webhook = await readWebhook(unit.trx, actor, id);
  if (!webhook.enabled)
    throw new ApiError("CONFLICT", { message: "the webhook is disabled; enable it first" });
  return webhook;
}

/** Adds a delivery to the outbox, ahead of all others, because somebody is waiting for it. */
async function send(
  unit: UnitOfWork,
  { id: webhook_id, customer_id }: WebhookRow,
  action: string,
  content: Pick<NewDelivery, "event_id" | "event_type" | "payload" | "retried" | "first_created_at">,
): Promise<Answer> {
  const id = newId("delivery");
  await insertDeliveries(unit.trx, [{ ...content, id, webhook_id, created_at: unit.now, priority: 0 }]);
  await endPause(unit.trx, webhook_id, unit.now);
  unit.record({
    action,
    target: { type: "webhook", id: webhook_id },
    ...(customer_id !== null && { customerId: customer_id }),
    after: { delivery_id: id, event_id: content.event_id },
  });
  return { kind: "data", status: 202, data: presented(await readDelivery(unit.trx, webhook_id, id)) };
}

function presented(row: DeliveryRow): DeliveryRow {
  // for a delivery in progress, this is when its claim expires
  return row.status === "delivering" ? { ...row, next_attempt_at: null } : row;
}
