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

export const erasure = z
  .object({
    id: z.string().describe("id of the deleted user, customer or dashboard user"),
    kind: z.enum(ERASURE_KINDS),
    customer_id: z.string().nullable(),
    status: z.enum(STATUSES),
    requested_at: timestamp(),
    finished_at: timestamp().nullable(),
    progress: z
      .object({ users: count, sessions: count, events: count, records: count })
      .describe("rows processed so far; records are those of the audit trail"),
    failure: z
      .object({
        step: z.enum(STEP_NAMES).describe("the step that failed"),
        message: z.string(),
        attempts: count.describe("consecutive failures"),
        next_attempt_at: timestamp(),
      })
      .nullable()
      .describe("why it is not progressing; `null` if the last attempt succeeded"),
  })
  .meta({ id: "Erasure" });

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
