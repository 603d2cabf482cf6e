import type { ControlContext } from "../../platform/context.ts";
import { pruneRollups } from "../rollups/prune-rollups.ts";
import {
  dropPartitions,
  inputsKeptMs,
  keptSince,
  makePartition,
  startOfDay,
  type DailyTable,
} from "./partitions.ts";

const DAY_MS = 86_400_000;
/** Partitions are created this many days ahead, so that several failures in a row do no harm. */
const AHEAD = 7;

/** Creates partitions ahead of time, and drops expired ones. Any number of instances may run this. */
export async function maintainPartitions(
  context: Pick<ControlContext, "db" | "clock" | "log" | "settings">,
): Promise<void> {
  const { db, log, settings } = context;
  const now = context.clock();
  const tables: readonly (readonly [DailyTable, number])[] = [
    ["audit_records", settings.retention.auditMs],
    ["record_inputs", inputsKeptMs(settings.retention)],
    ["events", settings.retention.eventsMs],
  ];
  for (const [table, keptMs] of tables) {
    for (let day = -1; day <= AHEAD; day++) {
      if (!(await makePartition(db, table, startOfDay(now) + day * DAY_MS)))
        log.warn({ table }, "could not create a partition because the table is locked; will retry");
    }
    const dropped = await dropPartitions(db, table, keptSince(now, keptMs));
    if (dropped.length > 0) log.info({ table, partitions: dropped }, "dropped expired partitions");
  }
  await pruneRollups(db, now, settings.retention);
}
