import type { Knex } from "knex";

/** What an operator sees of webhooks and their deliveries. */
export interface DeliveryCounts {
  readonly active: number;
  /** Their receivers do not answer; they are tried again (`receiver-health.ts`). */
  readonly paused: number;
  readonly disabled: number;
  /** Deliveries that are pending or in progress, up to {@link MOST}. */
  readonly waiting: number;
  /** How long the most overdue delivery of an active webhook has been due; 0 if none is. */
  readonly delaySeconds: number;
}

/** Counting a larger backlog exactly would cost more than its exact size is worth. */
const MOST = 10_000;

/**
 * Counts webhooks by state, and what waits for them. What a paused webhook waits for is counted, and is not overdue: its
 * receiver is the reason.
 */
export async function countDeliveries(db: Knex, now: Date): Promise<DeliveryCounts> {
  const { rows } = await db.raw<{ rows: [DeliveryCounts] }>(
    `with hooks as (
       select id, deliver_after, case when not enabled then 'disabled' when paused_until > :now then 'paused'
                else 'active' end as state
         from webhooks
     )
     select count(*) filter (where state = 'active')::int as active,
            count(*) filter (where state = 'paused')::int as paused,
            count(*) filter (where state = 'disabled')::int as disabled,
            (select count(*) from (
               select from webhook_deliveries where status in ('pending', 'delivering') limit :most
             ) counted)::int as waiting,
            coalesce((
              select extract(epoch from :now - min(first.next_attempt_at))
                from hooks h cross join lateral (
                  select d.next_attempt_at from webhook_deliveries d
                    where d.webhook_id = h.id and d.status in ('pending', 'delivering')
                      and d.next_attempt_at <= :now and d.sequence > h.deliver_after
                    order by d.next_attempt_at limit 1
                ) first
                where h.state = 'active'
            ), 0)::float8 as "delaySeconds"
       from hooks`,
    { now, most: MOST },
  );
  return rows[0];
}
