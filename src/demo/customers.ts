import { Router } from "express";
import { z } from "zod";
import { readBody, RequestError } from "./http.ts";
import { CUSTOMER_STATUSES, type Customer, type DemoStore } from "./store.ts";

const CustomerChange = z
  .strictObject({
    name: z.string().min(1).max(200),
    status: z.enum(CUSTOMER_STATUSES),
    plan: z.string().min(1).max(50),
    city: z.string().min(1).max(100),
  })
  .partial();

/** `/api/customers`: list, read, change, delete, and the orders of one customer. */
export function customerRoutes(store: DemoStore): Router {
  const router = Router();

  router.get("/api/customers", (request, response) => {
    const customers = withStatus([...store.customers.values()], request.query["status"]);
    response.json({ customers, total: customers.length });
  });

  router.get("/api/customers/:id", (request, response) => {
    response.json(customerOf(store, request.params.id));
  });

  router.put("/api/customers/:id", (request, response) => {
    const customer = customerOf(store, request.params.id);
    const changed: Customer = { ...customer, ...definedOnly(readBody(CustomerChange, request)) };
    store.customers.set(customer.id, changed);
    response.json(changed);
  });

  router.delete("/api/customers/:id", (request, response) => {
    store.customers.delete(customerOf(store, request.params.id).id);
    response.status(204).end();
  });

  router.get("/api/customers/:id/orders", (request, response) => {
    const { id } = customerOf(store, request.params.id);
    const orders = store.orders.filter((order) => order.customer_id === id);
    response.json({ orders, total: orders.length });
  });

  return router;
}

/** Suspended customers are listed only on request. */
function withStatus(customers: readonly Customer[], asked: unknown): readonly Customer[] {
  if (asked === undefined) return customers.filter(({ status }) => status !== "suspended");
  const statuses: readonly unknown[] = Array.isArray(asked) ? asked : [asked];
  return customers.filter(({ status }) => statuses.includes(status));
}

/**
 * @returns the customer.
 * @throws RequestError 404 if there is none.
 */
export function customerOf(store: DemoStore, id: string): Customer {
  const customer = store.customers.get(id);
  if (customer === undefined) throw new RequestError(404, "no such customer");
  return customer;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** JSON has no `undefined`, but zod's types of optional members do. */
function definedOnly<T extends object>(change: T): Defined<T> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Defined<T>;
}
