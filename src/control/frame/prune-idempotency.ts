import type { BackgroundWork, ControlContext } from "../context.ts";
import { forgetExpiredKeys } from "./idempotency.ts";

const INTERVAL_MS = 600_000;

/** Forgets answers that nobody can ask for again, every ten minutes. */
export function startIdempotencyPruning({
  db,
  clock,
  log,
}: Pick<ControlContext, "db" | "clock" | "log">): BackgroundWork {
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = forgetExpiredKeys(db, new Date(clock())).catch((error: unknown) => {
      log.warn({ err: error }, "expired idempotency keys could not be removed; they are later");
    });
  }, INTERVAL_MS).unref();
  return {
    close() {
      clearInterval(timer);
      return running;
    },
  };
}
