import type { Knex } from "knex";
import type { Actor } from "../../../platform/actor.ts";
import type { ControlContext } from "../../../platform/context.ts";
import { ApiError, validationFailed } from "../../../platform/errors.ts";
import { readPage } from "../../../platform/frame/list.ts";
import { ok, page, readRoute, writeRoute, type Route } from "../../../platform/frame/route.ts";
import { newId } from "../../../platform/ids.ts";
import { namedActor } from "../../../platform/named-actor.ts";
import { requireActiveSet } from "../required-sets.ts";
import { requirePolicy } from "../store.ts";
import { bulk, bulkAnswer, bulkList, bulkPath, newBulk } from "./schemas.ts";
import {
  customersAhead,
  requireBulk,
  selected,
  selectionAtEnd,
  type BulkRow,
  type Requester,
} from "./store.ts";

/** They take turns: more only wait for each other. */
const MOST_RUNNING = 20;
const BODY_BYTES = 1024 * 1024;
const MOST_NAMED = 20;

const common = { tag: "Policies", group: "management", tenancy: "all" } as const;

/** One policy for many customers: asked for at once, done in the background, and watched. */
export function bulkRoutes({ db }: ControlContext): Route[] {
  return [
    writeRoute({
      ...common,
      method: "post",
      path: "/policies/{id}/assignments",
      operation: "assignPolicyInBulk",
      summary: "Assign a policy to many customers",
      description:
        "Or remove it, or count beforehand which open sessions it would refuse. Done in the background, a few customers at a time, each as by its own request: a customer that it fails for does not hold up the others. It stops if the key that asked for it is revoked, or the session of the dashboard is signed out.",
      permission: "configure",
      params: bulkPath,
      body: newBulk,
      bodyLimit: BODY_BYTES,
      answers: { 202: bulk },
      errors: ["POLICY_NOT_FOUND", "POLICY_SET_NOT_ACTIVE", "CONFLICT"],
      write: async ({ params, body, actor }, unit) => {
        const { trx, now } = unit;
        const policy = await requirePolicy(trx, params.id, undefined);
        const { action, customers } = body;
        if (action === "assign") await requireActiveSet(trx, policy.conditions);
        const row = { selection: customers, requested_at: now, ahead: await customersAhead(trx, now) };
        if ("ids" in customers) requireAll(await selected(trx, row).pluck<string[]>("id"), customers.ids);
        const open = await trx("bulk_assignments")
          .whereNull("ended_at")
          .count({ n: "*" })
          .first<{ n: number }>();
        if (open.n >= MOST_RUNNING)
          throw new ApiError("CONFLICT", {
            message: `${MOST_RUNNING} assignments are running; wait for one of them, or cancel it`,
            details: { limit: MOST_RUNNING },
          });
        const total = await selected(trx, row).count({ n: "*" }).first<{ n: number }>();
        const id = newId("bulkAssignment");
        const [inserted] = await trx("bulk_assignments")
          .insert({
            ...{ id, policy_id: policy.id, action, selection: JSON.stringify(customers) },
            requested_by: JSON.stringify(await requesterOf(trx, actor)),
            ...{ requested_at: now, ahead: row.ahead, total: total.n },
          })
          .returning<BulkRow[]>("*");
        if (inserted === undefined) throw new Error("the row was not returned");
        unit.record({
          action: "policy.bulk_assignment_requested",
          target: { type: "policy", id: policy.id },
          after: { id, action, customers: total.n },
        });
        return { kind: "data", status: 202, data: bulkAnswer(inserted) };
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/bulk-assignments",
      operation: "listBulkAssignments",
      summary: "List assignments to many customers",
      description: "Those that are running, and those of the last 30 days.",
      permission: "read",
      query: bulkList,
      answers: { 200: bulk.array() },
      paginated: true,
      read: async ({ query }) => {
        // the ids that were named can be many
        const found = db("bulk_assignments").select(
          ...[
            "id",
            "policy_id",
            "action",
            "requested_by",
            "requested_at",
            "total",
            "done",
            "changed",
            "failures",
          ],
          ...["failed", "impact", "ended_at", "outcome", "problem"],
          db.raw("? as selection", [selectionAtEnd(db)]),
        );
        if (query.policy_id !== undefined) void found.where({ policy_id: query.policy_id });
        if (query.status === "running") void found.whereNull("ended_at");
        else if (query.status !== undefined) void found.where({ outcome: query.status });
        const columns = { id: "id", requested_at: "requested_at" };
        const { rows, total } = await readPage<BulkRow>(found, query, columns);
        return page(rows.map(bulkAnswer), { ...query, total });
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/bulk-assignments/{id}",
      operation: "getBulkAssignment",
      summary: "Read the progress of an assignment to many customers",
      permission: "read",
      params: bulkPath,
      answers: { 200: bulk },
      errors: ["BULK_ASSIGNMENT_NOT_FOUND"],
      read: async ({ params }) => ok(bulkAnswer(await requireBulk(db, params.id))),
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/bulk-assignments/{id}/cancel",
      operation: "cancelBulkAssignment",
      summary: "Cancel an assignment to many customers",
      description: "What was done until then stays. One that has ended stays as it is.",
      permission: "configure",
      params: bulkPath,
      answers: { 200: bulk },
      errors: ["BULK_ASSIGNMENT_NOT_FOUND"],
      write: async ({ params }, unit) => {
        const { trx, now } = unit;
        const ended = await trx("bulk_assignments")
          .where({ id: params.id })
          .whereNull("ended_at")
          .update({ ended_at: now, outcome: "cancelled", selection: selectionAtEnd(trx) });
        const row = await requireBulk(trx, params.id);
        if (ended > 0)
          unit.record({
            action: "policy.bulk_assignment_cancelled",
            target: { type: "policy", id: row.policy_id },
            after: { id: row.id, done: row.done, total: row.total, changed: row.changed },
          });
        return ok(bulkAnswer(row));
      },
    }),
  ];
}

/** The name of a person is not kept with it: it is read when it is written to the audit trail. */
async function requesterOf(trx: Knex.Transaction, actor: Actor): Promise<Requester> {
  const { kind, id, name } = await namedActor(trx, actor);
  if (actor.kind === "dashboard_user") return { kind, id, session_id: actor.sessionId };
  return { kind, id, ...(name !== undefined && { name }) };
}

function requireAll(found: readonly string[], ids: readonly string[]): void {
  const known = new Set(found);
  const missing = ids.flatMap((id, index) =>
    known.has(id) ? [] : [{ path: `customers.ids.${index}`, message: "is not an existing customer" }],
  );
  if (missing.length > 0) throw validationFailed(missing.slice(0, MOST_NAMED));
}
