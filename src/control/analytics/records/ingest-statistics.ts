import type { StatisticsReport } from "../../../protocol/index.ts";
import { addCounts } from "../rollups/add-counts.ts";
import { periods } from "../rollups/count-decisions.ts";
import { PeriodTally } from "../rollups/tally.ts";
import type { UnitOfWork } from "../../platform/unit.ts";

/**
 * Counts a gateway's statistics since its last report; once, however often the report is sent. @returns whether it was
 * new
 */
export async function ingestStatistics(unit: UnitOfWork, report: StatisticsReport): Promise<boolean> {
  const { instance, sequence, caches, audit } = report;
  const fresh = await unit
    .trx("gateway_statistics")
    .insert({ instance, sequence, received_at: unit.now })
    .onConflict(["instance", "sequence"])
    .ignore()
    .returning("sequence");
  if (fresh.length === 0) return false;
  // a gateway whose clock is ahead must not add counts in the future
  const at = Math.min(Date.parse(report.to), unit.now.getTime());
  const ofCaches = new PeriodTally("minute");
  for (const { name, hits, misses, evictions } of caches) ofCaches.add(at, [name], [hits, misses, evictions]);
  const ofAudit = new PeriodTally("minute");
  ofAudit.add(at, [], [audit.decided, audit.recorded, audit.dropped]);
  await addCounts(unit.trx, "rollup_caches", periods(ofCaches, ["cache"], ["hits", "misses", "evictions"]));
  await addCounts(unit.trx, "rollup_audit", periods(ofAudit, [], ["decided", "recorded", "dropped"]));
  return true;
}
