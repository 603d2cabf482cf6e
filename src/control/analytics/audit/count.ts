import type { Knex } from "knex";
import { countedSince } from "../rollups/prune-rollups.ts";
import { isCounted, spansOf, within, type AnySpan, type RollupSpan } from "../rollups/spans.ts";
import type { ControlSettings } from "../../platform/context.ts";
import { countWithin } from "../records/trail.ts";
import { auditRows, type AuditFilters } from "./store.ts";

/** The number of records. */
export interface Count {
  readonly total: number;
  /** False if there are more than were counted. */
  readonly exact: boolean;
}

/** Filters that the rollups of decisions support. */
const COUNTED: ReadonlySet<string> = new Set(["from", "to", "kinds", "customer_id", "decision", "reason"]);

/**
 * Counts records. Filters by time, customer, decision and reason use the rollups, which are exact; only the ends of the
 * range are counted by records. Other filters count records, up to the last page.
 */
export async function countAudit(
  db: Knex,
  filters: AuditFilters,
  now: number,
  retention: ControlSettings["retention"],
): Promise<Count> {
  const known = Object.entries(filters).every(([name, value]) => value === undefined || COUNTED.has(name));
  if (!known || !filters.kinds.includes("decision")) return countWithin(auditRows(db, filters), db);
  const others = filters.kinds.filter((kind) => kind !== "decision");
  const spans = spansFor(filters, now, retention);
  const [counted, atEnds, ofOthers] = await Promise.all([
    countByRollup(db, filters, spans.filter(isCounted)),
    countRecords(
      db,
      filters,
      spans.filter((span) => !isCounted(span)),
    ),
    others.length === 0
      ? { total: 0, exact: true }
      : countWithin(auditRows(db, { ...filters, kinds: others }), db),
  ]);
  return { total: counted + atEnds + ofOthers.total, exact: ofOthers.exact };
}

function spansFor(
  { from, to, customer_id: customer }: AuditFilters,
  now: number,
  retention: ControlSettings["retention"],
): AnySpan[] {
  const ofCustomer = customer !== undefined;
  const since = (["day", "hour", "minute"] as const)
    .filter((granularity) => !ofCustomer || granularity !== "minute")
    .map((granularity) => [granularity, countedSince(granularity, now, retention, ofCustomer)] as const);
  return spansOf(from, to, since);
}

async function countByRollup(db: Knex, filters: AuditFilters, spans: readonly RollupSpan[]): Promise<number> {
  if (spans.length === 0) return 0;
  const { customer_id: customer, decision, reason } = filters;
  const query =
    customer === undefined
      ? within(db("rollup_decisions"), spans)
      : within(db("rollup_customer_traffic").where({ customer_id: customer }), spans);
  if (decision !== undefined) query.where({ decision });
  if (reason !== undefined) query.where({ reason });
  const [row] = await query.sum<{ total: string | null }[]>({ total: "requests" });
  return Number(row?.total ?? 0);
}

async function countRecords(
  db: Knex,
  filters: AuditFilters,
  spans: readonly { readonly from: number; readonly to: number }[],
): Promise<number> {
  const totals = await Promise.all(
    spans.map(async ({ from, to }) => {
      const rows = auditRows(db, { ...filters, from, to, kinds: ["decision"] });
      const [row] = await rows.count<{ total: number }[]>({ total: "*" });
      return row?.total ?? 0;
    }),
  );
  return totals.reduce((sum, total) => sum + total, 0);
}
