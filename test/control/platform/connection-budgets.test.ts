import assert from "node:assert/strict";
import {
  connectionBudgets,
  SMALLEST_POOL,
  statementTimeouts,
  WORKLOADS,
  type Workload,
} from "../../../src/control/platform/connection-budgets.ts";
import { createAuthenticator } from "../../../src/control/authenticator.ts";
import { createGatewayFeed } from "../../../src/control/gateway/feed.ts";
import { healthRouter } from "../../../src/control/health.ts";
import { allRoutes } from "../../../src/control/routes.ts";
import { openPool, openWorkloads, type PoolsOptions } from "../../../src/processes/control-plane/pools.ts";
import { closeDatabase, isUnavailable, type Database } from "../../../src/storage/index.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, makeCustomer, makeKey } from "../../support/guarded-control.ts";
import { startControl, type RunningControl } from "../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { mutedPostgres, type MutedPostgres } from "../../support/muted-postgres.ts";

const served = ["api", "feed", "analytics", "intake"] as const;

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
    const bench = useBench({ acquireTimeoutMs: 3_500 });

    for (const exhausted of served) {
      it(`that of ${exhausted} alone answers 503, says when to come back, and is counted`, async () => {
        const { pools, metrics, requests, request } = bench;
        await bench.connect();
        const client = pools[exhausted].client as {
          acquireConnection(): Promise<object>;
          releaseConnection(connection: object): Promise<void>;
        };
        const connection = await client.acquireConnection();
        try {
          const answers = served.map(async (workload) => [workload, await requests[workload]()] as const);
          // what a gateway fetches while it evaluates a request is not the API's either
          const fetched = ["/gateway/users/nobody", "/gateway/policy-sets/none"].map(
            async (path) => [path, (await request("GET", path)).status] as const,
          );
          for (const [workload, { status, body, headers }] of await Promise.all(answers)) {
            if (workload === exhausted) {
              assert.deepEqual([status, body.error.code], [503, "SERVICE_UNAVAILABLE"]);
              assert.equal(headers.get("retry-after"), "1");
            } else assert.equal(status, 200, `${workload}: ${JSON.stringify(body)}`);
          }
          for (const [path, status] of await Promise.all(fetched))
            assert.equal(status, exhausted === "feed" ? 503 : 404, path);
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
      const { control, pools, request } = bench;
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

  describe("when the server falls silent", () => {
    const bench = useBench({
      statementTimeoutsMs: statementTimeouts(1_500, 1_500),
      acquireTimeoutMs: 1_000,
    });

    it("hold nobody up: 503 within the bound, and the health page says so", async () => {
      const { control, pools, requests } = bench;
      await bench.connect();
      bench.server.mute();
      const begun = performance.now();
      const ready = fetch(`${control.url}/readyz`).then(
        async (answer) => [answer.status, await answer.text()] as const,
      );
      for (const { status, body } of await Promise.all(served.map((workload) => requests[workload]())))
        assert.deepEqual([status, body.error.code], [503, "SERVICE_UNAVAILABLE"]);
      const asked = Object.values(pools).map((pool) => pool.raw("select 1").then(() => undefined));
      await Promise.all(asked.map((answer) => assert.rejects(answer, isUnavailable)));
      const [status, text] = await ready;
      assert.equal(status, 503);
      assert.equal(
        (JSON.parse(text) as { checks: { database: { ok: boolean } } }).checks.database.ok,
        false,
        text,
      );
      // twice three seconds, or five for a new connection
      assert.ok(performance.now() - begun < 25_000);
    });
  });
});

/** A control plane with the smallest pools before a server that can fall silent, for the tests of the suite that calls this. */
function useBench(times: Pick<PoolsOptions, "statementTimeoutsMs" | "acquireTimeoutMs">) {
  const metrics = createMetrics();
  let database: TestDatabase;
  let server: MutedPostgres;
  let api: Database;
  let control: RunningControl;
  let pools: Record<Workload, Database>;
  let close: () => Promise<void>;
  let secret: string;

  /** On a busy machine, a new connection may take longer than is waited for one. */
  const connect = async () => {
    for (const pool of Object.values(pools)) await eventually("a connection", () => pool.raw("select 1"));
  };

  before(async () => {
    database = await testDatabase();
    server = await mutedPostgres(database.url);
    const options = {
      environment: "production",
      url: server.url,
      budgets: connectionBudgets(SMALLEST_POOL),
      ...times,
      log: createLog({ level: "silent", name: "control" }),
      metrics,
    } as const;
    api = openPool("api", options);
    control = await startControl({
      database: { ...database, db: api },
      authenticator: (context) => createAuthenticator(context, pools.keys),
      beside: (context) => [healthRouter(context)],
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
    await connect();
    // the time for a statement, or to wait for a connection, may be over on a busy machine
    ({ secret } = await eventually("a key", () => makeKey(control)));
  });
  after(async () => {
    await server.close();
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
  return {
    ...{ metrics, request, requests, connect },
    get control() {
      return control;
    },
    get pools() {
      return pools;
    },
    get server() {
      return server;
    },
  };
}
