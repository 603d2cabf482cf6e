import type * as z from "zod";
import { lockRowsUntilEnd } from "../../../storage/index.ts";
import { onlyCustomerOf, type Actor } from "../../platform/actor.ts";
import { lockCustomerShared, requireCustomerShared } from "../../tenancy/customers.ts";
import type { SealedColumns } from "../../platform/sealed-columns.ts";
import { ApiError } from "../../platform/errors.ts";
import { newId } from "../../platform/ids.ts";
import type { SecretBox } from "../../platform/secret-box.ts";
import type { RowCheck, UnitOfWork } from "../../platform/unit.ts";
import { cancelPending } from "./delivery-store.ts";
import { EVERY_EVENT, VIOLATION } from "./enqueue.ts";
import type { newWebhook, rotation, webhookChanges } from "./schemas.ts";
import { newWebhookSecret } from "./secret.ts";
import {
  countWebhooks,
  deleteWebhook,
  forgetWindows,
  insertWebhook,
  lockEnabledWebhooksOf,
  lockWebhook,
  readWebhook,
  skipEarlierDeliveries,
  updateWebhook,
  type DisabledReason,
  type WebhookRow,
} from "./store.ts";

/**
 * Maximum number per customer, and without a customer: each is a row for each event, in the transaction that causes it.
 */
export const MAX_WEBHOOKS = 100;

/** A webhook with its secret in clear text, for the only answer that shows it. */
export interface WithSecret {
  readonly row: WebhookRow;
  readonly secret: string;
}

export async function createWebhook(
  unit: UnitOfWork,
  box: SecretBox,
  fields: z.output<typeof newWebhook>,
): Promise<WithSecret> {
  const { trx, now, origin } = unit;
  const customerId = fields.customer_id ?? onlyCustomerOf(origin.actor) ?? null;
  if (customerId !== null) {
    // otherwise it could be deleted meanwhile
    await requireCustomerShared(trx, origin.actor, customerId, "body");
  }
  // new ones at the same time would all count those before
  await lockRowsUntilEnd(trx, "webhooks", [customerId ?? ""]);
  if ((await countWebhooks(trx, customerId)) >= MAX_WEBHOOKS)
    throw new ApiError("CONFLICT", { message: `the limit of ${MAX_WEBHOOKS} webhooks is reached` });
  const id = newId("webhook");
  const secret = fields.secret ?? newWebhookSecret();
  const row: WebhookRow = {
    id,
    customer_id: customerId,
    url: fields.url,
    description: fields.description,
    events: fields.events,
    enabled: fields.enabled,
    disabled_reason: fields.enabled ? null : "requested",
    disabled_at: fields.enabled ? null : now,
    secret: box.seal(secret, secretPurpose(id)),
    previous_secret: null,
    previous_secret_expires_at: null,
    failures: 0,
    paused_until: null,
    created_at: now,
    updated_at: now,
    revision: 1,
  };
  await insertWebhook(trx, row);
  recordChange(unit, "webhook.created", undefined, row);
  return { row, secret };
}

export async function changeWebhook(
  unit: UnitOfWork,
  id: string,
  { url, events, description, enabled }: z.output<typeof webhookChanges>,
  check: RowCheck<WebhookRow>,
): Promise<WebhookRow> {
  const { trx, now } = unit;
  const before = await (enabled === true ? lockToEnable(unit, id) : lockWebhook(trx, unit.origin.actor, id));
  check(before);
  const after = await updateWebhook(
    trx,
    before,
    {
      // the new URL may respond where the old one did not
      ...(url !== undefined && url !== before.url && { url, ...HEALTHY }),
      ...(events !== undefined && { events }),
      ...(description !== undefined && { description }),
      ...(enabled === true && !before.enabled && ENABLED),
      ...(enabled === false && before.enabled && disabled("requested", now)),
    },
    now,
  );
  await followSwitch(unit, before, after);
  recordChange(unit, "webhook.updated", before, after);
  return after;
}

export async function enableWebhook(unit: UnitOfWork, id: string): Promise<WebhookRow> {
  const before = await lockToEnable(unit, id);
  if (before.enabled) return before;
  const after = await updateWebhook(unit.trx, before, ENABLED, unit.now);
  await followSwitch(unit, before, after);
  recordChange(unit, "webhook.enabled", before, after);
  return after;
}

/**
 * Locks a webhook that is about to be enabled, and its customer first: a deletion locks both in this order.
 *
 * @throws ApiError WEBHOOK_NOT_FOUND; CONFLICT if its customer is deleted
 */
async function lockToEnable({ trx, origin }: UnitOfWork, id: string): Promise<WebhookRow> {
  const { customer_id: customerId } = await readWebhook(trx, origin.actor, id);
  if (customerId !== null && (await lockCustomerShared(trx, customerId)) === undefined)
    throw new ApiError("CONFLICT", { message: "the webhook's customer is deleted" });
  return lockWebhook(trx, origin.actor, id);
}

/** Disables the webhooks of a customer that is being deleted, in the same unit; pending deliveries are not sent. */
export async function disableWebhooksOf(unit: UnitOfWork, customerId: string): Promise<void> {
  const rows = await lockEnabledWebhooksOf(unit.trx, customerId);
  for (const before of rows) {
    const changes = disabled("customer_deleted", unit.now);
    const after = await updateWebhook(unit.trx, before, changes, unit.now);
    recordChange(unit, "webhook.disabled", before, after);
  }
  await cancelPending(
    unit.trx,
    rows.map(({ id }) => id),
    "customer_deleted",
    unit.now,
  );
}

