import type { Knex } from "knex";
import type { DeliveryRow } from "./delivery-store.ts";
import type { WebhookRow } from "./store.ts";

/** Maximum number of concurrent deliveries per webhook, over all instances: a receiver that hangs can block no more. */
const PER_WEBHOOK = 4;
/** Number of consecutive attempts without a response after which sending is paused; then one delivery is tried. */
export const FAILURES_TO_PAUSE = 3;

/** A delivery claimed by this instance until the claim expires, with its target. */
export interface Claimed {
  readonly delivery: Pick<
    DeliveryRow,
    "id" | "webhook_id" | "event_id" | "payload" | "retried" | "attempts" | "created_at"
  >;
  readonly webhook: Pick<
    WebhookRow,
    "id" | "url" | "secret" | "previous_secret" | "previous_secret_expires_at"
  >;
}

/** The result of an attempt, as shown in the log. */
export interface AttemptRecord {
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly duration_ms: number;
  readonly error: string | null;
}

export interface ClaimOptions {
  readonly now: Date;
  /** When others may take over the deliveries, in case this process has died. */
  readonly until: Date;
  /** Maximum number of claims. */
  readonly most: number;
  /**
   * The number that all webhooks with pending deliveries share evenly, but at least one each. Default: only the limit
   * per webhook applies.
   */
  readonly shared?: number;
}

/**
 * `waiting` walks the index from one webhook to the next, so that the backlog of one need not be read to find the
 * others; `due` reads no more per webhook than it may claim, by priority and then by time. If two instances query at
 * once, each row is locked by one and skipped by the other, and a row that was claimed meanwhile no longer matches when
 * its lock is acquired (PostgreSQL, section 13.2.1).
 */
const CLAIM = `
  with recursive waiting (id) as (
    (select webhook_id from webhook_deliveries where status in ('pending', 'delivering')
       order by webhook_id limit 1)
    union all
    select (select d.webhook_id from webhook_deliveries d
              where d.status in ('pending', 'delivering') and d.webhook_id > waiting.id
              order by d.webhook_id limit 1)
      from waiting where waiting.id is not null
  ),
  receivers as (
    select w.id, w.deliver_after, busy.count as busy,
           greatest(0, least(
             case when w.failures >= :toPause::int then 1 else :perWebhook::bigint end,
             greatest(1, :shared::bigint / count(*) over ())
           ) - busy.count) as room
      from waiting
      join webhooks w on w.id = waiting.id and w.enabled
        and (w.paused_until is null or w.paused_until <= :now)
      cross join lateral (
        select count(*) from webhook_deliveries d
          where d.webhook_id = w.id and d.status = 'delivering' and d.next_attempt_at > :now
      ) busy
  ),
  due as (
    select next.id, next.priority, next.next_attempt_at, next.sequence,
           r.busy + row_number() over (
             partition by r.id order by next.priority, next.next_attempt_at, next.sequence
           ) as place
      from receivers r
      cross join lateral (
        select d.id, d.priority, d.next_attempt_at, d.sequence
          from (values (0), (1), (2)) as level (priority)
          cross join lateral (
            select d.id, d.priority, d.next_attempt_at, d.sequence from webhook_deliveries d
              where d.webhook_id = r.id and d.priority = level.priority
                and d.status in ('pending', 'delivering')
                and d.next_attempt_at <= :now and d.sequence > r.deliver_after
              order by d.next_attempt_at, d.sequence
              limit r.room
          ) d
          order by d.priority, d.next_attempt_at, d.sequence
          limit r.room
      ) next
  ),
  chosen as (
    select id from due order by place, priority, next_attempt_at, sequence limit :most::int
  ),
  mine as (
    select d.id from webhook_deliveries d join chosen on chosen.id = d.id
      where d.status in ('pending', 'delivering') and d.next_attempt_at <= :now
      for update of d skip locked
  )
  update webhook_deliveries d
    set status = 'delivering', attempts = d.attempts + 1, next_attempt_at = :until, last_attempt_at = :now
    from mine, webhooks w
    where d.id = mine.id and w.id = d.webhook_id
    returning d.id, d.sequence, d.priority, d.webhook_id, d.event_id, d.payload, d.retried, d.attempts, d.created_at,
              w.url, w.secret, w.previous_secret, w.previous_secret_expires_at`;

