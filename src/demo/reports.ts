import { Router } from "express";
import { orderTotal, type DemoStore } from "./store.ts";

/** `GET /api/reports/revenue`: revenue per customer, largest first. */
export function reportRoutes(store: DemoStore): Router {
  const router = Router();

  router.get("/api/reports/revenue", (_request, response) => {
    const customers = revenueByCustomer(store);
    const total_cents = customers.reduce((sum, entry) => sum + entry.revenue_cents, 0);
    response.json({ currency: "EUR", total_cents, customers });
  });

  return router;
}

/** Revenue in cents of each customer with orders, largest first. */
export function revenueByCustomer(
  store: DemoStore,
): { customer_id: string; name: string; revenue_cents: number }[] {
  const cents = new Map<string, number>();
  for (const order of store.orders) {
    cents.set(order.customer_id, (cents.get(order.customer_id) ?? 0) + orderTotal(order));
  }
  return [...cents]
    .map(([customer_id, revenue_cents]) => ({
      customer_id,
      name: store.customers.get(customer_id)?.name ?? "(deleted)",
      revenue_cents,
    }))
    .sort((a, b) => b.revenue_cents - a.revenue_cents);
}
