import { EventEmitter, on } from "node:events";
import { readFileSync } from "node:fs";
import type { Handler } from "express";
import { buildSchema, type GraphQLSchema } from "graphql";
import { createHandler } from "graphql-http/lib/use/express";
import { handleProtocols } from "graphql-ws";
import { useServer } from "graphql-ws/use/ws";
import { WebSocketServer } from "ws";
import type { OrderFeed } from "./order-feed.ts";
import { placeOrder } from "./orders.ts";
import type { Customer, DemoStore, Order } from "./store.ts";

/** The file that the example policies also name, so that they protect exactly what is served. */
const SCHEMA_FILE = new URL("../../policies/demo.graphql", import.meta.url);

/** `/graphql`: requests, and WebSocket connections that are passed to it. */
export interface GraphqlEndpoint {
  readonly handler: Handler;
  readonly sockets: WebSocketServer;
}

/**
 * @returns the endpoint: queries and mutations over HTTP, and all operations over WebSocket (graphql-transport-ws).
 * @throws if the schema file does not exist.
 */
export function createGraphqlEndpoint(store: DemoStore, feed: OrderFeed): GraphqlEndpoint {
  const schema: GraphQLSchema = buildSchema(readFileSync(SCHEMA_FILE, "utf8"));
  const roots = createRoots(store, feed);
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols,
    maxPayload: 64 * 1024,
    perMessageDeflate: false,
  });
  useServer({ schema, roots: { query: roots, mutation: roots, subscription: roots } }, sockets);
  return { handler: createHandler({ schema, rootValue: roots }), sockets };
}

/** Resolvers of the root fields; fields of types are resolved by members and methods of the returned objects. */
function createRoots(store: DemoStore, feed: OrderFeed) {
  const ordersOf = (id: string) => store.orders.filter((order) => order.customer_id === id).map(orderNode);
  const customerNode = (customer: Customer) => ({ ...customer, orders: () => ordersOf(customer.id) });
  const customerById = (id: string) => {
    const customer = store.customers.get(id);
    return customer === undefined ? null : customerNode(customer);
  };
  function orderNode(order: Order): object {
    return { ...order, customer: () => customerById(order.customer_id) };
  }

  return {
    customers: ({ status }: { status: string | null }) =>
      [...store.customers.values()].filter((customer) => customer.status === status).map(customerNode),
    customer: ({ id }: { id: string }) => customerById(id),
    orders: ({ customer_id }: { customer_id: string }) => ordersOf(customer_id),
    placeOrder: (wanted: object) => orderNode(placeOrder(store, feed, wanted)),
    cancelOrder: ({ id }: { id: string }) => {
      const order = feed.change(id, { status: "cancelled" });
      return order === undefined ? null : orderNode(order);
    },
    orderUpdated: () => updates(store, feed, orderNode),
  };
}

/** Events in the form that graphql's `subscribe` expects, endless until `return` is called, even while waiting for one. */
function updates(
  store: DemoStore,
  feed: OrderFeed,
  node: (order: Order) => object,
): AsyncIterableIterator<{ orderUpdated: object }> {
  const orders = new EventEmitter<{ order: [Order] }>();
  const events = on(orders, "order");
  const stop = feed.listen((order) => orders.emit("order", order));
  for (const id of store.customers.keys()) {
    const first = store.orders.find((order) => order.customer_id === id);
    if (first !== undefined) orders.emit("order", first);
  }
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const { value, done } = (await events.next()) as IteratorResult<[Order], undefined>;
      return done === true ? { value: undefined, done } : { value: { orderUpdated: node(value[0]) } };
    },
    async return() {
      stop();
      await events.return?.();
      return { value: undefined, done: true };
    },
  };
}
