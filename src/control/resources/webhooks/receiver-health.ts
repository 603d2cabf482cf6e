import type { Knex } from "knex";
import { FAILURES_TO_PAUSE, type AttemptRecord, type Claimed } from "./outbox.ts";

const FIRST_PAUSE_MS = 5_000;
/** The longest pause. A receiver that is back gets its pending deliveries within this time. */
const LONGEST_PAUSE_MS = 300_000;

/**
 * Statuses of a receiver that accepts nothing at the moment (RFC 6585, section 4, and RFC 9110, sections 15.6.3 to
 * 15.6.5); any other may concern only the one event.
 */
const UNAVAILABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * A circuit breaker: nothing is sent to a receiver that does not respond, otherwise each of its deliveries would wait
 * for the timeout. After the pause, one delivery is tried; a response resumes the others, and without one the next
 * pause is twice as long.
 */
export async function recordHealth(
  db: Knex,
  { webhook: { id } }: Claimed,
  record: AttemptRecord,
  now: Date,
  random: () => number = Math.random,
): Promise<void> {
  if (isAnswer(record)) {
    // others may have failed since this one was claimed
    await db("webhooks").where({ id }).where("failures", ">", 0).update({ failures: 0, paused_until: null });
    return;
  }
  await db.raw(
    `update webhooks set failures = failures + 1, paused_until = case when failures + 1 >= :toPause::int then
       :now::timestamptz + interval '1 millisecond' * :chance::float8
         * least(:first::float8 * power(2, least(failures + 1 - :toPause::int, 20)), :longest::float8)
     end
     where id = :id and enabled`,
    {
      id,
      now,
      toPause: FAILURES_TO_PAUSE,
      first: FIRST_PAUSE_MS,
      longest: LONGEST_PAUSE_MS,
      // deliveries that failed together are not retried together
      chance: 0.8 + 0.4 * random(),
    },
  );
}

function isAnswer({ response_status: status }: AttemptRecord): boolean {
  return status !== null && !UNAVAILABLE.has(status);
}

/** Lets the next delivery be tried at once. */
export async function endPause(trx: Knex, webhookId: string, now: Date): Promise<void> {
  await trx("webhooks")
    .where({ id: webhookId })
    .where("paused_until", ">", now)
    .update({ paused_until: now });
}
