import { errorCode } from "../runtime/error-code.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { QueuedAuditLog, type AuditLevel } from "./audit-log.ts";
import { ControlPlaneDestination, type RecordIntake } from "./control-plane-destination.ts";
import type { Destination } from "./destination.ts";
import { FileDestination } from "./file-destination.ts";
import { abandonedFolders, spoolFolder } from "./spool-folders.ts";
import { stdoutDestination } from "./stdout-destination.ts";
import type { AuditLog, AuditLogger, OutcomeLog, RefusalLog } from "./types.ts";

export { AUDIT_FILE_MODE } from "./file-destination.ts";
export type { AuditLevel } from "./audit-log.ts";
export type { IntakeAnswer, RecordIntake } from "./control-plane-destination.ts";
export { createDecisionIds } from "./decision-id.ts";
export type { AuditLog, AuditLogger, DurableRecord, OutcomeLog, RefusalLog } from "./types.ts";

/** Where records are written. Several processes may have the same one. */
export type AuditDestination =
  | { readonly kind: "stdout" }
  | {
      readonly kind: "file";
      readonly path: string;
      /** Size at which the file is rotated; 100 MB. */
      readonly maxBytes?: number;
      /** Rotated files kept, `path.1` to `path.<maxFiles>`; 10. */
      readonly maxFiles?: number;
      /** Records are on the disk before they count as written; false: with the kernel, which a power cut ends. */
      readonly sync?: boolean;
    }
  | {
      readonly kind: "control_plane";
      readonly intake: RecordIntake;
      /** Folder of all workers' spools, for the time that the control plane is away. */
      readonly spoolDirectory: string;
      /** Bytes that wait in the spool of a worker at most; 1 GB. */
      readonly spoolBytes?: number;
      /** Index of this process among the workers, and how many there are. */
      readonly worker: number;
      readonly workers: number;
    };

export interface AuditOptions {
  /** False: every decision counts as dropped, cause `disabled`, and nothing that requires an audit is accepted. */
  readonly enabled: boolean;
  readonly destination: AuditDestination;
  /** `info`: every decision; `warn`: denials; `debug`: every decision, with its explanation. */
  readonly level: AuditLevel;
  /** Records that may wait to be written; 10,000. */
  readonly queueSize?: number;
  /** Bytes that may wait to be written; 64 MiB. */
  readonly queueBytes?: number;
  /** How long closing tries to write what is left, milliseconds; 5,000. */
  readonly closeTimeout?: number;
  /** Records per second of requests that the proxy refused by itself; 200. */
  readonly refusalRate?: number;
}

export interface AuditDependencies {
  readonly metrics: Metrics;
  readonly log: AuditLogger;
}

/**
 * Makes the audit log of one process. It opens a file at the first record, and the spool in front of a control plane at
 * once, for what an earlier process has left in it; `record` never throws.
 */
export function createAuditLog(
  options: AuditOptions,
  dependencies: AuditDependencies,
): AuditLog & OutcomeLog & RefusalLog {
  if (!options.enabled) return disabledAuditLog(dependencies.metrics);
  const queue = {
    level: options.level,
    queueSize: options.queueSize ?? 10_000,
    queueBytes: options.queueBytes ?? 64 * 1024 * 1024,
    closeTimeout: options.closeTimeout ?? 5_000,
    ...(options.refusalRate !== undefined && { refusalRate: options.refusalRate }),
  };
  return new QueuedAuditLog(queue, {
    ...dependencies,
    destination: createDestination(options.destination, dependencies),
  });
}

function createDestination(destination: AuditDestination, dependencies: AuditDependencies): Destination {
  switch (destination.kind) {
    case "stdout":
      return stdoutDestination();
    case "file":
      return fileDestination(destination, dependencies.log);
    case "control_plane":
      return controlPlaneDestination(destination, dependencies);
  }
}

function controlPlaneDestination(
  destination: Extract<AuditDestination, { kind: "control_plane" }>,
  dependencies: AuditDependencies,
): Destination {
  const { intake, spoolDirectory: root, spoolBytes = 1_000_000_000, worker, workers } = destination;
  return new ControlPlaneDestination(
    {
      spoolDirectory: spoolFolder(root, worker),
      spoolBytes,
      ...(worker === 0 && { abandoned: () => abandonedFolders(root, workers) }),
    },
    { ...dependencies, intake },
  );
}

function fileDestination(
  destination: Extract<AuditDestination, { kind: "file" }>,
  log: AuditLogger,
): Destination {
  let reported: unknown;
  return new FileDestination({
    path: destination.path,
    maxBytes: destination.maxBytes ?? 100_000_000,
    maxFiles: Math.max(1, destination.maxFiles ?? 10),
    sync: destination.sync ?? false,
    onRotationFailed: (error) => {
      const code = errorCode(error);
      if (code !== reported)
        log.error({ err: error }, "the audit file cannot be rotated and goes on growing");
      reported = code;
    },
  });
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
