import type { Knex } from "knex";
import type { BackgroundWork, ControlContext } from "../context.ts";
import { createKeyring } from "../issuer/keyring.ts";

const EVERY_MS = 60_000;
const BATCH = 1_000;
/** A flow that is over is of use to nobody; its end is an event. */
const FLOWS_KEPT_MS = 3_600_000;

/**
 * Rotates keys when no request asks for them, and forgets what is long over: flows, and sessions with their codes and
 * refresh tokens once events of that age are forgotten too. Any number of instances may do so at once.
 */
export function startSignInUpkeep(context: ControlContext): BackgroundWork {
  const keyring = createKeyring(context);
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    try {
      await keyring.published();
      await forget(context);
    } catch (error) {
      context.log.warn({ err: error }, "the upkeep of sign-ins failed; it is tried again in a minute");
    }
  };
  const timer = setInterval(() => {
    running ??= run().finally(() => {
      running = undefined;
    });
  }, EVERY_MS);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}

/** Removes rows in small steps, each passing over what another instance is just removing. */
export async function forget({ db, clock, settings }: ControlContext): Promise<void> {
  const now = clock();
  await removeBefore(db, "sign_in_flows", "expires_at", new Date(now - FLOWS_KEPT_MS));
  await removeBefore(db, "sessions", "alive_until", new Date(now - settings.retention.eventsMs));
}

async function removeBefore(db: Knex, table: string, column: string, time: Date): Promise<void> {
  for (;;) {
    const over = db(table).select("id").where(column, "<", time).limit(BATCH).forUpdate().skipLocked();
    const removed = await db(table).whereIn("id", over).delete();
    if (removed < BATCH) return;
  }
}
