import type { Metrics } from "../telemetry/metrics.ts";
import { QueuedAuditLog, type QueueOptions } from "./audit-log.ts";
import type { DestinationDependencies, DestinationKind } from "./destination.ts";
import { DESTINATIONS } from "./destinations.ts";
import type { AuditSettings } from "./settings.ts";
import type { AuditLog, OutcomeLog, RefusalLog } from "./types.ts";

export { AUDIT_FILE_MODE } from "./file-destination.ts";
export type { AuditLevel } from "./audit-log.ts";
export type { IntakeAnswer, RecordIntake } from "./control-plane-destination.ts";
export { createDecisionIds } from "./decision-id.ts";
export type { DestinationKind } from "./destination.ts";
export { DESTINATIONS } from "./destinations.ts";
export { auditSettings, type AuditSettings } from "./settings.ts";
export type { AuditLog, AuditLogger, DurableRecord, OutcomeLog, RefusalLog } from "./types.ts";

/** Not configurable: the maximum size of waiting records, and how long closing tries to write the remaining ones. */
export type AuditLimits = Pick<QueueOptions, "queueBytes" | "closeTimeout">;
const LIMITS: AuditLimits = { queueBytes: 64 * 1024 * 1024, closeTimeout: 5_000 };

/**
 * Creates the audit log of one process. A file is opened at the first record; the spool in front of a control plane is
 * opened at once, because an earlier process may have left records in it. `record` never throws. If the audit is
 * disabled, every decision counts as dropped, cause `disabled`, and a decision that requires an audit record is denied.
 */
export function createAuditLog(
  settings: AuditSettings,
  dependencies: DestinationDependencies,
  limits: Partial<AuditLimits> = {},
): AuditLog & OutcomeLog & RefusalLog {
  if (!settings.enabled) return disabledAuditLog(dependencies.metrics);
  const { level, queue_size: queueSize, refusal_rate: refusalRate } = settings;
  const kind: DestinationKind = DESTINATIONS[settings.destination];
  return new QueuedAuditLog(
    { level, queueSize, refusalRate, ...LIMITS, ...limits },
    {
      metrics: dependencies.metrics,
      log: dependencies.log,
      destination: kind.open(settings, dependencies),
    },
  );
}

/**
 * Checks what the destination needs of the machine.
 * @throws Error with a one-line message
 */
export async function assertAuditStartable(settings: AuditSettings): Promise<void> {
  const kind: DestinationKind = DESTINATIONS[settings.destination];
  if (settings.enabled) await kind.assertStartable?.(settings);
}

function disabledAuditLog({
  auditDropped,
  auditOutcomesDropped,
}: Metrics): AuditLog & OutcomeLog & RefusalLog {
  const dropped = auditDropped.labels("disabled");
  const outcomesDropped = auditOutcomesDropped.labels("disabled");
  return {
    wantsTrace: false,
    accepting: () => false,
    record: () => {
      dropped.inc();
      return false;
    },
    recordDurably: () => {
      dropped.inc();
      return undefined;
    },
    recordRefusal: () => {
      dropped.inc();
      return false;
    },
    recordOutcome: () => {
      outcomesDropped.inc();
      return false;
    },
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
