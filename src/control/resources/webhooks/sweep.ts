import type { ControlContext } from "../../platform/context.ts";
import { cancelLeftOver, forgetDeliveries } from "./delivery-store.ts";
import { forgetPreviousSecrets } from "./store.ts";

/** How long the log is kept. */
const KEPT_MS = 30 * 86_400_000;
const AT_ONCE = 5_000;

/** Cancels deliveries that nobody waits for, and removes old ones and replaced secrets. Several instances may run it. */
export async function sweep(
  { db, clock }: Pick<ControlContext, "db" | "clock">,
  signal?: AbortSignal,
): Promise<void> {
  const now = clock();
  await cancelLeftOver(db, new Date(now));
  await forgetPreviousSecrets(db, new Date(now));
  const before = new Date(now - KEPT_MS);
  while (signal?.aborted !== true && (await forgetDeliveries(db, before, AT_ONCE)) === AT_ONCE);
}