/** Disables a webhook whose receiver does not accept deliveries; does nothing if it was already disabled or deleted. */
export async function disableWebhook(unit: UnitOfWork, id: string, reason: DisabledReason): Promise<void> {
  const before = await lockWebhook(unit.trx, unit.origin.actor, id).catch(unlessGone);
  if (before?.enabled !== true) return;
  const after = await updateWebhook(unit.trx, before, disabled(reason, unit.now), unit.now);
  await followSwitch(unit, before, after);
  recordChange(unit, "webhook.disabled", before, after);
}

/** Replaces the secret. The previous one also signs for a while; an older one does not. */
export async function rotateSecret(
  unit: UnitOfWork,
  box: SecretBox,
  id: string,
  { secret = newWebhookSecret(), overlap_seconds }: z.output<typeof rotation>,
): Promise<WithSecret> {
  const { trx, now } = unit;
  const before = await lockWebhook(trx, unit.origin.actor, id);
  const overlaps = overlap_seconds > 0;
  const changes = {
    secret: box.seal(secret, secretPurpose(id)),
    previous_secret: overlaps ? before.secret : null,
    previous_secret_expires_at: overlaps ? new Date(now.getTime() + overlap_seconds * 1000) : null,
  };
  const row = await updateWebhook(trx, before, changes, now);
  recordChange(unit, "webhook.secret_rotated", before, row);
  return { row, secret };
}

export async function removeWebhook(
  unit: UnitOfWork,
  id: string,
  check: RowCheck<WebhookRow>,
): Promise<void> {
  const before = await lockWebhook(unit.trx, unit.origin.actor, id);
  check(before);
  await deleteWebhook(unit.trx, id);
  await cancelPending(unit.trx, [id], "webhook_deleted", unit.now);
  recordChange(unit, "webhook.deleted", before, undefined);
}

/**
 * The secrets with which a webhook's deliveries are signed now: the current one, and the previous one while it is
 * valid.
 */
export function validSecrets(
  box: SecretBox,
  row: Pick<WebhookRow, "id" | "secret" | "previous_secret" | "previous_secret_expires_at">,
  now: Date,
): string[] {
  const { previous_secret: previous, previous_secret_expires_at: until } = row;
  const sealed = previous !== null && until !== null && now < until ? [row.secret, previous] : [row.secret];
  return sealed.map((secret) => box.open(secret, secretPurpose(row.id)));
}

/** Resets the failures. */
const HEALTHY = { failures: 0, paused_until: null } as const;
const ENABLED = { ...HEALTHY, enabled: true, disabled_reason: null, disabled_at: null } as const;

function disabled(reason: DisabledReason, now: Date): Partial<WebhookRow> {
  return { ...HEALTHY, enabled: false, disabled_reason: reason, disabled_at: now };
}

/** Sends nothing that happened before the webhook was enabled, or before its receiver was to be told of it. */
async function followSwitch(unit: UnitOfWork, before: WebhookRow, after: WebhookRow): Promise<void> {
  if (before.enabled && !after.enabled)
    await cancelPending(unit.trx, [after.id], "webhook_disabled", unit.now);
  if (!before.enabled && after.enabled) await skipEarlierDeliveries(unit.trx, after.id);
  if (violationsUrl(before) !== violationsUrl(after)) await forgetWindows(unit.trx, after.id);
}

/** Where violations are sent, if they are. */
function violationsUrl({ enabled, events, url }: WebhookRow): string | undefined {
  return enabled && (events.includes(VIOLATION) || events.includes(EVERY_EVENT)) ? url : undefined;
}

function recordChange(
  unit: UnitOfWork,
  action: string,
  before: WebhookRow | undefined,
  after: WebhookRow | undefined,
): void {
  const row = after ?? before;
  if (row === undefined) return;
  unit.record({
    action,
    target: { type: "webhook", id: row.id },
    ...(row.customer_id !== null && { customerId: row.customer_id }),
    ...(before !== undefined && { before: recorded(before) }),
    ...(after !== undefined && { after: recorded(after) }),
  });
}

/** Without the secrets. */
function recorded(row: WebhookRow): Record<string, unknown> {
  const { url, description, events, enabled, disabled_reason, previous_secret_expires_at } = row;
  return { url, description, events, enabled, disabled_reason, previous_secret_expires_at };
}

/** The secrets that deliveries are signed with. */
export const SEALED_WEBHOOKS: SealedColumns = {
  table: "webhooks",
  key: ["id"],
  columns: ["secret", "previous_secret"],
  purpose: ({ id = "" }) => secretPurpose(id),
};

function secretPurpose(id: string): string {
  return `webhook.secret:${id}`;
}

function unlessGone(error: unknown): undefined {
  if (error instanceof ApiError && error.code === "WEBHOOK_NOT_FOUND") return undefined;
  throw error;
}

/** The actor for changes by the service itself. */
export const DELIVERER: Actor = { kind: "system", id: "webhooks", name: "webhook deliveries" };
