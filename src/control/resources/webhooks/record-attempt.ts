import type { ControlContext } from "../../platform/context.ts";
import { isSuccess } from "./attempt.ts";
import { endDelivery, hasSucceeded, postpone, type AttemptRecord, type Claimed } from "./outbox.ts";
import { recordHealth } from "./receiver-health.ts";
import { retryDelay } from "./retry-delay.ts";
import { DELIVERER, disableWebhook } from "./service.ts";
import type { DisabledReason } from "./store.ts";

type Settling = Pick<ControlContext, "db" | "units" | "clock" | "settings">;

/** Records the result of an attempt and its consequence: none, another attempt, or the end. */
export async function recordAttempt(context: Settling, claim: Claimed, record: AttemptRecord): Promise<void> {
  const { db, clock, settings } = context;
  const { created_at, retried, attempts } = claim.delivery;
  const now = new Date(clock());
  // first: once its place is free, nothing more may be sent to a receiver that is paused
  await recordHealth(db, claim, record, now);
  if (isSuccess(record)) {
    await endDelivery(db, claim, "delivered", record, now);
    return;
  }
  // RFC 9110, section 15.5.11: a receiver that is gone does not come back
  if (record.response_status === 410) {
    await giveUp(context, claim, record, "gone");
    return;
  }
  if (!retried) {
    await endDelivery(db, claim, "failed", record, now);
    return;
  }
  const end = created_at.getTime() + settings.webhooks.retryForMs;
  if (now.getTime() >= end) await giveUp(context, claim, record, "failing");
  // the last attempt is made at the very end
  else await postpone(db, claim, record, new Date(Math.min(now.getTime() + retryDelay(attempts), end)));
}

/**
 * Ends a delivery without success, and disables its webhook, unless the webhook has accepted other deliveries since:
 * then it only rejects this one.
 */
async function giveUp(
  { units }: Settling,
  claim: Claimed,
  record: AttemptRecord,
  reason: DisabledReason,
): Promise<void> {
  const { id, webhook_id, created_at } = claim.delivery;
  await units({ actor: DELIVERER, requestId: id, clientIp: "" }, async (unit) => {
    const mine = await endDelivery(unit.trx, claim, "failed", record, unit.now);
    if (!mine) return;
    if (reason === "failing" && (await hasSucceeded(unit.trx, webhook_id, created_at))) return;
    await disableWebhook(unit, webhook_id, reason);
  });
}
