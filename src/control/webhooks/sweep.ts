import type { BackgroundWork, ControlContext } from "../context.ts";
import { cancelLeftOver, forgetDeliveries } from "./delivery-store.ts";

const EVERY_MS = 60_000;
/** How long the log goes back. */
const KEPT_MS = 30 * 86_400_000;
const AT_ONCE = 5_000;

/** Once a minute: cancels what waits for nobody, and removes what is old. Several instances do no harm. */
export function startSweeping(context: Pick<ControlContext, "db" | "clock" | "log">): BackgroundWork {
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = running
      .then(() => sweep(context))
      .catch((error: unknown) => {
        context.log.warn({ err: error }, "the log of webhook deliveries cannot be swept");
      });
  }, EVERY_MS);
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}

export async function sweep({ db, clock }: Pick<ControlContext, "db" | "clock">): Promise<void> {
  const now = clock();
  await cancelLeftOver(db, new Date(now));
  while ((await forgetDeliveries(db, new Date(now - KEPT_MS), AT_ONCE)) === AT_ONCE);
}
