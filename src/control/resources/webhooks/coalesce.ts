import { createHash } from "node:crypto";
import type { Knex } from "knex";
import { lockRowsUntilEnd } from "../../../storage/index.ts";
import type { StoredEvent } from "../../platform/events.ts";

/** A webhook gets one kind of violation at once, and then one summary per window. */
const WINDOW_SECONDS = 60;
/** SQL: the end of a window opened now. By the database's clock, because those of instances may differ by minutes. */
export const WINDOW_END = `now() + interval '${WINDOW_SECONDS} seconds'`;
/** SQL: no window ends later, unless the database's clock was set back. */
export const BEYOND_WINDOW = `now() + interval '${2 * WINDOW_SECONDS} seconds'`;
/**
 * Maximum number of kinds that are distinguished per webhook: an attacker can cause any number of users and rules. The
 * first kind of a customer is sent even beyond it, because attackers cannot create customers. A gateway can name any, so
 * those that do not exist count as one.
 */
export const MAX_KINDS = 500;
/**
 * The same per customer, so that one customer leaves room for others; and for a customer that has the webhook to
 * itself.
 */
export const MAX_KINDS_OF_CUSTOMER = 20;
export const MAX_KINDS_OF_OWNER = 100;
/** The prefix of the key for all other kinds of a customer; no hash contains a space. What follows is {@link Kind.customer}. */
export const OTHERS = "others ";

/** An event and a webhook that subscribes to it. */
export interface WebhookEvent {
  readonly webhook: { readonly id: string; readonly customer_id: string | null };
  readonly event: StoredEvent;
}

/**
 * What a window stores of the last event that it counts: who and why, as ids and codes only, so that an erasure need
 * not find anything in it.
 */
export type LastEvent = Pick<StoredEvent, "customerId" | "data">;

/** Violations of one kind that one transaction announces to one webhook. */
interface Kind {
  readonly webhook: WebhookEvent["webhook"];
  readonly key: string;
  /** Empty for all customers that do not exist, and for none. */
  readonly customer: string;
  readonly first: StoredEvent;
  last: StoredEvent;
  total: number;
}

/**
 * A denied request costs its sender nothing, and each would be a delivery. The first one of a kind (customer, user,
 * reason and rule) is sent at once and opens a window; the following ones are counted, and sent as a summary when the
 * window closes (`close-windows.ts`). The event history and the audit trail contain each of them.
 *
 * @returns the deliveries to send now
 */
export async function coalesce(
  trx: Knex,
  sendings: readonly WebhookEvent[],
): Promise<readonly WebhookEvent[]> {
  const coalesced = sendings.filter(isCoalesced);
  if (coalesced.length === 0) return sendings;
  const kinds = kindsOf(coalesced, await existingCustomers(trx, coalesced));
  const opened = await count(trx, await withinBounds(trx, kinds));
  return sendings.filter(
    (sending) => !isCoalesced(sending) || opened.has(nameOf(sending.webhook.id, sending.event.id)),
  );
}

function isCoalesced({ event: { type } }: WebhookEvent): boolean {
  return type === "policy.violated";
}

async function existingCustomers(trx: Knex, sendings: readonly WebhookEvent[]): Promise<ReadonlySet<string>> {
  const ids = new Set(sendings.flatMap(({ event }) => event.customerId ?? []));
  return new Set(
    await trx("customers")
      .whereIn("id", [...ids])
      .pluck<string[]>("id"),
  );
}

function kindsOf(sendings: readonly WebhookEvent[], customers: ReadonlySet<string>): readonly Kind[] {
  const kinds = new Map<string, Kind>();
  for (const { webhook, event } of sendings) {
    const key = keyOf(event);
    const name = nameOf(webhook.id, key);
    const known = kinds.get(name);
    const { customerId = "" } = event;
    const customer = customers.has(customerId) ? customerId : "";
    if (known === undefined) kinds.set(name, { webhook, key, customer, first: event, last: event, total: 1 });
    else {
      known.last = event;
      known.total += 1;
    }
  }
  return [...kinds.values()];
}

