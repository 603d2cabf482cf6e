import { Router } from "express";
import { z } from "zod";
import { parseAs, RequestError } from "./http.ts";
import type { OrderFeed } from "./order-feed.ts";
import type { DemoStore, Order } from "./store.ts";

const NewOrder = z.strictObject({
  customer_id: z.string(),
  item: z.string().min(1).max(200),
  quantity: z.int().min(1).max(100_000).default(1),
  unit_price_cents: z.int().min(0).max(100_000_000),
});

/** `POST /api/orders`. */
export function orderRoutes(store: DemoStore, feed: OrderFeed): Router {
  const router = Router();

  router.post("/api/orders", (request, response) => {
    const order = placeOrder(store, feed, request.body);
    response.status(201).location(`/api/customers/${order.customer_id}/orders`).json(order);
  });

  return router;
}

/**
 * Takes an order.
 * @throws RequestError 400 or 422 that describes the problem.
 */
export function placeOrder(store: DemoStore, feed: OrderFeed, wanted: unknown): Order {
  const content = parseAs(NewOrder, wanted, "body");
  if (!store.customers.has(content.customer_id)) throw new RequestError(422, "no such customer");
  const order: Order = {
    id: `o-${1001 + store.orders.length}`,
    ...content,
    status: "placed",
    created_at: new Date().toISOString(),
  };
  feed.add(order);
  return order;
}
