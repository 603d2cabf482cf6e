import { Router } from "express";
import type { ControlContext } from "./context.ts";

/** `/healthz`: the process answers. `/readyz`: so does its database. For load balancers, without a key. */
export function healthRouter({ db }: Pick<ControlContext, "db">): Router {
  const router = Router();
  router.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });
  router.get("/readyz", async (_request, response) => {
    const ready = await db.raw("select 1").then(
      () => true,
      () => false,
    );
    response
      .status(ready ? 200 : 503)
      .json({ status: ready ? "ok" : "unavailable", checks: { database: ready } });
  });
  return router;
}
