import { writeEvents } from "./analytics/write-events.ts";
import { writeChanges } from "./analytics/audit/write-changes.ts";
import { appendGatewayChanges } from "./gateway/append.ts";
import type { UnitWriters } from "./platform/unit.ts";
import { enqueueDeliveries } from "./resources/webhooks/enqueue.ts";

/** Writes what a unit has collected. */
export const unitWriters: UnitWriters = {
  changes: writeChanges,
  events: writeEvents,
  deliveries: enqueueDeliveries,
  gateways: appendGatewayChanges,
};
