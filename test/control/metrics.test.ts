import assert from "node:assert/strict";
import { loadGatewayConfig } from "../../src/config/index.ts";
import { serveControlPlaneMetrics } from "../../src/processes/control-plane/metrics.ts";
import { startControlPlane } from "../../src/processes/control-plane/start.ts";
import { openPool } from "../../src/processes/control-plane/pools.ts";
import { closeDatabase } from "../../src/storage/index.ts";
import type { ControlPlaneMetrics } from "../../src/telemetry/control-plane-metrics.ts";
import { silentLog } from "../decision/support.ts";
import { temporaryDirectory, testDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

describe("metrics of a control plane that runs alone", () => {
  it("are its own and no gateway's, from zero on", async () => {
    const database = await testDatabase();
    const loaded = loadGatewayConfig({
      overrides: {
        "api.port": 0,
        "api.environments": ["production"],
        "api.data_directory": await temporaryDirectory(),
        "api.encryption_key": Buffer.alloc(32, 1).toString("base64"),
        "database.url": database.url,
        "telemetry.control_plane_port": 0,
      },
      env: {},
    });
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
    const served = await serveControlPlaneMetrics(loaded.config, silentLog);
    try {
      const scrape = async () => (await fetch(`${served.url}/metrics`)).text();
      const plane = await startControlPlane(loaded.config, { log: silentLog, metrics: served.metrics });
      try {
        const body = await scrape();
        for (const workload of ["api", "feed", "analytics", "intake", "keys"])
          assert.ok(body.includes(exhausted(workload, 0)), body);
        const names = [...body.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);
        assert.deepEqual(names.sort(), [
          "gatehouse_api_access_log_dropped_total",
          "gatehouse_api_refused_calls_total",
          "gatehouse_api_request_duration_seconds",
          "gatehouse_api_requests_total",
          "gatehouse_database_pool_exhausted_total",
          "gatehouse_database_turns_refused_total",
          "gatehouse_gateways",
          "gatehouse_policy_reload_failed",
          "gatehouse_webhook_deliveries_waiting",
          "gatehouse_webhook_delivery_delay_seconds",
          "gatehouse_webhooks",
        ]);
      } finally {
        await plane.close();
      }
      const before = await waitInVain(database.url, served.metrics);
      const body = await scrape();
      assert.ok(body.includes(exhausted("feed", before + 1)), body);
      assert.equal((await fetch(`${served.url}/readyz`)).status, 404);
    } finally {
      await served.close();
      await database.close();
    }
  });

  const exhausted = (workload: string, count: number) =>
    `gatehouse_database_pool_exhausted_total{environment="production",workload="${workload}"} ${count}\n`;

  /** Has somebody wait for the only connection, and returns what was counted before. */
  async function waitInVain(url: string, metrics: ControlPlaneMetrics): Promise<number> {
    const budgets = { api: 1, feed: 1, analytics: 1, intake: 1, keys: 1 };
    const options = { environment: "production", url, budgets, acquireTimeoutMs: 500 } as const;
    const pool = openPool("feed", { ...options, log: silentLog, metrics });
    try {
      // the time to wait bounds the making of a connection, too
      const held = await eventually("the only connection", () => pool.transaction());
      const { values } = await metrics.poolExhausted.get();
      const before = values.find(({ labels }) => labels.workload === "feed")?.value ?? 0;
      await assert.rejects(pool.raw("select 1").then(() => undefined));
      await held.rollback();
      return before;
    } finally {
      await closeDatabase(pool);
    }
  }
});
