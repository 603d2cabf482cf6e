import * as z from "zod";
import { listQuery } from "../../platform/frame/list.ts";
import { pathId, timestamp } from "../../platform/frame/schemas.ts";
import { ERASURE_KINDS, STEP_NAMES, type ErasureRow } from "./store.ts";

const STATUSES = ["running", "finished"] as const;

export const erasureParams = z.strictObject({ id: pathId() });

export const erasureList = listQuery(["requested_at"], {
  kind: z.enum(ERASURE_KINDS).optional(),
  status: z.enum(STATUSES).optional(),
  customer_id: pathId().optional(),
});

const count = z.int().nonnegative();

export const erasure = z.object({
  id: z.string().describe("of the user, customer or dashboard user that was deleted"),
  kind: z.enum(ERASURE_KINDS),
  customer_id: z.string().nullable(),
  status: z.enum(STATUSES),
  requested_at: timestamp(),
  finished_at: timestamp().nullable(),
  progress: z
    .object({ users: count, sessions: count, events: count, records: count })
    .describe("rows that were gone through by now; records are those of the audit trail"),
  failure: z
    .object({
      step: z.enum(STEP_NAMES).describe("what was being erased"),
      message: z.string(),
      attempts: count.describe("how many in a row have failed"),
      next_attempt_at: timestamp(),
    })
    .nullable()
    .describe("why it does not go on; `null` where the last attempt worked"),
});

/** As it is answered. */
export function erasureAnswer(row: ErasureRow): z.input<typeof erasure> {
  const { users, sessions, events, records } = row;
  const status = row.finished_at === null ? "running" : "finished";
  return { ...row, status, progress: { users, sessions, events, records }, failure: failureOf(row) };
}

function failureOf({ step, failures, failure, next_attempt_at: next }: ErasureRow) {
  if (failure === null || next === null) return null;
  return { step, message: failure, attempts: failures, next_attempt_at: next };
}
