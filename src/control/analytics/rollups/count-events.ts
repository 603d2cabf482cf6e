import type { Knex } from "knex";
import type { StoredEvent } from "../../platform/events.ts";
import { addCounts } from "./add-counts.ts";
import { periods, Users } from "./count-decisions.ts";
import { PeriodTally } from "./tally.ts";

/** Counts events and sign-ins of users, within the transaction that announces them. */
export async function countEvents(trx: Knex.Transaction, events: readonly StoredEvent[]): Promise<void> {
  const counted = new PeriodTally("minute");
  const ofCustomers = new PeriodTally("minute");
  const users = new Users();
  for (const { timestamp, type, customerId = "", userId } of events) {
    counted.add(timestamp.getTime(), [type], [1]);
    if (customerId !== "") ofCustomers.add(timestamp.getTime(), [customerId, type], [1]);
    if (type === "user.authenticated" && userId !== undefined)
      users.add(timestamp.getTime(), customerId, userId, [0, 0, 1]);
  }
  await users.count(trx);
  await addCounts(trx, "rollup_customer_events", periods(ofCustomers, ["customer_id", "type"], ["events"]));
  await addCounts(trx, "rollup_events", periods(counted, ["type"], ["events"]));
}
