import type { ControlContext } from "../../platform/context.ts";
import { pruneRollups } from "../rollups/prune-rollups.ts";
import { dropPartitions, keptSince, makePartition, startOfDay, type DailyTable } from "./partitions.ts";

const DAY_MS = 86_400_000;
/** Days that have their partition before they come, so that several failures in a row do no harm. */
const AHEAD = 7;

/** Makes partitions ahead, and drops expired ones; any number of instances may do so. */
export async function maintainPartitions(
  context: Pick<ControlContext, "db" | "clock" | "log" | "settings">,
): Promise<void> {
  const { db, log, settings } = context;
  const now = context.clock();
  const tables: readonly (readonly [DailyTable, number])[] = [
    ["audit_records", settings.retention.auditMs],
    ["events", settings.retention.eventsMs],
  ];
  for (const [table, keptMs] of tables) {
    for (let day = -1; day <= AHEAD; day++) {
      if (!(await makePartition(db, table, startOfDay(now) + day * DAY_MS)))
        log.warn({ table }, "a partition was not made: the table is locked; it is tried again later");
    }
    const dropped = await dropPartitions(db, table, keptSince(now, keptMs));
    if (dropped.length > 0)
      log.info({ table, partitions: dropped }, "partitions were dropped after their retention");
  }
  await pruneRollups(db, now, settings.retention);
}
