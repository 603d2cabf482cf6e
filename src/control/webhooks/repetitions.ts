import { createHash } from "node:crypto";
import type { Knex } from "knex";
import type { StoredEvent } from "../events.ts";

/** One of a kind in so much time. */
const WINDOW_SECONDS = 60;

/** An event and a webhook that asks for it. */
export interface Sending {
  readonly webhookId: string;
  readonly event: StoredEvent;
}

/** What is sent of them, each with the number of those before it that were not. */
export type Sent = Sending & { readonly suppressed: number };

/**
 * A denied request costs its sender nothing, and each would be a delivery: of violations a webhook gets one a minute for each
 * customer, user, reason and rule, so that one user's do not delay all other events. What the others were, the history of
 * events has, and the next one says how many.
 */
export async function withoutRepetitions(trx: Knex, sendings: readonly Sending[]): Promise<readonly Sent[]> {
  const first = new Map<string, Sending & { readonly key: string; more: number }>();
  for (const sending of sendings) {
    if (!isRepeatable(sending.event)) continue;
    const key = keyOf(sending.event);
    const name = `${sending.webhookId} ${key}`;
    const known = first.get(name);
    if (known === undefined) first.set(name, { ...sending, key, more: 0 });
    else known.more += 1;
  }
  const opened = await open(trx, [...first.values()]);
  return sendings.flatMap((sending) => {
    if (!isRepeatable(sending.event)) return [{ ...sending, suppressed: 0 }];
    const suppressed = opened.get(`${sending.webhookId} ${sending.event.id}`);
    return suppressed === undefined ? [] : [{ ...sending, suppressed }];
  });
}

function isRepeatable({ type }: StoredEvent): boolean {
  return type === "policy.violated";
}

function keyOf({ customerId, userId, rule, data: { reason } }: StoredEvent): string {
  const parts = [customerId ?? null, userId ?? null, reason ?? null, rule ?? null];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

/** @returns by webhook and event those that are sent, and how many were not before them */
async function open(
  trx: Knex,
  candidates: readonly (Sending & { readonly key: string; readonly more: number })[],
): Promise<ReadonlyMap<string, number>> {
  if (candidates.length === 0) return new Map();
  const rows = candidates.map(({ webhookId, key, event, more }) => ({
    ...{ webhook_id: webhookId, key, event_id: event.id, sent_at: event.timestamp, more },
  }));
  // in one order, so that two transactions with the same keys do not wait for each other in a circle
  const { rows: known } = await trx.raw<{
    rows: { webhook_id: string; event_id: string; carried: number }[];
  }>(
    `insert into webhook_repetitions as known (webhook_id, key, event_id, sent_at, suppressed, carried)
     select webhook_id, key, event_id, sent_at, more, 0
     from json_to_recordset(:rows::json) as one (
       webhook_id text, key text, event_id text, sent_at timestamptz, more integer
     )
     order by webhook_id, key
     on conflict (webhook_id, key) do update set (event_id, sent_at, suppressed, carried) = (
       select
         case when over then excluded.event_id else known.event_id end,
         case when over then excluded.sent_at else known.sent_at end,
         case when over then excluded.suppressed else known.suppressed + excluded.suppressed + 1 end,
         case when over then known.suppressed else known.carried end
       from (
         -- also where a clock was ahead
         select abs(extract(epoch from excluded.sent_at - known.sent_at)) >= :window::int as over
       ) as time
     )
     returning webhook_id, event_id, carried`,
    { rows: JSON.stringify(rows), window: WINDOW_SECONDS },
  );
  return new Map(known.map(({ webhook_id, event_id, carried }) => [`${webhook_id} ${event_id}`, carried]));
}

/** Removes what is older; what was not sent since is not told any more. */
export async function forgetRepetitions(db: Knex, before: Date): Promise<void> {
  await db("webhook_repetitions").where("sent_at", "<", before).delete();
}
