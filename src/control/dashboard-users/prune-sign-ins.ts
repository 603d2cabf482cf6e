import type { Knex } from "knex";
import type { BackgroundWork, ControlContext } from "../context.ts";
import { IDLE_MS } from "./session-cookie.ts";

const INTERVAL_MS = 600_000;

/** Forgets sessions, links and attempts that are over, every ten minutes. */
export function startDashboardPruning({
  db,
  clock,
  log,
}: Pick<ControlContext, "db" | "clock" | "log">): BackgroundWork {
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = forgetExpiredSignIns(db, new Date(clock())).catch((error: unknown) => {
      log.warn({ err: error }, "what is over of dashboard sign-ins could not be removed; it is later");
    });
  }, INTERVAL_MS).unref();
  return {
    close() {
      clearInterval(timer);
      return running;
    },
  };
}

/** Removes what is over: sessions, links, and attempts that count no more. */
export async function forgetExpiredSignIns(db: Knex, now: Date): Promise<void> {
  await db("dashboard_sessions")
    .where("expires_at", "<=", now)
    .orWhere("last_seen_at", "<=", new Date(now.getTime() - IDLE_MS))
    .delete();
  await db("dashboard_links").where("expires_at", "<=", now).delete();
  await db("dashboard_attempts").where("forget_at", "<=", now).delete();
}
