import type { Knex } from "knex";
import { OUTCOME_PREFIX, type RecordRow } from "../records/read-record.ts";
import type { Kind } from "./schemas.ts";

/** A row of the trail. */
export interface AuditRow extends Omit<RecordRow, "timestamp" | "kind" | "record"> {
  readonly [column: string]: unknown;
  readonly timestamp: Date;
  readonly kind: RecordRow["kind"] | "change" | "refused_call";
  readonly ingested_by: string | null;
  readonly gateway: string | null;
  readonly received_at: Date | null;
  readonly record: Readonly<Record<string, unknown>>;
  /** What the rules read, serialized, if it was asked for and is still kept. */
  readonly inputs?: string | null;
}

/** Filters for records. */
export interface AuditFilters {
  /** Unix ms. The end is exclusive and may be infinite. */
  readonly from: number;
  readonly to: number;
  readonly kinds: readonly Kind[];
  readonly customer_id?: string | undefined;
  readonly user_id?: string | undefined;
  readonly decision?: "ALLOW" | "DENY" | undefined;
  readonly reason?: string | undefined;
  readonly resource?: string | undefined;
  readonly action?: string | undefined;
  readonly rule?: string | undefined;
  readonly policy_set?: string | undefined;
  readonly request_id?: string | undefined;
  readonly decision_id?: string | undefined;
  readonly ingested_by?: string | undefined;
  readonly gateway?: string | undefined;
}

/** Filters that are equal to a column. */
const EQUAL = [
  ...(["customer_id", "user_id", "decision", "reason", "action", "rule", "request_id"] as const),
  ...(["ingested_by", "gateway"] as const),
];

/** The matching records of the trail. */
export function auditRows(db: Knex, filters: AuditFilters): Knex.QueryBuilder {
  const query = db("audit_records").where("timestamp", ">=", new Date(filters.from));
  if (Number.isFinite(filters.to)) query.where("timestamp", "<", new Date(filters.to));
  query.whereIn("kind", filters.kinds.flatMap(kindsOf));
  for (const name of EQUAL) {
    const value = filters[name];
    if (value !== undefined) query.where(name, value);
  }
  const { resource, policy_set: set, decision_id: id } = filters;
  if (resource?.endsWith("*")) query.whereRaw("starts_with(resource, ?)", [resource.slice(0, -1)]);
  else if (resource !== undefined) query.where({ resource });
  // a name without a version matches all versions
  if (set?.includes("@") === false) query.whereRaw("starts_with(policy_set, ?)", [`${set}@`]);
  else if (set !== undefined) query.where({ policy_set: set });
  if (id !== undefined) query.where({ id }).whereNotIn("kind", ["change", "refused_call"]);
  return query;
}

/**
 * Adds what the rules read to the records of decisions.
 *
 * @param since - start of the retention of inputs, Unix ms
 */
export function selectInputs(db: Knex, rows: Knex.QueryBuilder, since: number): void {
  rows.select(
    "audit_records.*",
    db.raw(
      `(select i.inputs from record_inputs i where i."timestamp" = audit_records."timestamp" and i.id = audit_records.id
          and audit_records.kind = 'decision' and i."timestamp" >= ?) as inputs`,
      [new Date(since)],
    ),
  );
}

function kindsOf(kind: Kind): readonly AuditRow["kind"][] {
  return kind === "outcome" ? ["response", "connection"] : [kind];
}

/** A row as returned by the API: the record as written, and its kind. */
export function entryOf(row: AuditRow): Readonly<Record<string, unknown>> {
  const { timestamp, kind, id, record } = row;
  const whose = { ...(row.customer_id !== null && { customer_id: row.customer_id }), user_id: row.user_id };
  if (kind === "change") {
    const { request_id, action, client_ip } = row;
    return { ...record, kind, id, timestamp, ...whose, request_id, action, client_ip: client_ip ?? "" };
  }
  if (kind === "refused_call") {
    const { request_id, resource: path, action: operation, reason: code, client_ip } = row;
    const about = { request_id, operation, path, code: code ?? "", client_ip: client_ip ?? "" };
    return { ...record, kind, id, timestamp, ...whose, ...about };
  }
  if (kind === "shadow") {
    const { request_id, resource, action, rule, policy_set } = row;
    const of = { request_id, resource, action, rule, policy_set };
    return { ...record, kind, id, timestamp, ...of, ...whose, ...provenanceOf(row) };
  }
  if (kind === "rollout") {
    const { policy_set } = row;
    return { ...record, kind, decision_id: id, timestamp, policy_set, ...provenanceOf(row) };
  }
  if (kind !== "decision") {
    const { request_id } = row;
    const of = {
      decision_id: id.startsWith(OUTCOME_PREFIX) ? "" : id,
      ...(request_id !== "" && { request_id }),
    };
    return { ...record, kind: "outcome", event: kind, timestamp, ...of, ...whose, ...provenanceOf(row) };
  }
  const { request_id, resource, action, decision, reason, rule, policy_set, client_ip } = row;
  const decided = { request_id, resource, action, decision, reason, rule, policy_set, client_ip };
  const read = typeof row.inputs === "string" && { inputs: JSON.parse(row.inputs) as unknown };
  const took = { evaluation_time_us: row.evaluation_time_us };
  // an earlier release has stored them with the record: here they would be shown to every reader, without being asked for
  const { inputs: _, ...rest } = record;
  return {
    ...rest,
    kind,
    timestamp,
    decision_id: id,
    ...whose,
    ...decided,
    ...took,
    ...read,
    ...provenanceOf(row),
  };
}

/** Who sent a record, and when; unknown for records of earlier releases. */
function provenanceOf({ ingested_by, gateway, received_at }: AuditRow): object {
  return {
    ...(ingested_by !== null && { ingested_by }),
    ...(gateway !== null && { gateway }),
    ...(received_at !== null && { received_at }),
  };
}

/** A change by the id of who made it alone: without their name, and without where they were. */
export function withoutMaker(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { kind, id } = entry["actor"] as { readonly kind: string; readonly id: string };
  return { ...entry, actor: { kind, id }, client_ip: "" };
}
