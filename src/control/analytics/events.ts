import type { Knex } from "knex";
import type { ControlSettings } from "../platform/context.ts";
import type { EventType } from "../platform/events.ts";
import { countWithin } from "./records/trail.ts";
import { countedSince } from "./rollups/prune-rollups.ts";
import { isCounted, spansOf, within } from "./rollups/spans.ts";
import { eventCounts, ofCustomer } from "./traffic.ts";

/** A row of the history of events. */
export interface EventRow {
  readonly [column: string]: unknown;
  readonly timestamp: Date;
  readonly id: string;
  readonly type: EventType;
  readonly customer_id: string | null;
  readonly user_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Filters for events. */
export interface EventFilters {
  /** Unix ms. The end is exclusive and may be infinite. */
  readonly from: number;
  readonly to: number;
  readonly types?: readonly EventType[] | undefined;
  readonly customer?: string | undefined;
  readonly user?: string | undefined;
}

/** The matching events. */
export function eventRows(db: Knex, { from, to, types, customer, user }: EventFilters): Knex.QueryBuilder {
  const query = ofCustomer(db("events"), customer).where("timestamp", ">=", new Date(from));
  if (Number.isFinite(to)) query.where("timestamp", "<", new Date(to));
  if (types !== undefined) query.whereIn("type", types);
  if (user !== undefined) query.where({ user_id: user });
  return query;
}

/** Counts events from the rollups; the ends of the range, and events of one user, are counted one by one. */
export async function countEvents(
  db: Knex,
  filters: EventFilters,
  now: number,
  retention: ControlSettings["retention"],
): Promise<{ total: number; exact: boolean }> {
  if (filters.user !== undefined) return countWithin(eventRows(db, filters), db);
  const since = (["day", "hour", "minute"] as const).map(
    (granularity) => [granularity, countedSince(granularity, now, retention)] as const,
  );
  const spans = spansOf(filters.from, filters.to, since);
  const counted = spans.filter(isCounted);
  const rollup = within(eventCounts(db, filters.customer), counted);
  if (filters.types !== undefined) rollup.whereIn("type", filters.types);
  const atEnds = spans.filter((span) => !isCounted(span));
  const [rows, ...ends] = await Promise.all([
    rollup.sum({ total: "events" }) as unknown as Promise<{ total: string | null }[]>,
    ...atEnds.map(
      ({ from, to }) =>
        eventRows(db, { ...filters, from, to }).count({ total: "*" }) as unknown as Promise<
          { total: number }[]
        >,
    ),
  ]);
  const total = [rows, ...ends].reduce((sum, [row]) => sum + Number(row?.total ?? 0), 0);
  return { total, exact: true };
}