/**
 * Claims deliveries that are due: per webhook in order of priority, and webhooks with the fewest deliveries in progress
 * first.
 */
export async function claimDue(db: Knex, options: ClaimOptions): Promise<Claimed[]> {
  const { rows } = await db.raw<{ rows: ClaimedColumns[] }>(CLAIM, claimBindings(options));
  return rows.sort((a, b) => a.priority - b.priority || a.sequence - b.sequence).map(claimedOf);
}

/** The database's query plan, for tests. @returns the output of `explain` */
export async function explainClaim(db: Knex, options: ClaimOptions): Promise<unknown> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `explain (format json, costs off) ${CLAIM}`,
    claimBindings(options),
  );
  return rows[0];
}

function claimBindings({ shared = Number.MAX_SAFE_INTEGER, ...options }: ClaimOptions): Knex.ValueDict {
  return { ...options, shared, perWebhook: PER_WEBHOOK, toPause: FAILURES_TO_PAUSE };
}

type ClaimedColumns = Claimed["delivery"] &
  Omit<Claimed["webhook"], "id"> & { readonly sequence: number; readonly priority: number };

function claimedOf(row: ClaimedColumns): Claimed {
  const { id, webhook_id, event_id, payload, retried, attempts, created_at } = row;
  const { url, secret, previous_secret, previous_secret_expires_at } = row;
  return {
    delivery: { id, webhook_id, event_id, payload, retried, attempts, created_at },
    webhook: { id: webhook_id, url, secret, previous_secret, previous_secret_expires_at },
  };
}

/** Finishes the delivery. @returns whether the claim was still valid */
export async function endDelivery(
  db: Knex,
  claim: Claimed,
  status: "delivered" | "failed",
  record: AttemptRecord,
  now: Date,
): Promise<boolean> {
  const changed = await stillClaimed(db, claim).update({
    ...recordColumns(db, claim, record),
    status,
    next_attempt_at: null,
    finished_at: now,
  });
  return changed === 1;
}

/** The delivery will be retried. */
export async function postpone(db: Knex, claim: Claimed, record: AttemptRecord, at: Date): Promise<void> {
  const columns = recordColumns(db, claim, record);
  await stillClaimed(db, claim).update({ ...columns, status: "pending", next_attempt_at: at });
}

/** Returns a claim without an attempt, for the next caller. */
export async function release(db: Knex, claim: Claimed, now: Date): Promise<void> {
  await stillClaimed(db, claim).update({ status: "pending", next_attempt_at: now });
}

/** Whether the webhook has accepted anything since then. */
export async function hasSucceeded(db: Knex, webhookId: string, since: Date): Promise<boolean> {
  const row: unknown = await db("webhook_deliveries")
    .where({ webhook_id: webhookId, status: "delivered" })
    .where("finished_at", ">=", since)
    .first("id");
  return row !== undefined;
}

/** The next claim increments the number of attempts, so an expired claim cannot change anything. */
function stillClaimed(db: Knex, { delivery: { id, attempts } }: Claimed): Knex.QueryBuilder {
  return db("webhook_deliveries").where({ id, attempts, status: "delivering" });
}

/**
 * A receiver may return what it was sent: if an erasure has changed the payload meanwhile, the response is not stored.
 */
function recordColumns(db: Knex, { delivery: { payload } }: Claimed, record: AttemptRecord): object {
  const response_body = db.raw("case when payload = ?::text then ?::text end", [
    payload,
    record.response_body,
  ] as Knex.RawBinding[]);
  return { ...record, response_body };
}
