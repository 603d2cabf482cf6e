import { every } from "../../../runtime/every.ts";
import { inTime } from "../../../runtime/in-time.ts";
import { sleep } from "../../../runtime/sleep.ts";
import { isUnavailable, listen } from "../../../storage/index.ts";
import type { BackgroundWork, ControlContext } from "../../platform/context.ts";
import { guardedFetch } from "../../platform/outbound/guarded-fetch.ts";
import type { Resolve } from "../../platform/outbound/target.ts";
import { attempt } from "./attempt.ts";
import { startClosingWindows } from "./close-windows.ts";
import { CHANNEL } from "./enqueue.ts";
import { claimDue, release, type AttemptRecord, type Claimed } from "./outbox.ts";
import { validSecrets } from "./service.ts";
import { recordAttempt } from "./record-attempt.ts";

/** Attempts under way of one environment in one process. */
const MOST = 512;
/** What all webhooks share of them; the rest is left to those that have nothing under way when many hang at once. */
const SHARED = MOST / 2;
/** How often it looks by itself: for what is due again, and for what a lost connection did not tell. */
const LOOK_MS = 1_000;
/** From one look to the next, however much ends meanwhile: a backlog must not keep the database busy with looks. */
const REST_MS = 10;
/** What a claim outlasts the longest attempt by, to be written down in. */
const MARGIN_MS = 30_000;
/** How long the end waits for attempts that are under way. */
const GRACE_MS = 5_000;

/** Nothing is sent without a signature: a receiver could not distinguish it from a forgery. */
const UNSIGNED: AttemptRecord = {
  response_status: null,
  response_body: null,
  duration_ms: 0,
  error: "the delivery cannot be signed",
};

export interface DeliveryOptions {
  /** Finds addresses; for tests. */
  readonly resolve?: Resolve;
}

/**
 * Delivers what the outbox holds, at least once. Each delivery is claimed for a while before it is sent: if this process
 * dies, another, or this one started again, takes it over when the claim has run out. Any number of instances do the
 * same on one database.
 */
export function startDeliveries(context: ControlContext, options: DeliveryOptions = {}): BackgroundWork {
  const { db, box, clock, settings, log } = context;
  const { timeoutMs, allowPrivateTargets } = settings.webhooks;
  const send = guardedFetch({ ...options, allowPrivate: allowPrivateTargets, timeoutMs });
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  let closing: Promise<void> | undefined;

  /** One look at a time, and a rest; whatever asks for one meanwhile gets another then. */
  const looking = every(
    LOOK_MS,
    async (signal) => {
      try {
        await claimAndStart();
      } finally {
        await sleep(REST_MS, { signal });
      }
    },
    { what: "check for due webhook deliveries", log },
  );
  const look = () => void looking.run();

  async function claimAndStart(): Promise<void> {
    const most = MOST - running.size;
    if (most <= 0) return;
    const now = clock();
    const until = new Date(now + timeoutMs + MARGIN_MS);
    for (const claim of await claimDue(db, { now: new Date(now), until, most, shared: SHARED })) {
      const work = deliver(claim)
        .catch((error: unknown) => {
          // the claim runs out, and it is delivered again
          log.error(
            { err: error, delivery: claim.delivery.id },
            "could not record the result of a webhook delivery",
          );
        })
        .finally(() => {
          running.delete(work);
          look();
        });
      running.add(work);
    }
  }

  async function deliver(claim: Claimed): Promise<void> {
    const record = await attemptOf(claim);
    // ended from here, not by the receiver
    if (stop.signal.aborted && record.response_status === null) await release(db, claim, new Date(clock()));
    else await recordPatiently(claim, record);
  }

  async function attemptOf({ delivery, webhook }: Claimed): Promise<AttemptRecord> {
    const now = new Date(clock());
    const { event_id: eventId, payload } = delivery;
    let secrets: readonly string[];
    try {
      secrets = validSecrets(box, webhook, now);
    } catch (error) {
      log.error(
        { err: error, webhook: webhook.id },
        "cannot decrypt a webhook's secret: check the encryption key",
      );
      return UNSIGNED;
    }
    return attempt(send, { url: webhook.url, eventId, payload, secrets, now, signal: stop.signal });
  }

  /**
   * Retries while the database is briefly unavailable, because a delivery whose result is not recorded is sent again.
   */
  async function recordPatiently(claim: Claimed, record: AttemptRecord): Promise<void> {
    for (let waited = 0; ; waited += LOOK_MS) {
      try {
        await recordAttempt(context, claim, record);
        return;
      } catch (error) {
        if (!isUnavailable(error) || waited >= MARGIN_MS / 2 || stop.signal.aborted) throw error;
        await sleep(LOOK_MS);
      }
    }
  }

  const closingWindows = startClosingWindows(context);
  // what waits already is found when it begins to listen
  const listening = listen(db, CHANNEL, { onNotification: look, onListening: look });

  async function close(): Promise<void> {
    await Promise.all([listening.close(), closingWindows.close(), looking.close()]);
    const ended = Promise.all(running);
    await inTime(ended, GRACE_MS, undefined);
    stop.abort();
    await ended;
  }

  return { close: () => (closing ??= close()) };
}
