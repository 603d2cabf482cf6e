import * as z from "zod";
import { listQuery } from "../../../platform/frame/list.ts";
import { actorReference, idOf, pathId, timestamp } from "../../../platform/frame/schemas.ts";
import { CUSTOMER_STATUSES } from "../../../tenancy/customers.ts";
import { VIOLATIONS } from "../schemas.ts";
import { BULK_ACTIONS, BULK_OUTCOMES, type BulkRow } from "./store.ts";

/** Customers that one body names; more are selected by what they have in common. */
const MOST_IDS = 10_000;

const selection = z
  .union([
    z.strictObject({
      ids: z
        .array(idOf("customer"))
        .min(1)
        .max(MOST_IDS)
        .refine((ids) => new Set(ids).size === ids.length, "must not repeat an entry"),
    }),
    z.strictObject({ status: z.enum(CUSTOMER_STATUSES) }),
    z.strictObject({ all: z.literal(true) }),
  ])
  .meta({
    id: "CustomerSelection",
    description:
      "`ids`, `status` or `all`; customers that are created after the request are not among them. Those of a `status` have it when it is their turn.",
  });

/** The body of POST /policies/{id}/assignments. */
export const newBulk = z
  .strictObject({
    action: z
      .enum(BULK_ACTIONS)
      .meta({ description: "`preview` changes nothing, and counts what `assign` would do." }),
    customers: selection,
  })
  .meta({ id: "NewBulkAssignment" });

const count = z.int().nonnegative();
const STATUSES = ["running", ...BULK_OUTCOMES] as const;

/** A bulk assignment as answered. */
export const bulk = z
  .object({
    id: z.string(),
    policy_id: z.string(),
    action: z.enum(BULK_ACTIONS),
    customers: z.union([
      z.object({ ids: count.describe("how many were named") }),
      z.object({ status: z.string() }),
      z.object({ all: z.literal(true) }),
    ]),
    status: z.enum(STATUSES),
    problem: z.string().nullable().describe("why it failed as a whole; what was done until then stays"),
    requested_by: actorReference,
    requested_at: timestamp(),
    ended_at: timestamp().nullable(),
    progress: z.object({
      total: count.describe("customers that were selected"),
      done: count.describe("customers that were looked at"),
      changed: count.describe("customers that got or lost the policy; for a preview: that would get it"),
      failed: count,
    }),
    failures: z
      .array(z.object({ customer_id: z.string(), code: z.string(), message: z.string() }))
      .describe("the first 100 customers that it failed for"),
    impact: z
      .object({
        sessions: count.describe("open sessions that were examined"),
        complete: z.boolean().describe("false if a customer has more open sessions than are examined"),
        refused: count.nullable().describe("of these, refused by gateways; null for an authorization policy"),
        customers: count.describe("customers with such sessions"),
        examples: z
          .array(
            z.object({
              customer_id: z.string(),
              sessions: count,
              refused: count,
              requirements: z.array(z.object({ requirement: z.enum(VIOLATIONS), sessions: count })),
            }),
          )
          .describe("the 100 customers with the most"),
      })
      .nullable()
      .describe("of a preview: who would be locked out"),
  })
  .meta({ id: "BulkAssignment" });

export const bulkPath = z.object({ id: pathId() });
export const bulkList = listQuery(["requested_at"], {
  policy_id: pathId().optional(),
  status: z.enum(STATUSES).optional(),
});

/** As it is answered: of named customers, how many. */
export function bulkAnswer(row: BulkRow): z.input<typeof bulk> {
  const {
    id,
    policy_id,
    action,
    selection: chosen,
    outcome,
    problem,
    requested_by,
    requested_at,
    ended_at,
  } = row;
  const { total, done, changed, failed, failures, impact } = row;
  return {
    ...{ id, policy_id, action, problem, requested_by, requested_at, ended_at },
    customers:
      "ids" in chosen ? { ids: typeof chosen.ids === "number" ? chosen.ids : chosen.ids.length } : chosen,
    status: outcome ?? "running",
    progress: { total, done, changed, failed },
    failures: [...failures],
    impact:
      impact === null
        ? null
        : {
            ...impact,
            examples: impact.examples.map((example) => ({
              ...example,
              requirements: [...example.requirements],
            })),
          },
  };
}
