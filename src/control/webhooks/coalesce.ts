import { createHash } from "node:crypto";
import type { Knex } from "knex";
import type { StoredEvent } from "../events.ts";

/** A webhook is told of one kind of violation once in so much time, and once more of all that followed. */
export const WINDOW_MS = 60_000;
/** Kinds that are told apart for one webhook at a time: users and rules are as many as an attacker likes. */
export const MAX_KINDS = 100;
/** The key of all other kinds together; no hash is empty. */
export const OTHERS = "";
/** Advisory locks under which new kinds of a webhook are counted: this number, and a hash of its id. */
const LOCK = 518_741_302;

/** An event and a webhook that asks for it. */
export interface Sending {
  readonly webhook: { readonly id: string; readonly customer_id: string | null };
  readonly event: StoredEvent;
}

/**
 * What a window keeps of the last event that it counts: who and why, by ids and codes. Nothing of it has to be found again when
 * a user is erased.
 */
export type LastEvent = Pick<StoredEvent, "customerId" | "data">;

/** Violations of one kind that one transaction announces to one webhook. */
interface Kind {
  readonly webhook: Sending["webhook"];
  readonly key: string;
  readonly first: StoredEvent;
  last: StoredEvent;
  total: number;
}

/**
 * A denied request costs its sender nothing, and each would be a delivery. Of a kind (customer, user, reason and rule) the
 * first is sent at once, and opens a window; those that follow in it are counted, and told when it closes
 * (`close-windows.ts`). The history of events and the audit trail have each of them.
 *
 * @returns what is to be sent now
 */
export async function coalesce(trx: Knex, sendings: readonly Sending[]): Promise<readonly Sending[]> {
  const kinds = kindsOf(sendings.filter(isCoalesced));
  if (kinds.length === 0) return sendings;
  const opened = await count(trx, await withinBounds(trx, kinds));
  return sendings.filter(
    (sending) => !isCoalesced(sending) || opened.has(nameOf(sending.webhook.id, sending.event.id)),
  );
}

function isCoalesced({ event: { type } }: Sending): boolean {
  return type === "policy.violated";
}

function kindsOf(sendings: readonly Sending[]): readonly Kind[] {
  const kinds = new Map<string, Kind>();
  for (const { webhook, event } of sendings) {
    const key = keyOf(event);
    const name = nameOf(webhook.id, key);
    const known = kinds.get(name);
    if (known === undefined) kinds.set(name, { webhook, key, first: event, last: event, total: 1 });
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

/** Gives the key of all others to the kinds that would be too many. */
async function withinBounds(trx: Knex, kinds: readonly Kind[]): Promise<readonly Kind[]> {
  const known = await readKeys(trx, webhookIds(kinds));
  const opening = webhookIds(kinds.filter((kind) => isNew(known, kind) && hasRoom(known, kind)));
  if (opening.length > 0) {
    // one transaction at a time, so that the bound is one; where all kinds are known, or too many, nobody waits
    await trx.raw(
      `select pg_advisory_xact_lock(?, hash)
       from (select distinct hashtext(id) as hash from unnest(?::text[]) as id order by hash) as locks`,
      [LOCK, opening],
    );
    for (const [id, keys] of await readKeys(trx, opening)) known.set(id, keys);
  }
  return kinds.map((kind) => {
    if (!isNew(known, kind)) return kind;
    if (!hasRoom(known, kind)) return { ...kind, key: OTHERS };
    known.get(kind.webhook.id)?.add(kind.key);
    return kind;
  });
}

type KnownKeys = Map<string, Set<string>>;

async function readKeys(trx: Knex, ids: readonly string[]): Promise<KnownKeys> {
  const known: KnownKeys = new Map(ids.map((id) => [id, new Set()]));
  const rows = await trx("webhook_windows")
    .whereIn("webhook_id", ids)
    .whereNot("key", OTHERS)
    .select<{ webhook_id: string; key: string }[]>("webhook_id", "key");
  for (const { webhook_id, key } of rows) known.get(webhook_id)?.add(key);
  return known;
}

function webhookIds(kinds: readonly Kind[]): string[] {
  return [...new Set(kinds.map(({ webhook }) => webhook.id))];
}

function isNew(known: KnownKeys, { webhook, key }: Kind): boolean {
  return known.get(webhook.id)?.has(key) !== true;
}

function hasRoom(known: KnownKeys, { webhook }: Kind): boolean {
  return (known.get(webhook.id)?.size ?? 0) < MAX_KINDS;
}

/** @returns names of the events that opened a window */
async function count(trx: Knex, kinds: readonly Kind[]): Promise<ReadonlySet<string>> {
  // in one order, so that two transactions with the same keys do not wait for each other in a circle
  const { rows } = await trx.raw<{ rows: { webhook_id: string; event_id: string | null }[] }>(
    `insert into webhook_windows as known
       (webhook_id, key, event_id, closes_at, count, first_at, last_at, last_event)
     select webhook_id, key, event_id, closes_at, count, first_at, last_at, last_event
     from json_to_recordset(?::json) as one (
       webhook_id text, key text, event_id text, closes_at timestamptz, count integer,
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
  const rows = kinds.filter(({ key }) => key !== OTHERS).map((kind) => rowOf(kind));
  const others = new Map<string, Kind>();
  for (const kind of kinds) {
    if (kind.key !== OTHERS) continue;
    const total = (others.get(kind.webhook.id)?.total ?? 0) + kind.total;
    others.set(kind.webhook.id, { ...kind, total });
  }
  return [...rows, ...[...others.values()].map((kind) => rowOf(kind))];
}

function rowOf({ webhook, key, first, last, total }: Kind): object {
  const isOthers = key === OTHERS;
  const { customerId, data } = last;
  const { user, reason, decision_id } = data;
  const customer = webhook.customer_id ?? undefined;
  return {
    webhook_id: webhook.id,
    key,
    event_id: isOthers ? null : first.id,
    closes_at: new Date(last.timestamp.getTime() + WINDOW_MS),
    count: isOthers ? total : total - 1,
    first_at: first.timestamp,
    last_at: last.timestamp,
    // of kinds that are not told apart nothing can be said but whose they are
    last_event: isOthers
      ? { customerId: customer, data: {} }
      : {
          customerId,
          data: { user: user && { id: user.id, customer_id: user.customer_id }, reason, decision_id },
        },
  };
}

function nameOf(webhookId: string, name: string): string {
  return `${webhookId} ${name}`;
}
