import type { UnitOfWork } from "../platform/unit.ts";
import type { CustomerRow } from "./customers.ts";

/** Announces that something about a customer changed; `detail` says what. */
export function announceUpdate(unit: UnitOfWork, row: CustomerRow, detail: string): void {
  unit.emit({
    type: "customer.updated",
    customerId: row.id,
    data: { customer: customerPayload(row), detail },
  });
}

/** A customer as shown in events. */
export function customerPayload({ id, name, status }: CustomerRow) {
  return { id, name, status };
}
