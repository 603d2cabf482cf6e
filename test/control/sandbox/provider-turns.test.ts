import assert from "node:assert/strict";
import {
  closeDatabase,
  currentCaller,
  forCaller,
  openDatabase,
  type Database,
} from "../../../src/storage/index.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startSandbox, type Sandbox } from "../support/sandbox.ts";
import { lockWaits } from "../../support/lock-waits.ts";

describe("the sandbox's provider, which asks for no credentials", () => {
  let database: TestDatabase;
  let api: Database;
  let sandbox: Sandbox;

  before(async () => {
    database = await testDatabase();
    // two for one address, one for others, and one for maintenance, which deletes what the test locks
    api = openDatabase(database.url, {
      ...{ poolSize: 4, mostOfCaller: 2 },
      ...{ inTurns: true, applicationName: "turns" },
    });
    sandbox = await startSandbox({
      database: { ...database, db: api },
      settings: { trustedProxies: ["127.0.0.1"] },
    });
    await fetch(`${sandbox.url}/idp/.well-known/openid-configuration`);
  });
  after(async () => {
    await sandbox.close();
    await closeDatabase(api);
    await database.close();
  });

  it("leaves a connection to others, however many requests one address sends", async () => {
    await eventually("what runs at the start has ended", async () => {
      const { rows } = await database.db.raw<{ rows: object[] }>(
        "select from pg_stat_activity where datname = current_database() and application_name = 'turns' and state <> 'idle'",
      );
      return rows.length === 0;
    });
    const held = await database.db.transaction();
    try {
      await held.raw("lock table sandbox_provider_state in access exclusive mode");
      const asked = Array.from({ length: 5 }, () =>
        fetch(`${sandbox.url}/idp/me`, { headers: { authorization: `Bearer ${"x".repeat(43)}` } }),
      );
      await eventually("its share is used up", async () => {
        return (await lockWaits(database.db, { application: "turns" })).length >= 2;
      });
      const { status, text } = await sandbox.request("GET", "/customers");
      assert.equal(status, 200, text);
      await held.rollback();
      for (const { status } of await Promise.all(asked)) assert.equal(status, 401);
    } finally {
      if (!held.isCompleted()) await held.rollback();
    }
  });

  it("serves what the process itself asks of it as work of those who sign in", async () => {
    const { authorization_url: url, state } = await sandbox.authorize(await sandbox.customer());
    const issuer = `${new URL(url).origin}/idp`;
    const callers = new Set<string | undefined>();
    const note = ({ sql }: { readonly sql: string }) => {
      if (sql.includes("sandbox_provider_state")) callers.add(currentCaller()?.id);
    };
    // more than enough of others who come from the same address as the process itself
    const itself = { id: "ip:127.0.0.1", signal: new AbortController().signal };
    const held = await Promise.all([0, 1].map(() => forCaller(itself, () => api.transaction())));
    const waiting = Array.from({ length: 1_000 }, () =>
      forCaller(itself, async () => {
        await api.raw("select 1");
      }),
    );
    api.on("query", note);
    try {
      const callback = new URL("/v1/auth/callback", sandbox.url);
      callback.search = new URLSearchParams({ state, code: "x".repeat(43), iss: issuer }).toString();
      const { status } = await fetch(callback, {
        redirect: "manual",
        headers: { "x-forwarded-for": "203.0.113.5" },
      });
      assert.equal(status, 303);
      assert.deepEqual([...callers], ["ip:203.0.113.5"]);
    } finally {
      api.off("query", note);
      await Promise.all(held.map((trx) => trx.rollback()));
      await Promise.all(waiting);
    }
  });

  it("takes nobody's word for whose work it is", async () => {
    const callers = new Set<string | undefined>();
    const note = () => callers.add(currentCaller()?.id);
    api.on("query", note);
    try {
      for (const value of ["cus_x", "0".repeat(32), "__proto__", ""])
        await fetch(`${sandbox.url}/idp/me`, {
          headers: {
            authorization: `Bearer ${"x".repeat(43)}`,
            "x-forwarded-for": "203.0.113.5",
            "x-gatehouse-own-request": value,
          },
        });
    } finally {
      api.off("query", note);
    }
    callers.delete(undefined);
    assert.deepEqual([...callers], ["ip:203.0.113.5"]);
  });
});
