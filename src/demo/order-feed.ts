import { ORDER_STATUSES, type DemoStore, type Order } from "./store.ts";

/** Tells whoever listens what becomes of orders. */
export interface OrderFeed {
  /** Changes an order and tells all listeners; `undefined` where there is no such order. */
  change(id: string, change: Partial<Pick<Order, "status">>): Order | undefined;
  /** Keeps a new order and tells all listeners. */
  add(order: Order): void;
  /** @returns what ends it. */
  listen(listener: (order: Order) => void): () => void;
}

/**
 * @param interval - ms after which the next order moves on. Time passes only while somebody listens: what is read
 *   without listening stays as it is.
 */
export function createOrderFeed(store: DemoStore, interval: number): OrderFeed {
  const listeners = new Set<(order: Order) => void>();
  let timer: NodeJS.Timeout | undefined;
  let turn = 0;

  const tell = (order: Order) => {
    for (const listener of listeners) listener(order);
  };
  const feed: OrderFeed = {
    change(id, change) {
      const index = store.orders.findIndex((order) => order.id === id);
      const before = store.orders[index];
      if (before === undefined) return undefined;
      const order = { ...before, ...change };
      store.orders[index] = order;
      tell(order);
      return order;
    },
    add(order) {
      store.orders.push(order);
      tell(order);
    },
    listen(listener) {
      // a function of its own, so that a listener that comes twice is told twice
      const own = (order: Order) => {
        listener(order);
      };
      listeners.add(own);
      timer ??= setInterval(moveOn, interval);
      return () => {
        listeners.delete(own);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };

  function moveOn(): void {
    const order = store.orders[turn % store.orders.length];
    turn += 1;
    if (order !== undefined) feed.change(order.id, { status: statusAfter(order.status) });
  }
  return feed;
}

/** An order that has arrived is placed again, so that there is something to see for as long as somebody looks. */
function statusAfter(status: Order["status"]): Order["status"] {
  const next = ORDER_STATUSES[ORDER_STATUSES.indexOf(status) + 1];
  return next === undefined || next === "cancelled" ? "placed" : next;
}
