import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { inTime } from "../../runtime/in-time.ts";
import { listen } from "../../storage/index.ts";
import type { BackgroundWork, ControlContext } from "../../control/platform/context.ts";
import type { DeliveryThreadData } from "./delivery-thread.ts";
import { CHANNEL } from "../../control/resources/webhooks/enqueue.ts";

/** Delay before restarting a thread that died, and before querying an unavailable database again. */
const AGAIN_MS = 1_000;
/** Time for deliveries in progress to end, with a margin. */
const END_MS = 15_000;

export interface DeliveryThreadOptions extends Omit<DeliveryThreadData, "settings"> {
  /** Receives each thread; for tests. */
  readonly onThread?: (thread: Worker) => void;
}

/**
 * Delivers in a separate thread for each environment, with its own event loop and connections and a lower priority, so
 * that a backlog delays no requests, in this environment or the other. The thread starts with the first delivery: an
 * environment without webhooks has none.
 */
export function startDeliveryThread(
  { db, settings, log }: Pick<ControlContext, "db" | "settings" | "log">,
  { onThread, ...rest }: DeliveryThreadOptions,
): BackgroundWork {
  let thread: Worker | undefined;
  let closing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let lookAgain = false;

  function begin(): void {
    if (thread !== undefined || closing !== undefined) return;
    void listening.close();
    const workerData: DeliveryThreadData = { ...rest, settings };
    const started = new Worker(SCRIPT, { workerData });
    thread = started;
    // `exit` follows
    started.on("error", (error: unknown) => {
      log.error({ err: error }, "the webhook delivery thread failed; restarting it");
    });
    started.once("exit", () => {
      thread = undefined;
      if (closing === undefined) timer = setTimeout(begin, AGAIN_MS);
    });
    onThread?.(started);
  }

  /** One query at a time; announcements in the meantime cause another one. */
  function look(): void {
    if (thread !== undefined || closing !== undefined) return;
    if (looking !== undefined) {
      lookAgain = true;
      return;
    }
    lookAgain = false;
    looking = hasWork()
      .then((found) => {
        if (found) begin();
      })
      .catch(() => {
        if (closing === undefined) timer = setTimeout(look, AGAIN_MS);
      })
      .finally(() => {
        looking = undefined;
        if (lookAgain) look();
      });
  }

  async function hasWork(): Promise<boolean> {
    const { rows } = await db.raw<{ rows: { found: boolean }[] }>(
      `select exists (select from webhook_deliveries where status in ('pending', 'delivering'))
           or exists (select from webhook_windows) as found`,
    );
    return rows[0]?.found === true;
  }

  async function close(): Promise<void> {
    clearTimeout(timer);
    await Promise.all([listening.close(), looking]);
    const ending = thread;
    if (ending === undefined) return;
    const { promise: ended, resolve } = Promise.withResolvers<undefined>();
    const end = () => {
      resolve(undefined);
    };
    ending.once("message", end).once("exit", end);
    ending.postMessage("end");
    await inTime(ended, END_MS, undefined);
    await ending.terminate();
  }

  // deliveries that are already waiting are found when it starts to listen
  const listening = listen(db, CHANNEL, { onNotification: look, onListening: look });
  return { close: () => (closing ??= close()) };
}

/** `.ts`, or `.js` in the published package. */
const EXTENSION = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
const SCRIPT = fileURLToPath(new URL(`./delivery-thread${EXTENSION}`, import.meta.url));
