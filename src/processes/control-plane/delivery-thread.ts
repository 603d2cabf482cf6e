import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "../../runtime/lower-priority.ts";
import { closeDatabase, databaseNow, openDatabase } from "../../storage/index.ts";
import { createLog, type LogOptions } from "../../telemetry/log.ts";
import type { ControlSettings } from "../../control/platform/context.ts";
import { createSecretBox } from "../../control/platform/secret-box.ts";
import { unitWriters } from "../../control/unit-writers.ts";
import { createUnits } from "../../control/platform/unit.ts";
import { startDeliveries } from "../../control/resources/webhooks/start-deliveries.ts";

/** The thread's settings for one environment. */
export interface DeliveryThreadData {
  readonly settings: ControlSettings;
  readonly databaseUrl: string;
  readonly keys: { readonly sealing: Uint8Array; readonly others: readonly Uint8Array[] };
  readonly logLevel: LogOptions["level"];
}

/** Maximum number of the thread's own connections: a backlog does not use those that requests need. */
const POOL_SIZE = 4;

/** Delivers until it is told to stop, and reports when it has stopped. */
function run({ settings, databaseUrl, keys, logLevel }: DeliveryThreadData): void {
  const { environment } = settings;
  lowerPriority();
  const db = openDatabase(databaseUrl, {
    poolSize: POOL_SIZE,
    applicationName: `gatehouse ${environment} webhooks`,
  });
  const deliveries = startDeliveries({
    settings,
    db,
    units: createUnits(db, unitWriters),
    box: createSecretBox(keys.sealing, keys.others),
    clock: Date.now,
    databaseNow,
    log: createLog({ level: logLevel, name: `webhooks-${environment}` }),
  });
  parentPort?.once("message", () => {
    void deliveries
      .close()
      .then(() => closeDatabase(db))
      .finally(() => parentPort?.postMessage("ended"));
  });
}

if (!isMainThread && parentPort !== null) run(workerData as DeliveryThreadData);
