import assert from "node:assert/strict";
import { createAuthenticator } from "../../../src/control/authenticator.ts";
import { createGatewayFeed } from "../../../src/control/gateway/feed.ts";
import { connectionBudgets } from "../../../src/control/platform/connection-budgets.ts";
import { allRoutes } from "../../../src/control/routes.ts";
import { openWorkloads } from "../../../src/processes/control-plane/pools.ts";
import type { Database } from "../../../src/storage/index.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { startControl, type RunningControl } from "../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, makeKey, send } from "../../support/guarded-control.ts";
import { decisionRecord } from "../support/gateway-records.ts";
import { lockWaits } from "../../support/lock-waits.ts";

/** Of each pool of gateways, with the default size. */
const CONNECTIONS = connectionBudgets(10).intake;
const FLOOD = 12;

describe("one gateway that wants every connection", () => {
  let database: TestDatabase;
  let control: RunningControl;
  let opened: ReturnType<typeof openWorkloads>;

  before(async () => {
    database = await testDatabase();
    const log = createLog({ level: "silent", name: "control", destination: { write: () => undefined } });
    const budgets = connectionBudgets(10);
    const options = { environment: "production", url: database.url, log, budgets } as const;
    control = await startControl({
      database,
      routes(context, shared) {
        opened = openWorkloads(context, options);
        return allRoutes(context, {
          ...{ ...shared, feed: createGatewayFeed(context), workloads: opened.workloads },
        });
      },
      authenticator: (context) => createAuthenticator(context, opened.workloads.keys?.db),
    });
  });
  after(async () => {
    await control.close();
    await opened.close();
    await database.close();
  });

  const records = { records: [decisionRecord({ timestamp: new Date().toISOString() })] };
  const WORK = [
    {
      ...{ title: "the records of another are the next to be stored", table: "audit_records", ok: 200 },
      pool: () => opened.workloads.intake?.db,
      ask: (headers: Readonly<Record<string, string>>) =>
        send(control, "POST", "/gateway/records", headers, records),
    },
    {
      ...{ title: "the look-up of another is the next to be answered", table: "users", ok: 404 },
      pool: () => opened.workloads.feed?.db,
      ask: (headers: Readonly<Record<string, string>>) =>
        send(control, "GET", "/gateway/users/usr_nobody", headers),
    },
  ];
  for (const { title, table, ok, pool, ask } of WORK)
    it(title, async () => {
      const keys = await Promise.all([1, 2].map(() => makeKey(control, { scope: "gateway" })));
      const [loud, quiet] = keys.map(({ secret }) => bearer(secret));
      assert.ok(loud && quiet);
      const db: Database | undefined = pool();
      assert.ok(db);
      // so that both are known, and looking up their keys takes no time
      for (const headers of [loud, quiet]) assert.equal((await ask(headers)).status, ok);
      const client = db.client as { acquireConnection(): Promise<object> };
      const acquire = client.acquireConnection.bind(client);
      let asked = 0;
      /** By their turn in asking: the last of them is the quiet one. */
      const given: number[] = [];
      client.acquireConnection = async () => {
        const turn = asked;
        asked += 1;
        const connection = await acquire();
        given.push(turn);
        return connection;
      };
      const held = await database.db.transaction();
      try {
        await held.raw(`lock table ${table} in access exclusive mode`);
        const blocked = async () => {
          return (await lockWaits(database.db)).length;
        };
        const statusOf = async (headers: Readonly<Record<string, string>>) => (await ask(headers)).status;
        const flood = Array.from({ length: FLOOD }, () => statusOf(loud));
        // one alone may have all of them
        await eventually("its share is used up", async () => (await blocked()) === CONNECTIONS);
        await eventually("all of it", () => asked === FLOOD);
        const other = statusOf(quiet);
        await eventually("the other one", () => asked === FLOOD + 1);
        await held.rollback();
        assert.deepEqual([...new Set(await Promise.all([...flood, other]))], [ok]);
        // behind those that had a connection, and one in its turn for each
        assert.ok(given.includes(FLOOD) && given.indexOf(FLOOD) <= 2 * CONNECTIONS, given.join(" "));
      } finally {
        client.acquireConnection = acquire;
        if (!held.isCompleted()) await held.rollback();
      }
    });
});
