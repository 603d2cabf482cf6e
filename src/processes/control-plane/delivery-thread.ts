import { getPriority, setPriority } from "node:os";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { closeDatabase, openDatabase } from "../../storage/index.ts";
import { createLog, type LogOptions } from "../../telemetry/log.ts";
import type { ControlSettings } from "../../control/platform/context.ts";
import { createSecretBox } from "../../control/platform/secret-box.ts";
import { unitWriters } from "../../control/unit-writers.ts";
import { createUnits } from "../../control/platform/unit.ts";
import { startDeliveries } from "../../control/resources/webhooks/start-deliveries.ts";

/** What the thread of one environment is given. */
export interface DeliveryThreadData {
  readonly settings: ControlSettings;
  readonly databaseUrl: string;
  readonly keys: { readonly sealing: Uint8Array; readonly others: readonly Uint8Array[] };
  readonly logLevel: LogOptions["level"];
}

/** Connections of the thread's own: a backlog takes none of those that requests wait for. */
const POOL_SIZE = 4;
/** Requests go first where the processor is short: so much above their niceness, at most the largest there is. */
const NICER = 10;
const MOST_NICE = 19;

/** Delivers until it is told to end, and says when it has ended. */
function run({ settings, databaseUrl, keys, logLevel }: DeliveryThreadData): void {
  const { environment } = settings;
  // to Linux a priority is the thread's; elsewhere it would be that of the whole process
  if (process.platform === "linux") setPriority(0, Math.min(getPriority(0) + NICER, MOST_NICE));
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
