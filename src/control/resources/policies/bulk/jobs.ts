import type { Knex } from "knex";
import { backoffMs } from "../../../../runtime/backoff.ts";
import { errorCode } from "../../../../runtime/error-code.ts";
import { isUnavailable } from "../../../../storage/index.ts";
import { lockCustomer } from "../../../tenancy/customers.ts";
import type { ControlContext } from "../../../platform/context.ts";
import { ApiError } from "../../../platform/errors.ts";
import { newId } from "../../../platform/ids.ts";
import type { Actor } from "../../../platform/actor.ts";
import type { UnitOfWork } from "../../../platform/unit.ts";
import { assignPolicies, unassignPolicy } from "../assignments.ts";
import { impactOf, type PolicyImpact } from "../impact.ts";
import { POLICY_COLUMNS, type PolicyRow } from "../store.ts";
import {
  selected,
  selectionAtEnd,
  type BulkFailure,
  type BulkImpact,
  type BulkRow,
  type Requester,
  type Selection,
} from "./store.ts";

/** Customers of one transaction: whoever wants them, or the right to this, waits no longer than for these. */
const BATCH = { assign: 25, unassign: 25, preview: 5 } as const;
const MOST_FAILURES = 100;
const MOST_EXAMPLES = 100;
const KEPT_DAYS = 30;
const LOCK_WAIT_MS = 1_000;
/** SQLSTATE: it waited for so long. */
const LOCK_NOT_AVAILABLE = "55P03";
/** With these pauses, about eight minutes. */
const MOST_ATTEMPTS = 10;
const RETRY = { firstMs: 1_000, longestMs: 300_000, jitter: [1, 1] } as const;

const SYSTEM = { kind: "system", id: "bulk-assignment", name: "bulk assignment" } as const;

type Dependencies = Pick<ControlContext, "db" | "units" | "clock" | "log">;

/** Whether those who asked for something may still do it, and locks that until the transaction ends. */
export type MayStill = (trx: Knex.Transaction, requester: Requester, now: Date) => Promise<boolean>;

/** The whole ends, and what this batch has done is undone. */
class Ends extends Error {}

/** Goes on with all bulk assignments until they have ended, a few customers at a time. Any number of instances may. */
export async function runBulkAssignments(
  dependencies: Dependencies,
  mayStill: MayStill,
  signal?: AbortSignal,
): Promise<void> {
  const { db, clock } = dependencies;
  await db("bulk_assignments")
    .where("ended_at", "<", new Date(clock() - KEPT_DAYS * 86_400_000))
    .delete();
  while (signal?.aborted !== true && (await doSome(dependencies, mayStill)));
}

/** One batch of one of them. @returns false where there is nothing left to do now */
async function doSome(dependencies: Dependencies, mayStill: MayStill): Promise<boolean> {
  const { db, units, clock } = dependencies;
  // without locks: each batch finds out again
  const next = await db("bulk_assignments")
    .whereNull("ended_at")
    .whereRaw("coalesce(next_attempt_at <= ?, true)", [new Date(clock())])
    .orderByRaw("random()")
    .first<BulkRow | undefined>("id", "requested_by", "attempts");
  if (next === undefined) return false;
  const origin = { actor: actorOf(next.requested_by), requestId: newId("request"), clientIp: "" };
  try {
    return await units(origin, async (unit) => {
      const { trx, now } = unit;
      // sign-ins of customers that are locked already must not wait for one that somebody else holds
      await trx.raw(`set local lock_timeout to ${LOCK_WAIT_MS}`);
      const row = await trx("bulk_assignments")
        .where({ id: next.id })
        .whereNull("ended_at")
        .forUpdate()
        .skipLocked()
        .first<BulkRow | undefined>();
      // it has just ended, or another instance is at it
      if (row === undefined) return false;
      unit.beforeCommit(async () => {
        if (!(await mayStill(trx, row.requested_by, now)))
          throw new Ends("the key or account that asked for it no longer has the right to");
      });
      await advance(unit, row);
      return true;
    });
  } catch (error) {
    await noteFailure(dependencies, next, error);
    return true;
  }
}

/** It ends, or is tried again later: the others go on. */
async function noteFailure(
  { db, units, clock, log }: Dependencies,
  { id, attempts: before }: Pick<BulkRow, "id" | "attempts">,
  error: unknown,
): Promise<void> {
  // that is others' work, or the database's: it says nothing about this
  const isWait = isUnavailable(error) || errorCode(error) === LOCK_NOT_AVAILABLE;
  const attempts = isWait ? before : before + 1;
  const ends = error instanceof Ends || attempts >= MOST_ATTEMPTS;
  log.warn({ err: error, bulk_assignment: id, attempts, ends }, "a bulk assignment has failed");
  if (!ends) {
    const next = new Date(clock() + backoffMs(Math.max(1, attempts), RETRY));
    await db("bulk_assignments")
      .where({ id })
      .whereNull("ended_at")
      .update({ attempts, next_attempt_at: next });
    return;
  }
  const problem =
    error instanceof Ends ? error.message : `failed ${attempts} times in a row; see the control plane's log`;
  await units({ actor: SYSTEM, requestId: newId("request"), clientIp: "" }, async (unit) => {
    const [row] = await unit
      .trx("bulk_assignments")
      .where({ id })
      .whereNull("ended_at")
      .update({ ended_at: unit.now, outcome: "failed", problem, selection: selectionAtEnd(db) })
      .returning<BulkRow[]>("*");
    if (row === undefined) return;
    const { policy_id, action, changed, failed, done, total } = row;
    unit.record({
      action: "policy.bulk_assignment_failed",
      target: { type: "policy", id: policy_id },
      after: { id, action, changed, failed, done, total, problem },
    });
  });
}

