import { onlyCustomerOf } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { ApiError, invalidCustomer } from "../../platform/errors.ts";
import { readPage } from "../../platform/frame/list.ts";
import { ok, page, readRoute, type Route } from "../../platform/frame/route.ts";
import { erasure, erasureAnswer, erasureList, erasureParams } from "./schemas.ts";
import { erasures, type ErasureRow } from "./store.ts";

/** What was deleted, and how far its erasure has come. */
export function erasureRoutes({ db }: ControlContext): Route[] {
  const common = {
    method: "get",
    tag: "Erasures",
    group: "management",
    permission: "read",
    tenancy: "handler",
  } as const;
  return [
    readRoute({
      ...common,
      path: "/erasures",
      operation: "listErasures",
      summary: "List erasures",
      description:
        "Deleted users, customers and dashboard users, until `retention.deleted` has passed and their rows are removed.",
      query: erasureList,
      answers: { 200: erasure.array() },
      paginated: true,
      errors: ["INVALID_CUSTOMER"],
      async read({ query, actor }) {
        const only = onlyCustomerOf(actor);
        const { customer_id: asked, kind, status } = query;
        if (only !== undefined && asked !== undefined && asked !== only) throw invalidCustomer(asked, "path");
        const found = erasures(db, only ?? asked);
        if (kind !== undefined) void found.where({ kind });
        if (status === "running") void found.whereNull("finished_at");
        if (status === "finished") void found.whereNotNull("finished_at");
        const columns = { id: "id", requested_at: "requested_at" };
        const { rows, total } = await readPage<ErasureRow>(found, query, columns);
        return page(rows.map(erasureAnswer), { ...query, total });
      },
    }),
    readRoute({
      ...common,
      path: "/erasures/{id}",
      operation: "getErasure",
      summary: "Read the progress of an erasure",
      description: "By the id of the deleted user, customer or dashboard user.",
      params: erasureParams,
      answers: { 200: erasure },
      errors: ["ERASURE_NOT_FOUND"],
      async read({ params, actor }) {
        const row = await erasures(db, onlyCustomerOf(actor))
          .where({ id: params.id })
          .first<ErasureRow | undefined>();
        if (row === undefined) throw new ApiError("ERASURE_NOT_FOUND", { details: { id: params.id } });
        return ok(erasureAnswer(row));
      },
    }),
  ];
}