function keyOf({ customerId, userId, rule, data: { reason } }: StoredEvent): string {
  const parts = [customerId ?? null, userId ?? null, reason ?? null, rule ?? null];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

/** Gives kinds beyond the limits the shared key of their customer. */
async function withinBounds(trx: Knex, kinds: readonly Kind[]): Promise<readonly Kind[]> {
  const known = await readKnown(trx, webhookIds(kinds));
  const opening = webhookIds(kinds.filter((kind) => isNew(known, kind) && hasRoom(known, kind)));
  if (opening.length > 0) {
    // one transaction at a time, so that the limit holds; if all kinds are known, or there are too many, nobody waits
    await lockRowsUntilEnd(trx, "webhookWindows", opening);
    for (const [id, customers] of await readKnown(trx, opening)) known.set(id, customers);
  }
  return kinds.map((kind) => {
    if (!isNew(known, kind)) return kind;
    if (!hasRoom(known, kind)) return { ...kind, key: `${OTHERS}${kind.customer}` };
    addKnown(known, kind.webhook.id, kind.customer, kind.key);
    return kind;
  });
}

/** Keys of distinguished kinds, by webhook and customer. */
type KnownKeys = Map<string, Map<string, Set<string>>>;

async function readKnown(trx: Knex, ids: readonly string[]): Promise<KnownKeys> {
  const known: KnownKeys = new Map(ids.map((id) => [id, new Map<string, Set<string>>()]));
  const { rows } = await trx.raw<{ rows: { webhook_id: string; key: string; customer: string }[] }>(
    `select webhook_id, key, coalesce(c.id, '') as customer
     from webhook_windows left join customers c on c.id = last_event ->> 'customerId'
     where webhook_id = any(?) and not starts_with(key, ?)`,
    [[...ids], OTHERS] as unknown as Knex.RawBinding[],
  );
  for (const { webhook_id, key, customer } of rows) addKnown(known, webhook_id, customer, key);
  return known;
}

function addKnown(known: KnownKeys, webhookId: string, customer: string, key: string): void {
  const customers = known.get(webhookId);
  const keys = customers?.get(customer);
  if (keys === undefined) customers?.set(customer, new Set([key]));
  else keys.add(key);
}

function webhookIds(kinds: readonly Kind[]): string[] {
  return [...new Set(kinds.map(({ webhook }) => webhook.id))];
}

function isNew(known: KnownKeys, kind: Kind): boolean {
  return known.get(kind.webhook.id)?.get(kind.customer)?.has(kind.key) !== true;
}

function hasRoom(known: KnownKeys, kind: Kind): boolean {
  const { id, customer_id: owner } = kind.webhook;
  const customers = known.get(id);
  const ofCustomer = customers?.get(kind.customer)?.size ?? 0;
  if (ofCustomer === 0) return true;
  if (ofCustomer >= (owner === null ? MAX_KINDS_OF_CUSTOMER : MAX_KINDS_OF_OWNER)) return false;
  const total = [...(customers?.values() ?? [])].reduce((sum, { size }) => sum + size, 0);
  return total < MAX_KINDS;
}

/** @returns the names of the events that opened a window */
async function count(trx: Knex, kinds: readonly Kind[]): Promise<ReadonlySet<string>> {
  // in a fixed order, so that two transactions with the same keys cannot deadlock
  const { rows } = await trx.raw<{ rows: { webhook_id: string; event_id: string | null }[] }>(
    `insert into webhook_windows as known
       (webhook_id, key, event_id, closes_at, count, first_at, last_at, last_event)
     select webhook_id, key, event_id, ${WINDOW_END}, count, first_at, last_at, last_event
     from json_to_recordset(?::json) as one (
       webhook_id text, key text, event_id text, count integer,
       first_at timestamptz, last_at timestamptz, last_event jsonb
     )
     order by webhook_id, key
     on conflict (webhook_id, key) do update set
       -- where a window is open the first one is counted as well
       count = known.count + excluded.count + case when excluded.event_id is null then 0 else 1 end,
       first_at = case when known.count = 0 then excluded.first_at else known.first_at end,
       last_at = excluded.last_at,
       last_event = excluded.last_event
     returning webhook_id, event_id`,
    [JSON.stringify(rowsOf(kinds))],
  );
  return new Set(rows.map(({ webhook_id, event_id }) => nameOf(webhook_id, event_id ?? "")));
}

function rowsOf(kinds: readonly Kind[]): readonly object[] {
  const rows = new Map<string, Kind>();
  for (const kind of kinds) {
    const name = nameOf(kind.webhook.id, kind.key);
    // kinds that are not distinguished share one key
    const same = rows.get(name);
    rows.set(name, same === undefined ? kind : { ...same, last: kind.last, total: same.total + kind.total });
  }
  return [...rows.values()].map(rowOf);
}

function rowOf({ webhook, key, customer, first, last, total }: Kind): object {
  const isOthers = key.startsWith(OTHERS);
  const { customerId, data } = last;
  const { user, reason, decision_id } = data;
  return {
    webhook_id: webhook.id,
    key,
    event_id: isOthers ? null : first.id,
    count: isOthers ? total : total - 1,
    first_at: first.timestamp,
    last_at: last.timestamp,
    last_event: isOthers
      ? // all that they have in common
        { ...(customer !== "" && { customerId: customer }), data: { others: true } }
      : {
          customerId,
          data: { user: user && { id: user.id, customer_id: user.customer_id }, reason, decision_id },
        },
  };
}

function nameOf(webhookId: string, name: string): string {
  return `${webhookId} ${name}`;
}
