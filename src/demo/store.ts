import { CONTACTS, type Contact } from "./address-book.ts";

/** The in-memory data of the demo application: every start begins with the same content. */
export interface DemoStore {
  readonly customers: Map<string, Customer>;
  readonly contacts: readonly Contact[];
  readonly orders: Order[];
}

export const CUSTOMER_STATUSES = ["active", "trial", "suspended"] as const;

export interface Customer {
  readonly id: string;
  readonly name: string;
  readonly status: (typeof CUSTOMER_STATUSES)[number];
  readonly plan: string;
  readonly city: string;
  readonly tax_id: string;
  readonly created_at: string;
}

export const ORDER_STATUSES = ["placed", "packed", "shipped", "delivered", "cancelled"] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export interface Order {
  readonly id: string;
  readonly customer_id: string;
  readonly item: string;
  readonly quantity: number;
  readonly unit_price_cents: number;
  readonly status: OrderStatus;
  readonly created_at: string;
}

const CUSTOMERS: readonly Customer[] = [
  customer("c-1", "Northwind Traders", "active", "enterprise", "Rotterdam", "NL-8204-7731", "2023-02-14"),
  customer("c-2", "Blue Heron Logistics", "active", "business", "Gdynia", "PL-5871-0496", "2023-06-01"),
  customer("c-3", "Alpenglow Optics", "active", "business", "Innsbruck", "AT-6619-2048", "2024-01-22"),
  customer("c-4", "Saffron & Salt", "trial", "starter", "Lisbon", "PT-5093-6617", "2025-09-30"),
  customer("c-5", "Kite Robotics", "active", "enterprise", "Osaka", "JP-7010-4825", "2024-11-05"),
  customer("c-6", "Old Mill Bakery", "suspended", "starter", "York", "GB-3345-9170", "2022-08-19"),
];

const ORDERS: readonly Order[] = [
  order("o-1001", "c-1", "Rack scale, 2 t", 3, 129_900, "2025-10-02"),
  order("o-1002", "c-1", "Label printer", 12, 24_950, "2025-11-18"),
  order("o-1003", "c-2", "Pallet sensor", 240, 3_900, "2025-10-27"),
  order("o-1004", "c-3", "Calibration kit", 5, 58_000, "2025-12-03"),
  order("o-1005", "c-4", "Label printer", 1, 24_950, "2025-12-11"),
  order("o-1006", "c-5", "Torque arm", 8, 312_000, "2025-11-29"),
  order("o-1007", "c-5", "Calibration kit", 2, 58_000, "2025-12-15"),
  order("o-1008", "c-6", "Pallet sensor", 4, 3_900, "2025-10-08"),
];

/** @returns a fresh store with the demo's content. */
export function createDemoStore(): DemoStore {
  return {
    customers: new Map(CUSTOMERS.map((entry) => [entry.id, entry])),
    contacts: CONTACTS,
    orders: [...ORDERS],
  };
}

/** The total of an order, in cents. */
export function orderTotal(entry: Order): number {
  return entry.quantity * entry.unit_price_cents;
}

function customer(
  id: string,
  name: string,
  status: Customer["status"],
  plan: string,
  city: string,
  taxId: string,
  day: string,
): Customer {
  return { id, name, status, plan, city, tax_id: taxId, created_at: `${day}T09:00:00Z` };
}

function order(id: string, owner: string, item: string, quantity: number, price: number, day: string): Order {
  return {
    id,
    customer_id: owner,
    item,
    quantity,
    unit_price_cents: price,
    status: "placed",
    created_at: `${day}T12:00:00Z`,
  };
}
