import { onlyCustomerOf } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { ApiError } from "../../platform/errors.ts";
import { whereEnded, whereOpen } from "../../platform/open-sessions.ts";
import { readPage } from "../../platform/frame/list.ts";
import { ok, page, readRoute, writeRoute, type Route } from "../../platform/frame/route.ts";
import { revokeSession } from "./end.ts";
import { currentSession, type StoredSession } from "./endings.ts";
import { sessionAnswer, sessionList, sessionParams, sessionSchema } from "./schemas.ts";
import { findSession, sessions } from "./store.ts";

const COLUMNS = {
  id: "id",
  created_at: "created_at",
  last_used_at: "last_used_at",
  expires_at: "expires_at",
} as const;

/** Sessions, for administrators. */
export function sessionRoutes(context: ControlContext): Route[] {
  const common = { tag: "Sessions", group: "management", tenancy: "handler" } as const;
  return [
    readRoute({
      ...common,
      method: "get",
      path: "/sessions",
      operation: "listSessions",
      summary: "List sessions",
      permission: "read",
      query: sessionList,
      answers: { 200: sessionSchema.array() },
      paginated: true,
      async read({ query, actor }) {
        const now = new Date(context.clock());
        const only = onlyCustomerOf(actor);
        const asked = query.customer_id;
        // a filter by customer shows the part that the key may see, which is nothing
        const found = sessions(context.db, actor);
        if (asked !== undefined && (only === undefined || asked === only))
          void found.where("customer_id", asked);
        else if (asked !== undefined) void found.whereRaw("false");
        if (query.user_id !== undefined) void found.where("user_id", query.user_id);
        if (query.created_after !== undefined) void found.where("created_at", ">", query.created_after);
        if (query.created_before !== undefined) void found.where("created_at", "<", query.created_before);
        if (query.status === "ended") whereEnded(found);
        else if (query.status !== undefined)
          void found.modify(whereOpen).where("alive_until", query.status === "active" ? ">" : "<=", now);
        const { rows, total } = await readPage<StoredSession>(found, query, COLUMNS);
        const items = rows.map((row) => sessionAnswer(currentSession(row), now));
        return page(items, { page: query.page, limit: query.limit, total });
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/sessions/{id}",
      operation: "getSession",
      summary: "Read a session",
      permission: "read",
      params: sessionParams,
      answers: { 200: sessionSchema },
      errors: ["SESSION_NOT_FOUND"],
      async read({ params, actor }) {
        const row = await findSession(context.db, actor, params.id);
        if (row === undefined) throw new ApiError("SESSION_NOT_FOUND");
        return ok(sessionAnswer(row, new Date(context.clock())));
      },
    }),
    writeRoute({
      ...common,
      method: "delete",
      path: "/sessions/{id}",
      operation: "revokeSession",
      summary: "Revoke a session",
      description:
        "Ends the session: its tokens can no longer be refreshed, and gateways refuse them at once. A session that has already ended is not changed.",
      permission: "configure",
      params: sessionParams,
      answers: { 200: sessionSchema },
      errors: ["SESSION_NOT_FOUND"],
      async write({ params, actor }, unit) {
        const row = await findSession(unit.trx, actor, params.id);
        if (row === undefined) throw new ApiError("SESSION_NOT_FOUND");
        await revokeSession(unit, row);
        const after = await findSession(unit.trx, actor, params.id);
        return ok(sessionAnswer(after ?? row, unit.now));
      },
    }),
  ];
}
