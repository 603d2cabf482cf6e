import assert from "node:assert/strict";
import {
  connectionBudgets,
  SMALLEST_POOL,
  WORKLOADS,
  type Workload,
} from "../../../src/control/platform/connection-budgets.ts";
import { createAuthenticator } from "../../../src/control/authenticator.ts";
import { createGatewayFeed } from "../../../src/control/gateway/feed.ts";
import { allRoutes } from "../../../src/control/routes.ts";
import { openPool, openWorkloads } from "../../../src/processes/control-plane/pools.ts";
import { closeDatabase, type Database } from "../../../src/storage/index.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, makeCustomer, makeKey } from "../../support/guarded-control.ts";
import { startControl, type RunningControl } from "../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";

describe("connection budgets", () => {
  it("add up to the pool, and each kind of work has at least one connection", () => {
    for (let size: number = SMALLEST_POOL; size <= 1_000; size += 1) {
      const budgets = connectionBudgets(size);
      const shares = WORKLOADS.map((workload) => budgets[workload]);
      assert.equal(
        shares.reduce((sum, share) => sum + share, 0),
        size,
      );
      assert.ok(shares.every((share) => share >= 1));
      assert.ok(budgets.api >= budgets.analytics && budgets.feed <= 2);
    }
    assert.deepEqual(connectionBudgets(10), { api: 3, feed: 2, analytics: 2, intake: 2, keys: 1 });
  });

  describe("when they are exhausted", () => {
    const metrics = createMetrics();
    let database: TestDatabase;
    let api: Database;
    let control: RunningControl;
    let pools: Record<Workload, Database>;
    let close: () => Promise<void>;
    let secret: string;

    before(async () => {
      database = await testDatabase();
      const options = {
        environment: "production",
        url: database.url,
        budgets: connectionBudgets(SMALLEST_POOL),
        acquireTimeoutMs: 1_000,
        log: createLog({ level: "silent", name: "control" }),
        metrics,
      } as const;
      api = openPool("api", options);
      control = await startControl({
        database: { ...database, db: api },
        authenticator: (context) => createAuthenticator(context, pools.keys),
        routes(context, shared) {
          const opened = openWorkloads(context, options);
          const { feed, analytics, intake, keys } = opened.workloads;
          assert.ok(feed && analytics && intake && keys);
          pools = { api, feed: feed.db, analytics: analytics.db, intake: intake.db, keys: keys.db };
          const changes = createGatewayFeed(feed);
          close = async () => {
            await changes.close();
            await opened.close();
          };
          return allRoutes(context, { ...shared, feed: changes, workloads: opened.workloads });
        },
      });
      // on a busy machine a new connection may take longer than is waited for one
      for (const pool of Object.values(pools)) await eventually("a connection", () => pool.raw("select 1"));
      ({ secret } = await makeKey(control));
    });
    after(async () => {
      await control.close();
      await close();
      await closeDatabase(api);
      await database.close();
    });

    const request = (method: string, path: string, body?: object) =>
      control.request(method, path, {
        as: null,
        headers: bearer(secret),
        ...(body !== undefined && { body }),
      });

    /** A request of each kind of work. */
    const requests = {
      api: () => request("GET", "/customers"),
      feed: () => request("GET", "/gateway/state"),
      analytics: () => request("GET", "/analytics/users"),
      intake: () =>
        request("POST", "/gateway/statistics", {
          ...{ instance: "gateway", sequence: 1, caches: [] },
          ...{ from: new Date(Date.now() - 1000).toISOString(), to: new Date().toISOString() },
          audit: { decided: 1, recorded: 1, dropped: 0 },
        }),
    } satisfies Partial<Record<Workload, unknown>>;
    const served = ["api", "feed", "analytics", "intake"] as const;

    for (const exhausted of served) {
      it(`that of ${exhausted} alone answers 503, says when to come back, and is counted`, async () => {
        const client = pools[exhausted].client as {
          acquireConnection(): Promise<object>;
          releaseConnection(connection: object): Promise<void>;
        };
        const connection = await client.acquireConnection();
        try {
          for (const workload of served) {
            const { status, body, headers } = await requests[workload]();
            if (workload === exhausted) {
              assert.deepEqual([status, body.error.code], [503, "SERVICE_UNAVAILABLE"]);
              assert.equal(headers.get("retry-after"), "1");
            } else assert.equal(status, 200, `${workload}: ${JSON.stringify(body)}`);
          }
          // what a gateway fetches while it judges a request is not the API's either
          for (const path of ["/gateway/users/nobody", "/gateway/policy-sets/none"]) {
            const { status } = await request("GET", path);
            assert.equal(status, exhausted === "feed" ? 503 : 404, path);
          }
        } finally {
          await client.releaseConnection(connection);
        }
        const { values } = await metrics.poolExhausted.get();
        // some answers take several connections at once
        assert.ok(values.some(({ labels, value }) => labels.workload === exhausted && value > 0));
        assert.equal((await requests[exhausted]()).status, 200);
      });
    }

    it("an export reads over the connections of analytics", async () => {
      const customer = await makeCustomer(control);
      const user = await request("POST", `/customers/${customer}/users`, { subject: "s" });
      const read: string[] = [];
      pools.analytics.on("query", ({ sql }: { sql: string }) => read.push(sql));
      const { status } = await request("GET", `/users/${user.body.data.id as string}/export`);
      assert.equal(status, 200);
      for (const table of ["rollup_users", "sessions", "events", "audit_records"])
        assert.ok(
          read.some((sql) => sql.includes(table)),
          table,
        );
    });
  });
});
