import type { Knex } from "knex";
import { onlyCustomerOf, type Actor } from "../../platform/actor.ts";
import { ApiError } from "../../platform/errors.ts";

/** Why a webhook is disabled. */
export const DISABLED_REASONS = ["requested", "failing", "gone", "customer_deleted"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export interface WebhookRow {
  readonly id: string;
  /** `null`: events of all customers, and of the environment. */
  readonly customer_id: string | null;
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly string[];
  readonly enabled: boolean;
  readonly disabled_reason: DisabledReason | null;
  readonly disabled_at: Date | null;
  /** Encrypted. */
  readonly secret: string;
  /** Encrypted; also signs until it expires. */
  readonly previous_secret: string | null;
  readonly previous_secret_expires_at: Date | null;
  /** Consecutive attempts without a response. */
  readonly failures: number;
  /** Nothing is sent before this time, because the receiver does not respond. */
  readonly paused_until: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly revision: number;
}

/** The webhooks that an actor may see. */
export function visibleWebhooks(db: Knex, actor: Actor): Knex.QueryBuilder<WebhookRow, WebhookRow[]> {
  const only = onlyCustomerOf(actor);
  const query = db<WebhookRow>("webhooks").select<WebhookRow[]>("*");
  return only === undefined ? query : query.where("customer_id", only);
}

/** @throws ApiError WEBHOOK_NOT_FOUND */
export async function readWebhook(db: Knex, actor: Actor, id: string): Promise<WebhookRow> {
  return found(await visibleWebhooks(db, actor).where("id", id), id);
}

/**
 * Reads a webhook and locks it against changes.
 * @throws ApiError WEBHOOK_NOT_FOUND
 */
export async function lockWebhook(trx: Knex.Transaction, actor: Actor, id: string): Promise<WebhookRow> {
  return found(await visibleWebhooks(trx, actor).where("id", id).forUpdate(), id);
}

/** The enabled webhooks of a customer, locked in a fixed order. */
export async function lockEnabledWebhooksOf(
  trx: Knex.Transaction,
  customerId: string,
): Promise<WebhookRow[]> {
  return trx<WebhookRow>("webhooks")
    .where({ customer_id: customerId, enabled: true })
    .orderBy("id")
    .forUpdate()
    .select<WebhookRow[]>("*");
}

function found([row]: readonly WebhookRow[], id: string): WebhookRow {
  if (row === undefined) throw new ApiError("WEBHOOK_NOT_FOUND", { details: { webhook_id: id } });
  return row;
}

export async function insertWebhook(trx: Knex.Transaction, row: WebhookRow): Promise<void> {
  await trx("webhooks").insert({ ...row, events: [...row.events] });
}

/** Writes the changes, as the next revision. */
export async function updateWebhook(
  trx: Knex.Transaction,
  row: WebhookRow,
  changes: Partial<WebhookRow>,
  now: Date,
): Promise<WebhookRow> {
  const next = { ...changes, updated_at: now, revision: row.revision + 1 };
  await trx("webhooks").where("id", row.id).update(next);
  return { ...row, ...next };
}

export async function deleteWebhook(trx: Knex.Transaction, id: string): Promise<void> {
  await trx("webhooks").where("id", id).delete();
}

/** Removes secrets that no longer sign. The time remains, for it is part of the resource. */
export async function forgetPreviousSecrets(db: Knex, now: Date): Promise<void> {
  await db("webhooks")
    .whereNotNull("previous_secret")
    .where("previous_secret_expires_at", "<=", now)
    .update({ previous_secret: null });
}

/** Excludes what is in the outbox now from being delivered. */
export async function skipEarlierDeliveries(trx: Knex.Transaction, id: string): Promise<void> {
  await trx.raw(
    `update webhooks set deliver_after = (
       select case when is_called then last_value else 0 end from webhook_deliveries_sequence_seq
     ) where id = ?`,
    [id],
  );
}

/** Forgets violations that are counted but not sent yet. */
export async function forgetWindows(trx: Knex.Transaction, id: string): Promise<void> {
  // locked in the order in which they are counted (`coalesce.ts`)
  await trx.raw(
    `delete from webhook_windows where (webhook_id, key) in (
       select webhook_id, key from webhook_windows where webhook_id = ? order by key for update
     )`,
    [id],
  );
}

export async function countWebhooks(trx: Knex.Transaction, customerId: string | null): Promise<number> {
  const counted = await trx("webhooks")
    .where("customer_id", customerId)
    .count({ total: "*" })
    .first<{ total: number }>();
  return counted.total;
}
