import { onlyCustomerOf, type Actor } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { invalidCustomer } from "../../platform/errors.ts";
import { requireOperator } from "../../platform/require-operator.ts";
import { page, readRoute, type Answer, type Call, type Route } from "../../platform/frame/route.ts";
import { inputsKeptMs, keptSince } from "../records/partitions.ts";
import { exportTrail, readTrail, TRAIL_HEADERS } from "../records/trail.ts";
import { countAudit } from "./count.ts";
import { logEntries, logsQuery, type LogsQuery } from "./schemas.ts";
import { auditRows, selectInputs, type AuditFilters, type AuditRow } from "./store.ts";
import { visibleEntryFor } from "./visible-entry.ts";

/** The audit trail. */
export function auditRoutes(context: ControlContext): Route[] {
  return [
    readRoute({
      method: "get",
      path: "/audit/logs",
      operation: "listAuditLogs",
      summary: "List the audit trail",
      description: DESCRIPTION,
      tag: "Audit",
      group: "analytics",
      permission: "read",
      tenancy: "handler",
      query: logsQuery,
      answers: { 200: logEntries },
      headers: TRAIL_HEADERS,
      paginated: true,
      lines: true,
      errors: ["INVALID_CUSTOMER", "CUSTOMER_KEY_NOT_ALLOWED"],
      read: (call) => readLogs(context, call),
    }),
  ];
}

const DESCRIPTION =
  `Decisions of gateways, their outcomes (\`kind=outcome\`), and changes in the control plane, newest
first. \`total_items\` is exact for filters by time, customer, decision and reason; with others it counts at most 10,000
records, and the header \`X-Total-Exact\` is \`false\` where there are more. Pages reach the first 10,000 records; the header
\`X-Next-Cursor\` of a page is the \`cursor\` of the next one at any depth. \`format=ndjson\`, or \`Accept: application/x-ndjson\`,
answers all records from there on, one JSON object a line. A key that is limited to a customer sees changes by others than the
customer's keys and users without the actor's \`name\`, and with an empty
\`client_ip\`.`.replaceAll("\n", " ");

async function readLogs(
  { db, clock, settings }: ControlContext,
  { query, actor, headers }: Call<undefined, LogsQuery, undefined>,
): Promise<Answer> {
  const now = clock();
  const filters = filtersOf(query, actor, keptSince(now, settings.retention.auditMs));
  const rows = auditRows(db, filters);
  if (query.inputs !== undefined) {
    requireOperator(actor, {
      message: "a key that is limited to a customer cannot read `inputs`",
      fields: ["inputs"],
    });
    selectInputs(db, rows, keptSince(now, inputsKeptMs(settings.retention)));
  }
  const visible = await visibleEntryFor(db, actor);
  if (wantsLines(query, headers.accept)) {
    const newest = await newestOf(rows);
    if (newest !== undefined) rows.where("timestamp", "<=", newest);
    return { kind: "lines", lines: entries(exportTrail<AuditRow>(rows, "audit_records", query), visible) };
  }
  const [read, count] = await Promise.all([
    readTrail<AuditRow>(rows, "audit_records", query),
    countAudit(db, filters, now, settings.retention),
  ]);
  const answer = page(read.rows.map(visible), { ...query, total: count.total });
  const headersOut = {
    "x-total-exact": String(count.exact),
    ...(read.next !== undefined && { "x-next-cursor": read.next }),
  };
  return answer.kind === "data" ? { ...answer, headers: headersOut } : answer;
}

function filtersOf(query: LogsQuery, actor: Actor, since: number): AuditFilters {
  const { from, to, kind, customer_id: asked, ...rest } = query;
  const { user_id, decision, reason, resource, action, rule, policy_set, request_id, decision_id } = rest;
  const { ingested_by, gateway } = rest;
  const only = onlyCustomerOf(actor);
  if (only !== undefined && asked !== undefined && asked !== only) throw invalidCustomer(asked, "path");
  return {
    from: Math.max(from?.getTime() ?? since, since),
    to: to?.getTime() ?? Number.POSITIVE_INFINITY,
    kinds: [...new Set(kind ?? (["decision", "change"] as const))],
    customer_id: only ?? asked,
    ...{ user_id, decision, reason, resource, action, rule, policy_set, request_id, decision_id },
    ...{ ingested_by, gateway },
  };
}

/** The end of an export. Without it, an ascending export of a growing trail would never finish. */
async function newestOf(rows: ReturnType<typeof auditRows>): Promise<Date | undefined> {
  const query = rows.clone().orderBy("timestamp", "desc").select("timestamp").limit(1);
  const [newest] = (await query) as { timestamp: Date }[];
  return newest?.timestamp;
}

async function* entries(
  rows: AsyncIterable<AuditRow>,
  visible: (row: AuditRow) => object,
): AsyncGenerator<object> {
  for await (const row of rows) yield visible(row);
}

/** By the parameter; without it, by the types that are accepted (RFC 9110, section 12.5.1), where lines are named alone. */
function wantsLines({ format }: LogsQuery, accept: string | undefined): boolean {
  if (format !== undefined) return format === "ndjson";
  const types = (accept ?? "").split(",").map((type) => (type.split(";")[0] ?? "").trim().toLowerCase());
  return types.includes("application/x-ndjson") && !types.includes("application/json");
}
