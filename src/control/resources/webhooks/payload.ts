import type { EventData, EventType, StoredEvent } from "../../platform/events.ts";

/** The type of test events; nothing else has it, and nobody subscribes to it. */
export const TEST_EVENT = "webhook.test";

/** The parts of each member that may be sent. A new part is not sent unless it is listed here. */
const MEMBERS = {
  user: ["id", "email", "customer_id"],
  session: ["id", "ip_address", "user_agent"],
  customer: ["id", "name", "status"],
  policy: ["id", "name", "type"],
  rollout: ["id", "mode", "percentage", "cause", "detail"],
  policy_set: ["name", "version", "digest"],
  api_key: ["id", "name", "scope"],
  gateway: ["id", "name", "address", "version", "policy_set", "digest"],
  dropped_claims: true,
  reason: true,
  detail: true,
  decision_id: true,
  count: true,
  first_at: true,
  last_at: true,
  others: true,
} as const satisfies Record<keyof EventData, true | readonly string[]>;

type Member = keyof EventData;

/** The members of `data` that events of each type can have, and no others; docs/webhooks.md lists the same. */
export const EVENT_MEMBERS = {
  "user.authenticated": ["user", "session", "dropped_claims"],
  "user.authentication_failed": ["user", "customer", "reason", "detail"],
  "user.logged_out": ["user", "session", "reason"],
  "user.deleted": ["user"],
  "session.revoked": ["user", "session", "reason"],
  "policy.violated": [
    ...["user", "session", "customer", "reason", "detail", "decision_id"],
    ...["count", "first_at", "last_at", "others"],
  ],
  "policy.updated": ["policy", "detail"],
  "policy_set.published": ["policy_set"],
  "policy_set.rollout_started": ["policy_set", "rollout"],
  "policy_set.rollout_changed": ["policy_set", "rollout"],
  "policy_set.rollout_promoted": ["policy_set", "rollout"],
  "policy_set.rollout_aborted": ["policy_set", "rollout"],
  "customer.created": ["customer"],
  "customer.updated": ["customer", "detail"],
  "customer.suspended": ["customer"],
  "api_key.created": ["api_key", "customer"],
  "api_key.revoked": ["api_key", "customer"],
  "gateway.lost": ["gateway", "count"],
  "gateway.diverged": ["gateway", "count"],
  "gateway.lagging": ["gateway", "count"],
  "gateway.recovered": ["gateway", "count"],
} as const satisfies Record<EventType, readonly Member[]>;

/** The number of events that a summary represents. */
export type Summary = Required<Pick<EventData, "count" | "first_at" | "last_at">>;

/** The body of a summary: the data of the last event, and the number of events. */
export function summaryPayload(event: StoredEvent, summary: Summary): string {
  return payloadOf({ ...event, data: { ...event.data, ...summary } });
}

/** The body of a delivery (specification, section 6): the bytes that are signed and sent, the same at every attempt. */
export function payloadOf({ id, type, timestamp, customerId, data }: StoredEvent): string {
  const payload = dataOf(type, data);
  // tells a receiver of all customers' events which customer it is about, if no user does
  if (customerId !== undefined && !("user" in payload) && !("customer" in payload))
    payload["customer"] = { id: customerId };
  return JSON.stringify({ id, type, timestamp: timestamp.toISOString(), data: payload });
}

/** The body of a test event. */
export function testPayload(id: string, timestamp: Date, webhookId: string): string {
  const data = { webhook: { id: webhookId } };
  return JSON.stringify({ id, type: TEST_EVENT, timestamp: timestamp.toISOString(), data });
}

function dataOf(type: EventType, data: EventData): Record<string, unknown> {
  const payload: Record<string, unknown> = {};
  for (const name of EVENT_MEMBERS[type]) {
    const value = data[name];
    if (value === undefined) continue;
    const members = MEMBERS[name];
    payload[name] = members === true ? value : pick(value as Record<string, unknown>, members);
  }
  return payload;
}

function pick(value: Readonly<Record<string, unknown>>, members: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(members.filter((name) => name in value).map((name) => [name, value[name]]));
}
