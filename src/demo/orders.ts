import { Router } from "express";
import { z } from "zod";
import { readBody, RequestError } from "./http.ts";
import type { DemoStore, Order } from "./store.ts";

const NewOrder = z.strictObject({
  customer_id: z.string(),
  item: z.string().min(1).max(200),
  quantity: z.int().min(1).max(100_000).default(1),
  unit_price_cents: z.int().min(0).max(100_000_000),
});

/** `POST /api/orders`. */
export function orderRoutes(store: DemoStore): Router {
  const router = Router();

  router.post("/api/orders", (request, response) => {
    const wanted = readBody(NewOrder, request);
    if (!store.customers.has(wanted.customer_id)) throw new RequestError(422, "no such customer");
    const order: Order = {
      id: `o-${1001 + store.orders.length}`,
      ...wanted,
      created_at: new Date().toISOString(),
    };
    store.orders.push(order);
    response.status(201).location(`/api/customers/${order.customer_id}/orders`).json(order);
  });

  return router;
}
