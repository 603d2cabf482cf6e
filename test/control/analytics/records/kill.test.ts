import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { recordsRoutes } from "../../../../src/control/analytics/records/routes.ts";
import { migrate, openDatabase } from "../../../../src/storage/index.ts";
import { startControl } from "../../../support/control.ts";
import { privatePostgres } from "../../../support/database.ts";
import { assertRollupsExact, decisionRecord, GATEWAY_KEY } from "../../support/gateway-records.ts";

const NOW = Date.parse("2026-03-01T12:30:00Z");
const BATCHES = 60;
const RECORDS = 40;

describe("records of gateways: kill -9 of PostgreSQL", () => {
  it("loses and doubles no acknowledged record, and its counts are those of the records", async () => {
    const postgres = await privatePostgres();
    const db = openDatabase(postgres.url, { poolSize: 4 });
    try {
      await migrate(db);
      const database = { url: postgres.url, db, close: () => Promise.resolve() };
      const control = await startControl({ database, clock: () => NOW, routes: recordsRoutes });
      try {
        let acknowledged = 0;
        let failures = 0;
        const sent: string[] = [];
        const batches = Array.from({ length: BATCHES }, (_, batch) =>
          Array.from({ length: RECORDS }, (__, index) =>
            decisionRecord({
              timestamp: new Date(NOW - batch * 1000).toISOString(),
              user_id: `usr_${index % 7}`,
              ...(index === 0 && { decision: "DENY", reason: "MFA_REQUIRED" }),
            }),
          ),
        );
        /** A gateway: sends a batch until it is acknowledged. */
        const gateway = async (own: typeof batches) => {
          for (const records of own) {
            for (;;) {
              const answer = await control.request("POST", "/gateway/records", {
                body: { records },
                as: GATEWAY_KEY,
              });
              if (answer.status === 200) break;
              failures++;
              assert.ok([500, 503].includes(answer.status), answer.text);
              await delay(100);
            }
            acknowledged++;
            sent.push(...records.map(({ decision_id: id }) => id));
          }
        };
        const killing = async () => {
          for (const after of [5, 25, 45]) {
            while (acknowledged < after) await delay(5);
            await postgres.kill9();
            await postgres.restart();
          }
        };
        const third = BATCHES / 3;
        await Promise.all([
          gateway(batches.slice(0, third)),
          gateway(batches.slice(third, 2 * third)),
          gateway(batches.slice(2 * third)),
          killing(),
        ]);
        assert.ok(failures > 0, "no request met the kill");
        const rows = await db("audit_records").select<{ id: string }[]>("id");
        assert.deepEqual(rows.map(({ id }) => id).sort(), sent.sort());
        await assertRollupsExact(db);
        const [events] = await db("events").count({ violations: "*" });
        assert.deepEqual(events, { violations: BATCHES });
      } finally {
        await control.close();
      }
    } finally {
      await db.destroy();
      await postgres.close();
    }
  });
});
