import assert from "node:assert/strict";
import { Router } from "express";
import { connectionBudgets } from "../../../src/control/platform/connection-budgets.ts";
import { createAuthenticator } from "../../../src/control/authenticator.ts";
import { newId } from "../../../src/control/platform/ids.ts";
import { createGatewayFeed } from "../../../src/control/gateway/feed.ts";
import { healthRouter } from "../../../src/control/health.ts";
import { allRoutes } from "../../../src/control/routes.ts";
import { oauthRouter } from "../../../src/control/sign-in/oauth/router.ts";
import { openPool, openWorkloads } from "../../../src/processes/control-plane/pools.ts";
import { currentCaller } from "../../../src/storage/caller-turns.ts";
import { closeDatabase, forCaller, type Database } from "../../../src/storage/index.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, makeCustomer, makeKey } from "../../support/guarded-control.ts";
import { startControl, type RunningControl } from "../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { lockWaits } from "../../support/lock-waits.ts";

describe("one caller that wants every connection", () => {
  let database: TestDatabase;
  let api: Database;
  let control: RunningControl;
  let opened: ReturnType<typeof openWorkloads>;
  let answered = 0;
  const metrics = createMetrics();
  const logged: string[] = [];

  before(async () => {
    database = await testDatabase();
    const log = createLog({
      level: "warn",
      name: "control",
      destination: { write: (line) => void logged.push(line) },
    });
    const options = {
      environment: "production",
      url: database.url,
      budgets: connectionBudgets(10),
      log,
      metrics,
    } as const;
    api = openPool("api", options);
    const counting = Router().use((_request, response, next) => {
      response.once("close", () => (answered += 1));
      next();
    });
    control = await startControl({
      database: { ...database, db: api },
      routes(context, shared) {
        opened = openWorkloads(context, options);
        return allRoutes(context, {
          ...{ ...shared, feed: createGatewayFeed(context), workloads: opened.workloads },
        });
      },
      authenticator: (context) => createAuthenticator(context, opened.workloads.keys?.db),
      beside: (context, parts) => [
        counting,
        healthRouter({ db: opened.readiness, log }),
        oauthRouter(context, parts),
      ],
    });
  });
  after(async () => {
    await control.close();
    await opened.close();
    await closeDatabase(api);
    await database.close();
  });

  it("the others do not wait, whatever keys it uses and whatever it asks for; who has gone is not served", async () => {
    const [loud, quiet] = [await makeCustomer(control, "Loud"), await makeCustomer(control, "Quiet")];
    const keys = await Promise.all([loud, loud, quiet].map((customerId) => makeKey(control, { customerId })));
    const [one, two, other] = keys.map(({ secret }) => bearer(secret));
    const [key] = keys;
    assert.ok(one && two && other && key);
    const put = (id: string, headers: Readonly<Record<string, string>>) =>
      control.request("PUT", `/customers/${id}`, { as: null, headers, body: { metadata: { a: "1" } } });
    const gone = new AbortController();
    const held = await database.db.transaction();
    try {
      await held("customers").where({ id: loud }).forUpdate();
      const writes = [one, two, one, two].map((headers) => put(loud, headers));
      const blocked = async () => {
        return (await lockWaits(database.db)).length;
      };
      await eventually("its share is used up", async () => (await blocked()) === 2);
      const served: string[] = [];
      const inspect = fetch(`${control.url}/oauth2/introspect`, {
        method: "POST",
        body: new URLSearchParams({
          token: "x".repeat(43),
          client_id: key.row.id,
          client_secret: key.secret,
        }),
      }).then(({ status }) => served.push(`introspected ${status}`));
      const cut = fetch(`${control.url}/v1/customers/${loud}/users`, {
        method: "POST",
        headers: { ...one, "content-type": "application/json" },
        body: JSON.stringify({ subject: "gone" }),
        signal: gone.signal,
      });
      assert.equal((await put(quiet, other)).status, 200);
      assert.equal(
        (await control.request("GET", `/customers/${quiet}`, { as: null, headers: other })).status,
        200,
      );
      assert.equal((await fetch(`${control.url}/readyz`)).status, 200);
      const before = answered;
      gone.abort();
      await assert.rejects(cut);
      await eventually("the server has seen it", () => answered > before);
      assert.equal(await blocked(), 2);
      assert.deepEqual(served, []);
      await held.rollback();
      assert.deepEqual(
        await Promise.all(writes.map(async (write) => (await write).status)),
        Array(4).fill(200),
      );
      await inspect;
      assert.deepEqual(served, ["introspected 200"]);
    } finally {
      if (!held.isCompleted()) await held.rollback();
    }
    const { body } = await control.request("GET", `/customers/${loud}/users`, { as: null, headers: one });
    assert.deepEqual(body.data, []);
  });

  it("nor do they wait for the look-up of somebody who has yet to prove who they are", async () => {
    const quiet = await makeCustomer(control, "Third");
    const { secret } = await makeKey(control, { customerId: quiet });
    const held = await database.db.transaction();
    try {
      await held.raw("lock table clients in access exclusive mode");
      const unknown = Array.from({ length: 3 }, () =>
        fetch(`${control.url}/oauth2/token`, {
          method: "POST",
          body: new URLSearchParams({
            grant_type: "client_credentials",
            client_id: newId("client"),
            client_secret: "x",
          }),
        }),
      );
      await eventually("their share is used up", async () => {
        return (await lockWaits(database.db)).length >= 2;
      });
      const { status } = await control.request("GET", `/customers/${quiet}`, {
        as: null,
        headers: bearer(secret),
      });
      assert.equal(status, 200);
      await held.rollback();
      assert.deepEqual(
        await Promise.all(unknown.map(async (answer) => (await answer).status)),
        [401, 401, 401],
      );
    } finally {
      if (!held.isCompleted()) await held.rollback();
    }
  });

  it("nor for its analytics and exports, which have connections and turns of their own", async () => {
    const [loud, quiet] = [await makeCustomer(control, "Reader"), await makeCustomer(control, "Other")];
    const [one, other] = (
      await Promise.all([loud, quiet].map((customerId) => makeKey(control, { customerId })))
    ).map(({ secret }) => bearer(secret));
    assert.ok(one && other);
    const get = (path: string, headers: Readonly<Record<string, string>>) =>
      control.request("GET", path, { as: null, headers });
    const user = await control.request("POST", `/customers/${loud}/users`, {
      ...{ as: null, headers: one, body: { subject: "s" } },
    });
    const held = await database.db.transaction();
    try {
      await held.raw("lock table rollup_users in access exclusive mode");
      const reads = ["/analytics/users", `/users/${user.body.data.id as string}/export`, "/analytics/users"];
      const answers = reads.map((path) => get(path, one));
      await eventually("its share is used up", async () => {
        return (await lockWaits(database.db)).length >= 1;
      });
      for (const path of ["/analytics/events", "/audit/logs", "/audit/logs?format=ndjson"])
        assert.equal((await get(path, other)).status, 200, path);
      await held.rollback();
      assert.deepEqual(
        await Promise.all(answers.map(async (answer) => (await answer).status)),
        [200, 200, 200],
      );
    } finally {
      if (!held.isCompleted()) await held.rollback();
    }
  });

  it("each page of an export that a reader takes its time for is its caller's", async () => {
    const customerId = await makeCustomer(control, "Exporter");
    const { secret } = await makeKey(control, { customerId });
    const rows = Array.from({ length: 3_500 }, (_, index) => ({
      timestamp: new Date(Date.now() - index),
      ...{ kind: "decision", id: `dec_${index}`, request_id: "r", customer_id: customerId, user_id: "" },
      ...{ resource: "/", action: "GET", client_ip: "", record: { text: "x".repeat(500) } },
    }));
    await database.db.batchInsert("audit_records", rows, 500);
    const callers: (string | undefined)[] = [];
    const pool = opened.workloads.analytics?.db;
    assert.ok(pool);
    pool.on("query", () => callers.push(currentCaller()?.id));
    const answer = await fetch(`${control.url}/v1/audit/logs?format=ndjson`, { headers: bearer(secret) });
    const text = await answer.text();
    assert.equal(text.split("\n").length - 1 >= rows.length, true);
    assert.ok(callers.length >= 4);
    assert.deepEqual([...new Set(callers)], [customerId]);
  });

  it("whose queue is full is answered 429, counted and logged as such, and no pool is exhausted", async () => {
    const customerId = await makeCustomer(control, "Flood");
    const { row, secret } = await makeKey(control, { customerId });
    const get = () =>
      control.request("GET", `/customers/${customerId}`, { as: null, headers: bearer(secret) });
    const caller = { id: customerId, signal: new AbortController().signal };
    const client = api.client as {
      acquireConnection(): Promise<object>;
      releaseConnection(connection: object): Promise<void>;
    };
    const share = await Promise.all(
      Array.from({ length: connectionBudgets(10).api - 1 }, () =>
        forCaller(caller, () => client.acquireConnection()),
      ),
    );
    const waiting = Array.from({ length: 1_000 }, () =>
      forCaller(caller, async () => {
        await api.raw("select 1");
      }),
    );
    logged.length = 0;
    try {
      for (let n = 0; n < 2; n += 1) {
        const { status, body, headers } = await get();
        assert.deepEqual([status, body.error.code], [429, "RATE_LIMIT_EXCEEDED"]);
        assert.equal(headers.get("retry-after"), "1");
        assert.match(body.error.message as string, /too many of the caller's requests are waiting/);
      }
      const inspected = await fetch(`${control.url}/oauth2/introspect`, {
        method: "POST",
        body: new URLSearchParams({ token: "x", client_id: row.id, client_secret: secret }),
      });
      assert.equal(inspected.status, 429);
      assert.equal(inspected.headers.get("retry-after"), "1");
      assert.equal(((await inspected.json()) as { error: string }).error, "temporarily_unavailable");
    } finally {
      for (const connection of share) await client.releaseConnection(connection);
    }
    await Promise.all(waiting);
    assert.equal((await get()).status, 200);
    const lines = logged.filter((line) => line.includes("refused requests of a caller"));
    assert.equal(lines.length, 1);
    const { caller: who, actor, reason, workload } = JSON.parse(lines[0] ?? "{}") as Record<string, unknown>;
    assert.deepEqual([who, actor, reason, workload], [customerId, row.id, "queue_full", "api"]);
    assert.ok(!logged.join("").includes(secret));
    const count = async (counter: typeof metrics.turnsRefused | typeof metrics.poolExhausted) =>
      (await counter.get()).values
        .filter(
          ({ labels }) =>
            labels.workload === "api" &&
            ["queue_full", undefined].includes((labels as { reason?: string }).reason),
        )
        .map(({ value }) => value);
    assert.deepEqual(await count(metrics.turnsRefused), [3]);
    assert.deepEqual(await count(metrics.poolExhausted), [0]);
  });

  it("the health page tells of the database, not of those who wait for the API's connections", async () => {
    const client = api.client as {
      acquireConnection(): Promise<object>;
      releaseConnection(connection: object): Promise<void>;
    };
    const taken = await Promise.all(
      Array.from({ length: connectionBudgets(10).api }, () => client.acquireConnection()),
    );
    try {
      assert.equal((await fetch(`${control.url}/readyz`)).status, 200);
    } finally {
      for (const connection of taken) await client.releaseConnection(connection);
    }
  });
});
