import { Router } from "express";
import { inTime } from "../decision/in-time.ts";
import { databaseFailure } from "../storage/index.ts";
import type { CheckStatus } from "../telemetry/check-status.ts";
import type { ControlContext } from "./context.ts";

/** How long a load balancer waits for an answer, and a little less. */
const PATIENCE_MS = 4_000;

/**
 * `/healthz`: the process answers. `/readyz`: so does its database, and if not, why. For load balancers, without a key; so it
 * names no address.
 */
export function healthRouter({ db, log }: Pick<ControlContext, "db" | "log">): Router {
  const router = Router();
  let told = "";
  router.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });
  router.get("/readyz", async (_request, response) => {
    const problem = await problemOf(db);
    const detail = problem === undefined ? "it answers" : databaseFailure(problem.error);
    const database: CheckStatus = { ok: problem === undefined, detail };
    if (problem !== undefined && detail !== told) log.error({ err: problem.error }, `not ready: ${detail}`);
    told = database.ok ? "" : database.detail;
    const { ok } = database;
    response.status(ok ? 200 : 503).json({ status: ok ? "ok" : "unavailable", checks: { database } });
  });
  return router;
}

/** @returns what keeps the database from answering in time, if anything does */
async function problemOf(db: ControlContext["db"]): Promise<{ readonly error: unknown } | undefined> {
  const asked = db.raw("select 1").then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  // the pool would try for longer
  return inTime(asked, PATIENCE_MS, { error: new Error("timeout expired") });
}
