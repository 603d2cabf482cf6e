import type { Knex } from "knex";
import { ApiError } from "../../../platform/errors.ts";
import type { NamedActor } from "../../../platform/named-actor.ts";
import type { PolicyImpact } from "../impact.ts";

export const BULK_ACTIONS = ["assign", "unassign", "preview"] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];
export const BULK_OUTCOMES = ["finished", "cancelled", "failed"] as const;

const MOST_AHEAD = 1_000;

/** Which customers: these, or all that there were when it was asked for, or those of them that have a status when it is their turn. */
export type Selection =
  { readonly ids: readonly string[] } | { readonly status: string } | { readonly all: true };

/** A customer that could not be given the policy. */
export interface BulkFailure {
  readonly customer_id: string;
  readonly code: string;
  readonly message: string;
}

/** What a policy would do to the open sessions of all that were looked at. */
export interface BulkImpact {
  readonly sessions: number;
  /** `null` if the policy decides by request. */
  readonly refused: number | null;
  /** False if a customer has more open sessions than are examined. */
  readonly complete: boolean;
  /** Customers with sessions that would be refused. */
  readonly customers: number;
  readonly examples: readonly {
    readonly customer_id: string;
    readonly sessions: number;
    readonly refused: number;
    readonly requirements: PolicyImpact["requirements"];
  }[];
}

/** Who asked for it, and by which session of the dashboard: it ends with what permits it. */
export type Requester = NamedActor & { readonly session_id?: string };

/** A row of `bulk_assignments`. */
export interface BulkRow {
  readonly id: string;
  readonly policy_id: string;
  readonly action: BulkAction;
  /** Of one that has ended, only how many were named. */
  readonly selection: Selection | { readonly ids: number };
  /** Customers that were there when it was asked for, and say that they were created later. */
  readonly ahead: readonly string[];
  readonly requested_by: Requester;
  readonly requested_at: Date;
  /** Customers that were selected when it was asked for. */
  readonly total: number;
  readonly done: number;
  /** Customers that got or lost the policy, or would. */
  readonly changed: number;
  readonly failures: readonly BulkFailure[];
  readonly failed: number;
  readonly impact: BulkImpact | null;
  readonly position: string;
  /** At the next batch that have failed. */
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly ended_at: Date | null;
  readonly outcome: (typeof BULK_OUTCOMES)[number] | null;
  readonly problem: string | null;
}

/** The selected customers as of the request: those that are created later are not among them. */
export function selected(
  db: Knex,
  {
    selection,
    requested_at,
    ahead,
  }: Pick<BulkRow, "requested_at" | "ahead"> & { readonly selection: Selection },
): Knex.QueryBuilder {
  const query = db("customers")
    .whereNull("deleted_at")
    .whereRaw("(created_at <= ? or id = any(?))", [requested_at, [...ahead]]);
  if ("ids" in selection) void query.whereRaw("id = any(?)", [[...selection.ids]]);
  if ("status" in selection) void query.where({ status: selection.status });
  return query;
}

/** Customers that an instance has created whose clock is ahead. */
export function customersAhead(trx: Knex.Transaction, now: Date): Promise<string[]> {
  return trx("customers").where("created_at", ">", now).orderBy("id").limit(MOST_AHEAD).pluck<string[]>("id");
}

/** @throws ApiError 404 */
export async function requireBulk(db: Knex, id: string): Promise<BulkRow> {
  const row = await db("bulk_assignments").where({ id }).first<BulkRow | undefined>();
  if (row === undefined) throw new ApiError("BULK_ASSIGNMENT_NOT_FOUND", { details: { id } });
  return row;
}

/** The selection of one that ends: the ids have served their purpose, and there may be thousands. */
export function selectionAtEnd(db: Knex): Knex.Raw {
  return db.raw(
    `case when jsonb_typeof(selection -> 'ids') = 'array'
     then jsonb_build_object('ids', jsonb_array_length(selection -> 'ids')) else selection end`,
  );
}
