import {
  createAuditLog,
  type AuditLog,
  type AuditOptions,
  type AuditRecord,
} from "../../../src/audit/index.ts";
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

/** What the metrics say, and by cause. */
export async function counts(metrics: Metrics): Promise<Counts> {
  const [recorded, queued, dropped] = await Promise.all([
    metrics.auditRecorded.get(),
    metrics.auditQueue.get(),
    metrics.auditDropped.get(),
  ]);
  const causes: Record<string, number> = {};
  for (const { labels, value } of dropped.values) if (value > 0) causes[String(labels.cause)] = value;
  return {
    recorded: recorded.values[0]?.value ?? 0,
    queued: queued.values[0]?.value ?? 0,
    dropped: Object.values(causes).reduce((sum, value) => sum + value, 0),
    causes,
  };
}

export function fileAudit(
  path: string,
  options: Partial<AuditOptions> & { maxBytes?: number; maxFiles?: number } = {},
): { audit: AuditLog; metrics: Metrics; log: ReturnType<typeof memoryLog> } {
  const { maxBytes, maxFiles, ...rest } = options;
  const metrics = createMetrics();
  const log = memoryLog();
  const destination = {
    kind: "file",
    path,
    ...(maxBytes !== undefined && { maxBytes }),
    ...(maxFiles !== undefined && { maxFiles }),
  } as const;
  return {
    audit: createAuditLog({ enabled: true, level: "info", destination, ...rest }, { metrics, log }),
    metrics,
    log,
  };
}
