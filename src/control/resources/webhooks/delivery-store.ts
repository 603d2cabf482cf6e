import type { Knex } from "knex";
import { ApiError } from "../../platform/errors.ts";

export const DELIVERY_STATUSES = ["pending", "delivering", "delivered", "failed", "cancelled"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why a delivery was cancelled. */
export const CANCELLED_REASONS = ["webhook_disabled", "webhook_deleted", "customer_deleted"] as const;
export type CancelledReason = (typeof CANCELLED_REASONS)[number];

export interface DeliveryRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: string;
  /** The body that is signed and sent. */
  readonly payload: string;
  /** Whether a failed attempt is retried. */
  readonly retried: boolean;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** While delivering: when the claim expires. */
  readonly next_attempt_at: Date | null;
  readonly last_attempt_at: Date | null;
  readonly finished_at: Date | null;
  /** Of the last attempt, like the following members. */
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly duration_ms: number | null;
  readonly error: string | null;
  readonly cancelled_reason: CancelledReason | null;
  readonly created_at: Date;
  /** If it is sent again: when it was made that was sent first. */
  readonly first_created_at: Date | null;
}

/**
 * Maximum number of deliveries cancelled by one statement while a request waits for it; the sweep cancels the others.
 */
const CANCELLED_AT_ONCE = 10_000;

/** @throws ApiError DELIVERY_NOT_FOUND */
export async function readDelivery(db: Knex, webhookId: string, id: string): Promise<DeliveryRow> {
  return found(id, await db<DeliveryRow>("webhook_deliveries").where({ webhook_id: webhookId, id }).first());
}

/**
 * The same, locked until the transaction ends: an erasure finds every copy of it, or has already changed the original. Who
 * sends it again waits for others who do, because a stream of shared locks would keep the erasure out.
 */
export async function lockDelivery(
  trx: Knex.Transaction,
  webhookId: string,
  id: string,
): Promise<DeliveryRow> {
  const rows = trx<DeliveryRow>("webhook_deliveries").where({ webhook_id: webhookId, id });
  return found(id, await rows.forNoKeyUpdate().first());
}

function found(id: string, row: DeliveryRow | undefined): DeliveryRow {
  if (row === undefined) throw new ApiError("DELIVERY_NOT_FOUND", { details: { delivery_id: id } });
  return row;
}

/** Cancels pending deliveries of webhooks that are disabled or deleted. Deliveries in progress end by themselves. */
export async function cancelPending(
  trx: Knex.Transaction,
  webhookIds: readonly string[],
  reason: CancelledReason,
  now: Date,
): Promise<void> {
  await trx.raw(
    `update webhook_deliveries
       set status = 'cancelled', next_attempt_at = null, finished_at = :now, cancelled_reason = :reason
       where id in (
         select id from webhook_deliveries where webhook_id = any(:webhookIds::text[]) and status = 'pending'
         limit :most for update skip locked
       )`,
    { now, reason, webhookIds: [...webhookIds], most: CANCELLED_AT_ONCE },
  );
}

/** Cancels all other deliveries without an enabled webhook. */
export async function cancelLeftOver(db: Knex, now: Date): Promise<void> {
  let cancelled: number;
  do {
    const { rowCount } = await db.raw<{ rowCount: number }>(
      `update webhook_deliveries
         set status = 'cancelled', next_attempt_at = null, finished_at = :now, cancelled_reason = left_over.reason
         from (
           select d.id,
             case
               when w.id is null then 'webhook_deleted'
               when w.disabled_reason = 'customer_deleted' then 'customer_deleted'
               else 'webhook_disabled'
             end as reason
           from webhook_deliveries d left join webhooks w on w.id = d.webhook_id
           where (d.status = 'pending' or d.status = 'delivering' and d.next_attempt_at <= :now)
             and (
               w.id is null or not w.enabled
               -- on another server numbers begin again, until they are brought forward (\`numbers.ts\`)
               or d.sequence <= w.deliver_after
                 and w.deliver_after <= (select last_value from webhook_deliveries_sequence_seq)
             )
           limit :most for update of d skip locked
         ) left_over
         where webhook_deliveries.id = left_over.id`,
      { now, most: CANCELLED_AT_ONCE },
    );
    cancelled = rowCount;
  } while (cancelled === CANCELLED_AT_ONCE);
}

/**
 * Removes older entries of the log; what is sent again is as old as what was sent first.
 * @returns how many; if as many as requested, there may be more
 */
export async function forgetDeliveries(db: Knex, before: Date, most: number): Promise<number> {
  const old = db("webhook_deliveries")
    .whereRaw("coalesce(first_created_at, created_at) < ?", [before])
    .whereRaw("status not in ('pending', 'delivering')")
    .orderByRaw("coalesce(first_created_at, created_at)")
    .limit(most)
    .select("id");
  return db("webhook_deliveries").whereIn("id", old).delete();
}
