import { ORDER_STATUSES, type DemoStore, type Order } from "./store.ts";

/** Notifies listeners of changes to orders. */
export interface OrderFeed {
  /** Changes an order and notifies all listeners; `undefined` if there is no such order. */
  change(id: string, change: Partial<Pick<Order, "status">>): Order | undefined;
  /** Stores a new order and notifies all listeners. */
  add(order: Order): void;
  /** @returns a function that removes the listener. */
  listen(listener: (order: Order) => void): () => void;
}

/**
 * @param interval - ms after which the next order changes. Orders change only while there are listeners, so that they are
 *   stable for readers without one.
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
      // a new function each time, so that a listener added twice is notified twice
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

/** A delivered order is placed again, so that there are always changes to see. */
function statusAfter(status: Order["status"]): Order["status"] {
  const next = ORDER_STATUSES[ORDER_STATUSES.indexOf(status) + 1];
  return next === undefined || next === "cancelled" ? "placed" : next;
}
