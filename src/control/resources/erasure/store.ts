import type { Knex } from "knex";
import type { UnitOfWork } from "../../platform/unit.ts";

export const ERASURE_KINDS = ["user", "customer", "dashboard_user"] as const;
export type ErasureKind = (typeof ERASURE_KINDS)[number];

/** What is done one after the other for each kind; each in as many transactions as it takes. */
export const STEPS = {
  user: ["users", "sessions", "events", "refusals", "deliveries", "records", "changes"],
  customer: [
    "users",
    "sessions",
    "events",
    "deliveries",
    "records",
    "user_events",
    "user_deliveries",
    "user_records",
  ],
  dashboard_user: ["acts", "membership", "keys"],
} as const satisfies Record<ErasureKind, readonly string[]>;
export type StepName = (typeof STEPS)[ErasureKind][number];
export const STEP_NAMES: readonly StepName[] = [...new Set(Object.values(STEPS).flat())];

/** The key of the row that a step has come to. */
export type ErasurePosition = readonly string[];

/** An erasure, and how far it has come. */
export interface ErasureRow {
  /** Of the user, customer or dashboard user that was deleted. */
  readonly id: string;
  readonly kind: ErasureKind;
  readonly customer_id: string | null;
  readonly requested_at: Date;
  readonly finished_at: Date | null;
  readonly step: StepName;
  readonly position: ErasurePosition | null;
  /** Who a user is to the identity provider, as long as something has to be found by it. */
  readonly subject: string | null;
  /** Rows that were looked at. */
  readonly users: number;
  readonly sessions: number;
  readonly events: number;
  readonly records: number;
  /** Attempts at the step that have failed since one has worked. */
  readonly failures: number;
  /** Why the last of them did. */
  readonly failure: string | null;
  readonly next_attempt_at: Date | null;
}

/** The values that replace personal data in a user's row; the subject becomes the id. */
export const ERASED_USER = {
  email: null,
  name: null,
  issuer: null,
  claimed: null,
  claimed_at: null,
  profile: "{}",
  attributes: "{}",
} as const;

/** Has everything erased that is kept of somebody, within the unit that deletes them. */
export async function requestErasure(
  unit: UnitOfWork,
  erasure: Pick<ErasureRow, "id" | "kind"> & {
    readonly customerId?: string;
    readonly subject?: string;
    /** Rows of users that are erased already. */
    readonly users?: number;
  },
): Promise<void> {
  const { id, kind, customerId = null, subject = null, users = 0 } = erasure;
  await unit
    .trx("erasures")
    .insert({
      id,
      kind,
      customer_id: customerId,
      subject,
      users,
      requested_at: unit.now,
      step: STEPS[kind][0],
    })
    .onConflict("id")
    .ignore();
}

/** Requests what an instance of an earlier release has deleted and not asked to be erased. */
export async function adoptDeletions(db: Knex): Promise<void> {
  await db.raw(
    `insert into erasures (id, kind, customer_id, subject, requested_at, step)
     select id, 'user', customer_id, subject, deleted_at, ? from users
       where deleted_at is not null and erased_at is null
     union all
     select c.id, 'customer', c.id, null, c.deleted_at, ? from customers c
       where c.deleted_at is not null and not exists (select from erasures e where e.id = c.id)
     on conflict do nothing`,
    [STEPS.user[0], STEPS.customer[0]],
  );
}

/** Keeps that a step has failed, unless another instance has finished it since. */
export async function recordFailure(
  db: Knex,
  { id, step, failures }: ErasureRow,
  { message, next }: { readonly message: string; readonly next: Date },
): Promise<void> {
  await db("erasures")
    .where({ id, step })
    .whereNull("finished_at")
    .update({ failures: failures + 1, failure: message, next_attempt_at: next });
}

/** Erasures that an actor may see: those of one customer, or all. */
export function erasures(db: Knex, only: string | undefined): Knex.QueryBuilder {
  const query = db("erasures");
  if (only !== undefined) void query.where({ customer_id: only });
  return query;
}
