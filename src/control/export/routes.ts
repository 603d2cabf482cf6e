import { onlyCustomerOf } from "../platform/actor.ts";
import type { ControlContext } from "../platform/context.ts";
import { writeRoute, type Route } from "../platform/frame/route.ts";
import { userParams } from "../resources/users/schemas.ts";
import { requireUser } from "../resources/users/service.ts";
import { exportUser, userExport } from "./export-user.ts";

/**
 * What is kept of a user, in every room.
 *
 * @param analytics - over the connections that long reads of the trail have
 */
export function exportRoutes(analytics: ControlContext): Route[] {
  return [
    writeRoute({
      tag: "Users",
      group: "analytics",
      method: "get",
      path: "/users/{id}/export",
      operation: "exportUser",
      summary: "Export all data about a user",
      description:
        "One JSON document with profile, activity, sessions, events, refused sign-ins, decisions and changes, as far back as they are stored. Keys that are limited to the customer get what is recorded under that customer. The audit trail records who requested it.",
      permission: "read",
      tenancy: "handler",
      params: userParams,
      answers: { 200: userExport },
      headers: {
        "Content-Disposition": {
          description: "The name of the file to save it as.",
          type: "string",
          required: true,
        },
      },
      errors: ["USER_NOT_FOUND"],
      async write({ params, actor }, unit) {
        const row = await requireUser(unit.trx, actor, params.id);
        unit.record({
          action: "user.exported",
          target: { type: "user", id: row.id },
          customerId: row.customer_id,
        });
        const options = { now: unit.now, only: onlyCustomerOf(actor) };
        return { kind: "document", name: row.id, parts: exportUser(analytics, row, options) };
      },
    }),
  ];
}
