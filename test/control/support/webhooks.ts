import assert from "node:assert/strict";
import type { Actor } from "../../../src/control/platform/actor.ts";
import type { NewEvent } from "../../../src/control/platform/events.ts";
import { newId } from "../../../src/control/platform/ids.ts";
import type { UnitOfWork } from "../../../src/control/platform/unit.ts";
import { eventually } from "../../support/eventually.ts";
import type { RunningControl } from "../../support/control.ts";
import { insertCustomer } from "../../../src/control/resources/customers/store.ts";

/** Where nobody listens. */
export const URL_OF_NOBODY = "http://127.0.0.1:9/hook";

/** Registers a webhook over HTTP; for every event, unless `body` says otherwise. */
export async function register(control: RunningControl, body: object = {}, as?: Actor) {
  const sent = { url: URL_OF_NOBODY, events: ["*"], ...body };
  const answer = await control.request("POST", "/webhooks", { body: sent, ...(as && { as }) });
  assert.equal(answer.status, 201, answer.text);

  return answer.body.data as {
    readonly id: string;
    readonly secret: string;
    readonly customer_id: string | null;
  };
}

export async function newCustomer({ context }: RunningControl, name = "Acme"): Promise<string> {
  const id = newId("customer");
  const fields = {
    external_id: null,
    name,
    status: "active",
    allowed_return_urls: [],
    metadata: {},
  } as const;
  await context.db.transaction((trx) =>
    insertCustomer(trx, id, { ...fields, allowed_return_urls: [] }, new Date(context.clock())),
  );
  return id;
}

/** Makes a unit of what is done to it, as any change of the control plane is. */
export function change<T>(
  { context }: Pick<RunningControl, "context">,
  work: (unit: UnitOfWork) => Promise<T>,
) {
  const actor: Actor = { kind: "system", id: "test", name: "test" };
  return context.units({ actor, requestId: newId("request"), clientIp: "127.0.0.1" }, work);
}

/** An event as a sign-in makes it. */
export function signIn(customerId = "cus_of_nobody", userId = "usr_of_nobody"): NewEvent {
  const user = { id: userId, email: "ada@example.com", customer_id: customerId };
  const session = { id: "ses_1", ip_address: "192.0.2.7", user_agent: "Mozilla/5.0" };
  return { type: "user.authenticated", customerId, userId, data: { user, session } };
}

export function emit(
  control: Pick<RunningControl, "context">,
  ...events: readonly NewEvent[]
): Promise<void> {
  return change(control, (unit) => {
    for (const event of events) unit.emit(event);
    return Promise.resolve();
  });
}

/** A delivery as the log shows it. */
export interface Logged {
  readonly id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: string;
  readonly attempts: number;
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly error: string | null;
  readonly next_attempt_at: string | null;
  readonly finished_at: string | null;
  readonly last_attempt_at: string | null;
  readonly duration_ms: number | null;
  readonly cancelled_reason: string | null;
}

/** The log of a webhook, oldest first. */
export async function logOf(control: RunningControl, webhookId: string): Promise<Logged[]> {
  const answer = await control.request("GET", `/webhooks/${webhookId}/deliveries?limit=100&order=asc`);
  assert.equal(answer.status, 200, answer.text);

  return answer.body.data as Logged[];
}

/** Waits until the webhook's only delivery is in this state. */
export function settled(
  control: RunningControl,
  webhookId: string,
  expected: Partial<Logged>,
): Promise<Logged> {
  return eventually(`a delivery with ${JSON.stringify(expected)}`, async () => {
    const [first] = await logOf(control, webhookId);
    const fits = Object.entries(expected).every(([name, value]) => first?.[name as keyof Logged] === value);
    return fits && first;
  });
}
