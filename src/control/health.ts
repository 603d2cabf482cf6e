import { Router } from "express";
import { inTime } from "../runtime/in-time.ts";
import { databaseFailure } from "../storage/index.ts";
import type { CheckStatus } from "../telemetry/check-status.ts";
import type { ControlContext } from "./platform/context.ts";

/** Slightly less than the time that a load balancer waits for an answer. */
const PATIENCE_MS = 4_000;

/** A further dependency of this instance: what is wrong with it, if anything. Must not contain addresses or secrets. */
export type HealthCheck = () => Promise<string | undefined>;

/**
 * `/healthz`: the process responds. `/readyz`: the database responds and matches this version; if not, why. For load
 * balancers, without a key, so it contains no addresses.
 *
 * @param checks - further checks by name, run once the database responds
 */
export function healthRouter(
  { db, log }: Pick<ControlContext, "db" | "log">,
  checks: Readonly<Record<string, HealthCheck>> = {},
): Router {
  const router = Router({ caseSensitive: true });
  let logged = "";
  let asking: Promise<Found> | undefined;
  // concurrent probes share one connection, however long the database takes
  const look = () => (asking ??= ask(db, checks).finally(() => (asking = undefined)));
  router.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });
  router.get("/readyz", async (_request, response) => {
    // a statement may take longer than the caller waits
    const late: Found = { error: new Error("timeout expired"), found: {} };
    const { error, found } = await inTime(look(), PATIENCE_MS, late);
    const detail = error === undefined ? "it responds" : databaseFailure(error);
    const database: CheckStatus = { ok: error === undefined, detail };
    const others = Object.entries(found).map(([name, problem]): [string, CheckStatus] => [
      name,
      { ok: problem === undefined, detail: problem ?? "good" },
    ]);
    const problems = [database, ...others.map(([, status]) => status)].filter(({ ok }) => !ok);
    const problem = problems.map((status) => status.detail).join("; ");
    if (problem !== "" && problem !== logged)
      log.error(error === undefined ? {} : { err: error }, `not ready: ${problem}`);
    logged = problem;
    const ok = problem === "";
    const all = { database, ...Object.fromEntries(others) };
    response.status(ok ? 200 : 503).json({ status: ok ? "ok" : "unavailable", checks: all });
  });
  return router;
}

interface Found {
  /** Why the database does not respond in time. */
  readonly error?: unknown;
  readonly found: Readonly<Record<string, string | undefined>>;
}

async function ask(db: ControlContext["db"], checks: Readonly<Record<string, HealthCheck>>): Promise<Found> {
  try {
    await db.raw("select 1");
    const found: Record<string, string | undefined> = {};
    for (const [name, check] of Object.entries(checks)) found[name] = await check();
    return { found };
  } catch (error) {
    return { error, found: {} };
  }
}
