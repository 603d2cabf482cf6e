import assert from "node:assert/strict";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { auditRoutes } from "../../../src/control/analytics/audit/routes.ts";
import { recordsRoutes } from "../../../src/control/analytics/records/routes.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../support/control.ts";
import { decisionRecord, takeOldRecords, takeRecords } from "./gateway-records.ts";

export const NOW = Date.parse("2026-03-01T12:30:00Z");
const HOUR = 3_600_000;

export interface Entry {
  readonly kind: string;
  readonly timestamp: string;
  readonly decision_id?: string;
  readonly [member: string]: unknown;
}

/** The API of the audit trail, for the tests of the suite that calls this; each begins with an empty trail. */
export function useAuditTrail() {
  let control: RunningControl;
  const empty = async () => {
    const tables = [
      "audit_records",
      "record_inputs",
      "rollup_decisions",
      "rollup_customer_traffic",
      "rollup_customers",
    ];
    for (const table of tables) await control.database.db(table).delete();
  };
  before(async () => {
    control = await startControl({
      clock: () => NOW,
      routes: (context) => [...recordsRoutes(context), ...auditRoutes(context)],
    });
  });
  after(() => control.close());
  afterEach(empty);

  async function list(query: Readonly<Record<string, string>> = {}, as: Actor = FULL_KEY) {
    const path = `/audit/logs?${new URLSearchParams(query).toString()}`;
    const answer = await control.request("GET", path, { as });
    assert.equal(answer.status, 200, answer.text);
    return {
      entries: answer.body.data as Entry[],
      pagination: answer.body.pagination as Record<string, number>,
      next: answer.headers.get("x-next-cursor"),
      exact: answer.headers.get("x-total-exact"),
    };
  }

  return {
    empty,
    list,
    context: () => control.context,
    control: () => control,
    take: (records: readonly object[]) => takeRecords(control, records),
    takeOld: (records: readonly object[]) => takeOldRecords(control, records),
    request: (path: string, options: Parameters<RunningControl["request"]>[2] = {}) =>
      control.request("GET", `/audit/logs${path}`, options),
    idsOf: async (query: Readonly<Record<string, string>>, as?: Actor): Promise<unknown[]> =>
      (await list(query, as)).entries.map(({ decision_id: id }) => id),
  };
}

/** Decisions of the last hour, with ids in the order of their time. */
export function decisions(
  count: number,
  changes: (index: number) => Readonly<Record<string, unknown>> = () => ({}),
) {
  return Array.from({ length: count }, (_, index) =>
    decisionRecord({
      timestamp: new Date(NOW - HOUR + index * 1000).toISOString(),
      decision_id: `dec_${String(index).padStart(4, "0")}`,
      ...changes(index),
    }),
  );
}
