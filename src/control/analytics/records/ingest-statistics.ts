import type * as z from "zod";
import type { StatisticsReport, statisticsTaken } from "../../../protocol/index.ts";
import { clientOf } from "../../platform/actor.ts";
import { addCounts } from "../rollups/add-counts.ts";
import { periods } from "../rollups/count-decisions.ts";
import { PeriodTally } from "../rollups/tally.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { outOfBounds, type TimeBounds } from "./time-bounds.ts";

/** Counts a gateway's statistics since its last report; once, however often the report is sent. */
export async function ingestStatistics(
  unit: UnitOfWork,
  report: StatisticsReport,
  bounds: TimeBounds,
): Promise<z.input<typeof statisticsTaken>> {
  const { caches, audit } = report;
  const to = Date.parse(report.to);
  const reason = outOfBounds(to, bounds) ?? ((await isNew(unit, report, bounds)) ? undefined : "DUPLICATE");
  if (reason !== undefined) return { accepted: false, reason };
  // a gateway whose clock is ahead must not add counts in the future
  const at = Math.min(to, bounds.now);
  const ofCaches = new PeriodTally("minute");
  for (const { name, hits, misses, evictions } of caches) ofCaches.add(at, [name], [hits, misses, evictions]);
  const ofAudit = new PeriodTally("minute");
  ofAudit.add(at, [], [audit.decided, audit.recorded, audit.dropped]);
  await addCounts(unit.trx, "rollup_caches", periods(ofCaches, ["cache"], ["hits", "misses", "evictions"]));
  await addCounts(unit.trx, "rollup_audit", periods(ofAudit, [], ["decided", "recorded", "dropped"]));
  return { accepted: true };
}

/**
 * Notes a report: by its sender too, because anybody with a key may send any `instance`. A key and the one that it is
 * rolled to are the same sender. The note has the time by which the report is accepted: with an earlier one it would be
 * removed while the report is still accepted, and the report would be counted again.
 */
async function isNew(
  { trx, origin }: UnitOfWork,
  { instance, sequence }: StatisticsReport,
  { now }: TimeBounds,
): Promise<boolean> {
  const receivedAt = new Date(now);
  const sender = clientOf(origin.actor);
  const fresh = await trx("gateway_reports")
    .insert({ sender, instance, sequence, received_at: receivedAt })
    .onConflict(["sender", "instance", "sequence"])
    .ignore()
    .returning("sequence");
  if (fresh.length === 0) return false;
  // instances of the release before know reports from this table alone, and do not write the sender
  const shared = { instance, sequence };
  await trx("gateway_statistics")
    .insert({ ...shared, received_at: receivedAt, sender })
    .onConflict(["instance", "sequence"])
    .ignore();
  return (await trx("gateway_statistics").where(shared).whereNull("sender").first("sequence")) === undefined;
}