async function advance(unit: UnitOfWork, row: BulkRow): Promise<void> {
  const { trx, now } = unit;
  const policy = await trx("policies")
    .where({ id: row.policy_id })
    .first<PolicyRow | undefined>(...POLICY_COLUMNS);
  if (policy === undefined) throw new Ends("the policy was deleted");
  const { selection } = row;
  if ("ids" in selection && typeof selection.ids === "number") throw new Error("it has ended");
  const open = { ...row, selection: selection as Selection };
  const found = await selected(trx, open)
    .where("id", ">", row.position)
    .orderBy("id")
    .limit(BATCH[row.action] + 1)
    .pluck<string[]>("id");
  const ids = found.slice(0, BATCH[row.action]);
  let { changed, impact } = row;
  const failures: BulkFailure[] = [];
  for (const id of ids) {
    const result =
      row.action === "preview" ? await preview(trx, policy, id, now) : await change(unit, open, id);
    if (result === "as it is") continue;
    if (result === "changed") changed += 1;
    else if ("code" in result) failures.push({ customer_id: id, ...result });
    else {
      changed += 1;
      impact = withImpact(impact, id, result);
    }
  }
  const isOver = found.length === ids.length;
  await trx("bulk_assignments")
    .where({ id: row.id })
    .update({
      ...{ done: row.done + ids.length, changed, failed: row.failed + failures.length },
      ...{ position: ids.at(-1) ?? row.position, attempts: 0, next_attempt_at: null },
      failures: JSON.stringify([...row.failures, ...failures].slice(0, MOST_FAILURES)),
      impact: impact === null ? null : JSON.stringify(impact),
      ...(isOver && { ended_at: now, outcome: "finished", selection: selectionAtEnd(trx) }),
    });
  if (isOver)
    unit.record({
      action: "policy.bulk_assignment_finished",
      target: { type: "policy", id: row.policy_id },
      after: {
        ...{ id: row.id, action: row.action, changed, failed: row.failed + failures.length },
        ...{ done: row.done + ids.length, total: row.total },
      },
    });
}

async function isAssigned(trx: Knex, policyId: string, customerId: string): Promise<boolean> {
  const found: unknown = await trx("policy_assignments")
    .where({ policy_id: policyId, customer_id: customerId })
    .first("policy_id");
  return found !== undefined;
}

/** What assigning would do to the customer's open sessions. */
async function preview(
  trx: Knex,
  policy: PolicyRow,
  customerId: string,
  now: Date,
): Promise<"as it is" | PolicyImpact> {
  return (await isAssigned(trx, policy.id, customerId)) ? "as it is" : impactOf(trx, policy, customerId, now);
}

/**
 * As the request for this customer alone, which waits for others first, and then looks. Its refusals come before it writes.
 *
 * @returns what it did, or why it was refused
 */
async function change(
  unit: UnitOfWork,
  { action, policy_id, selection }: Pick<BulkRow, "action" | "policy_id"> & { readonly selection: Selection },
  customerId: string,
): Promise<"as it is" | "changed" | Omit<BulkFailure, "customer_id">> {
  try {
    const customer = await lockCustomer(unit.trx, SYSTEM, customerId);
    if ("status" in selection && customer.status !== selection.status) return "as it is";
    if ((await isAssigned(unit.trx, policy_id, customerId)) === (action === "assign")) return "as it is";
    if (action === "assign") await assignPolicies(unit, customer, [policy_id]);
    else await unassignPolicy(unit, customer, policy_id);
    return "changed";
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const policy: unknown = await unit.trx("policies").where({ id: policy_id }).first("id");
    if (policy === undefined) throw new Ends("the policy was deleted");
    return { code: error.code, message: error.message };
  }
}

function withImpact(
  sum: BulkImpact | null,
  customerId: string,
  { sessions, complete, refused, requirements }: PolicyImpact,
): BulkImpact {
  const none = {
    sessions: 0,
    complete: true,
    refused: refused === null ? null : 0,
    customers: 0,
    examples: [],
  };
  const before = sum ?? none;
  const examples =
    refused === null || refused === 0
      ? before.examples
      : [...before.examples, { customer_id: customerId, sessions, refused, requirements }]
          .sort((a, b) => b.refused - a.refused)
          .slice(0, MOST_EXAMPLES);
  return {
    sessions: before.sessions + sessions,
    complete: before.complete && complete,
    refused: before.refused === null || refused === null ? null : before.refused + refused,
    customers: before.customers + (refused !== null && refused > 0 ? 1 : 0),
    examples,
  };
}

/** Who asked for it is who does it, in the audit trail of each customer. */
function actorOf({ kind, id, name = "" }: Requester): Actor {
  if (kind === "api_key") return { kind, id, name, scope: "configuration" };
  if (kind === "dashboard_user") return { kind, id, name, role: "admin", sessionId: "" };
  return SYSTEM;
}
