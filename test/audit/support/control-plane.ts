import type { AuditLog, AuditSettings, OutcomeLog } from "../../../src/audit/index.ts";
import { ControlPlaneClient, recordIntake } from "../../../src/sync/index.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";
import { auditOf, auditRecord, memoryLog } from "./records.ts";

export interface ControlPlaneAudit {
  readonly audit: AuditLog & OutcomeLog;
  readonly metrics: Metrics;
  readonly log: ReturnType<typeof memoryLog>;
  /** Closes the audit log and the client. */
  close(): Promise<void>;
}

/** An audit log that goes to a control plane, and to a spool in `spoolDirectory` while that is away. */
export function controlPlaneAudit(
  to: { readonly url: string; readonly apiKey: string },
  spoolDirectory: string,
  options: Partial<AuditSettings> & { worker?: number; workers?: number; closeTimeout?: number } = {},
): ControlPlaneAudit {
  const { worker = 0, workers = 1, closeTimeout, ...change } = options;
  const client = new ControlPlaneClient(to);
  const metrics = createMetrics();
  const log = memoryLog();
  const audit = auditOf(
    { destination: "control_plane", spool_directory: spoolDirectory, ...change },
    { ...{ metrics, log, worker, workers }, intake: recordIntake(client) },
    closeTimeout === undefined ? {} : { closeTimeout },
  );
  return {
    audit,
    metrics,
    log,
    async close() {
      await audit.close();
      client.close();
    },
  };
}

/** Ids of decisions, by number. */
export const ids = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `dec_${from + n}`);

/** Records decisions with these ids. @returns those that were accepted */
export function record({ audit }: ControlPlaneAudit, from: number, to = from + 1): string[] {
  return ids(from, to).filter((decision_id) => audit.record("ALLOW", () => auditRecord({ decision_id })));
}

/** What a metric without labels says. */
export async function valueOf(metric: Metrics["auditSpooled"] | Metrics["auditSpoolBytes"]): Promise<number> {
  return (await metric.get()).values[0]?.value ?? 0;
}
