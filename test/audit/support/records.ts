import type { DestinationDependencies } from "../../../src/audit/destination.ts";
import {
  auditSettings,
  createAuditLog,
  type AuditLimits,
  type AuditLog,
  type AuditSettings,
  type OutcomeLog,
  type RefusalLog,
} from "../../../src/audit/index.ts";
import type { AuditRecord, OutcomeRecord } from "../../../src/protocol/record.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";

export function auditRecord(changes: Partial<AuditRecord> = {}): AuditRecord {
  return {
    timestamp: "2026-01-02T03:04:05.678Z",
    request_id: "req-1",
    user_id: "u1",
    resource: "/api/customers/7",
    action: "GET",
    decision: "ALLOW",
    policy_set: "default@v1",
    evaluation_time_ms: 0,
    client_ip: "192.0.2.7",
    decision_id: "dec_0",
    reason: "CONDITION_TRUE",
    rule: "policies[0]",
    policy_digest: "00".repeat(32),
    host: "api.example.com",
    raw_path: "/api/customers/7",
    evaluation_time_us: 412,
    ...changes,
  };
}

export function outcomeRecord(changes: Partial<OutcomeRecord> = {}): OutcomeRecord {
  return {
    timestamp: "2026-01-02T03:04:06.678Z",
    event: "response",
    decision_id: "dec_0",
    response_code: 200,
    duration_ms: 12,
    result: "masked",
    masked_count: 1,
    masked_paths: ["$.ssn"],
    response_bytes: 100,
    detail: "via_upstream",
    ...changes,
  };
}

/** Keeps what was logged, to look at. */
export function memoryLog() {
  const entries: { level: "info" | "error"; fields: object; message: string }[] = [];
  return {
    entries,
    info: (fields: object, message: string) => void entries.push({ level: "info", fields, message }),
    error: (fields: object, message: string) => void entries.push({ level: "error", fields, message }),
  };
}

export interface Counts {
  readonly recorded: number;
  readonly queued: number;
  readonly dropped: number;
  readonly causes: Readonly<Record<string, number>>;
}

/** What the metrics say of decisions, and by cause. */
export function counts(metrics: Metrics): Promise<Counts> {
  return countsOf(metrics.auditRecorded, metrics.auditQueue, metrics.auditDropped);
}

/** The same of outcomes. */
export function outcomeCounts(metrics: Metrics): Promise<Counts> {
  return countsOf(metrics.auditOutcomesRecorded, metrics.auditOutcomesQueue, metrics.auditOutcomesDropped);
}

async function countsOf(
  recordedIn: Metrics["auditRecorded"],
  queuedIn: Metrics["auditQueue"],
  droppedIn: Metrics["auditDropped"],
): Promise<Counts> {
  const [recorded, queued, dropped] = await Promise.all([recordedIn.get(), queuedIn.get(), droppedIn.get()]);
  const causes: Record<string, number> = {};
  for (const { labels, value } of dropped.values) if (value > 0) causes[String(labels.cause)] = value;
  return {
    recorded: recorded.values[0]?.value ?? 0,
    queued: queued.values[0]?.value ?? 0,
    dropped: Object.values(causes).reduce((sum, value) => sum + value, 0),
    causes,
  };
}

/** An audit log as configured: defaults, and `change`. */
export function auditOf(
  change: Partial<AuditSettings>,
  dependencies: Pick<DestinationDependencies, "metrics" | "log"> & Partial<DestinationDependencies>,
  limits?: Partial<AuditLimits>,
): AuditLog & OutcomeLog & RefusalLog {
  const settings = { ...auditSettings.parse({}), ...change };
  return createAuditLog(settings, { worker: 0, workers: 1, ...dependencies }, limits);
}

export function fileAudit(
  path: string,
  change: Partial<AuditSettings> = {},
  limits?: Partial<AuditLimits>,
): { audit: AuditLog & OutcomeLog; metrics: Metrics; log: ReturnType<typeof memoryLog> } {
  const metrics = createMetrics();
  const log = memoryLog();
  const audit = auditOf({ destination: "file", path, ...change }, { metrics, log }, limits);
  return { audit, metrics, log };
}
