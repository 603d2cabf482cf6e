import { WebSocketServer, type WebSocket } from "ws";
import { z } from "zod";
import type { OrderFeed } from "./order-feed.ts";
import type { DemoStore, Order } from "./store.ts";

/** Messages from the client. */
const ClientMessage = z.discriminatedUnion("type", [
  z.object({ type: z.literal("subscribe"), customer_id: z.string() }),
  z.object({ type: z.literal("unsubscribe"), customer_id: z.string() }),
  z.object({ type: z.literal("cancel_order"), order_id: z.string() }),
  z.object({ type: z.literal("ping") }),
]);
type ClientMessage = z.infer<typeof ClientMessage>;

/** Messages from the application, besides updates of orders. */
type Answer =
  | { readonly type: "unsubscribed"; readonly customer_id: string }
  | { readonly type: "pong" }
  | { readonly type: "error"; readonly error: string };

/**
 * `/ws/orders`: changes to a customer's orders. A new subscriber receives the first order at once.
 *
 * @returns a server for connections that are passed to it.
 */
export function createOrderSocket(store: DemoStore, feed: OrderFeed): WebSocketServer {
  const server = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024, perMessageDeflate: false });
  server.on("connection", (socket) => {
    serve(socket, store, feed);
  });
  return server;
}

function serve(socket: WebSocket, store: DemoStore, feed: OrderFeed): void {
  const subscribed = new Set<string>();
  const send = (message: object) => {
    socket.send(JSON.stringify(message));
  };
  const stop = feed.listen((order) => {
    if (subscribed.has(order.customer_id)) send(orderUpdated(store, order));
  });
  socket.on("close", stop);
  socket.on("error", () => {
    socket.terminate(); // a malformed frame: the peer does not speak the protocol
  });
  socket.on("message", (data: Buffer, isBinary) => {
    const answer = isBinary
      ? failure("only text messages are supported")
      : obey(read(data.toString()), subscribed, { store, feed, send });
    if (answer !== undefined) send(answer);
  });
}

function obey(
  message: ClientMessage | undefined,
  subscribed: Set<string>,
  { store, feed, send }: { store: DemoStore; feed: OrderFeed; send: (message: object) => void },
): Answer | undefined {
  switch (message?.type) {
    case undefined:
      return failure("the message is not valid");
    case "subscribe": {
      if (!store.customers.has(message.customer_id)) return failure("no such customer");
      subscribed.add(message.customer_id);
      const first = store.orders.find((order) => order.customer_id === message.customer_id);
      if (first !== undefined) send(orderUpdated(store, first));
      return undefined;
    }
    case "unsubscribe":
      subscribed.delete(message.customer_id);
      return { type: "unsubscribed", customer_id: message.customer_id };
    case "cancel_order": {
      const order = feed.change(message.order_id, { status: "cancelled" });
      if (order === undefined) return failure("no such order");
      if (!subscribed.has(order.customer_id)) send(orderUpdated(store, order));
      return undefined;
    }
    case "ping":
      return { type: "pong" };
  }
}

/** The update of an order, with its contact. */
function orderUpdated(store: DemoStore, { id, customer_id, item, status }: Order): object {
  const contact = store.contacts.find((entry) => entry.customer_id === customer_id);
  return {
    type: "order_updated",
    order_id: id,
    customer_id,
    item,
    status,
    contact: contact && {
      name: contact.name,
      email: contact.email,
      phone: contact.phone,
      owner: contact.owner,
    },
  };
}

function read(text: string): ClientMessage | undefined {
  try {
    return ClientMessage.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON
  }
}

function failure(error: string): Answer {
  return { type: "error", error };
}
