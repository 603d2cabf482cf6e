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

/** Maximum number of concurrent attempts per environment and process. */
const MOST = 512;
/**
 * The part that all webhooks share; the rest is for webhooks without attempts in progress, in case many hang at once.
 */
const SHARED = MOST / 2;
/** Polling interval, for retries that are due and for notifications lost with a connection. */
const LOOK_MS = 1_000;
/** Minimum time between two queries, however many attempts end meanwhile: a backlog must not keep the database busy. */
const REST_MS = 10;
/** How much longer a claim lasts than the longest attempt, for recording the result. */
const MARGIN_MS = 30_000;
/** How long closing waits for attempts in progress. */
const GRACE_MS = 5_000;

/** Nothing is sent without a signature: a receiver could not distinguish it from a forgery. */
const UNSIGNED: AttemptRecord = {
  response_status: null,
  response_body: null,
  duration_ms: 0,
  error: "the delivery cannot be signed",
};

export interface DeliveryOptions {
  /** Resolves host names; for tests. */
  readonly resolve?: Resolve;
}

/**
 * Delivers the outbox, at least once. Each delivery is claimed for a while before it is sent: if this process dies,
 * another process, or this one after a restart, takes over when the claim expires. Any number of instances may share a
 * database.
 */
export function startDeliveries(context: ControlContext, options: DeliveryOptions = {}): BackgroundWork {
  const { db, box, clock, settings, log } = context;
  const { timeoutMs, allowPrivateTargets } = settings.webhooks;
  const send = guardedFetch({
    ...{ allowPrivate: allowPrivateTargets, timeoutMs, proxy: settings.egressProxy },
    ...options,
  });
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  let closing: Promise<void> | undefined;

  /** One query at a time, with a pause in between; requests in the meantime cause another one. */
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
          // the claim expires, and it is delivered again
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
    // aborted by us, not by the receiver
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
  // pending deliveries are found when it starts to listen
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
