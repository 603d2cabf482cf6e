import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { createAuthenticator } from "../../../src/control/authenticator.ts";
import { createApiKey, revokeApiKey } from "../../../src/control/resources/api-keys/store.ts";
import { CHANNEL } from "../../../src/control/platform/gateway-signal.ts";
import { ChangeSignal } from "../../../src/control/gateway/change-signal.ts";
import type { Database } from "../../../src/storage/index.ts";
import { FULL_KEY } from "../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, makeKey, OPERATOR, send } from "../../support/guarded-control.ts";
import { endOf, FeedInstance, sessionsOf } from "../support/feed-instance.ts";

describe("a poll of the gateway feed that waits", () => {
  let database: TestDatabase;
  let db: Database;
  let instance: FeedInstance;

  beforeEach(async () => {
    database = await testDatabase();
    ({ db } = database);
    instance = await FeedInstance.start(database);
  });
  afterEach(async () => {
    await instance.close();
    await database.close();
  });

  it("is answered by a change", async () => {
    const { cursor } = await instance.read();
    const poll = instance.read(`?wait=30&after=${cursor}`);
    await instance.waits();
    await instance.append(endOf("ses_1"));
    assert.deepEqual(sessionsOf(await poll), ["ses_1"]);
  });

  it("is answered with nothing when its time is over", async () => {
    const { cursor } = await instance.read();
    const state = await instance.read(`?wait=1&after=${cursor}`);
    assert.deepEqual(state, {
      cursor,
      complete: false,
      customers: [],
      customers_deleted: [],
      sessions_ended: [],
      users: [],
      policy_sets: [],
    });
  });

  it("is answered by a change that another instance makes", async () => {
    const second = await FeedInstance.start(database);
    try {
      const customer = await instance.makeCustomer();
      const user = await instance.makeUser(customer);
      const { cursor } = await instance.read();
      const poll = second.read(`?wait=30&after=${cursor}`);
      await second.waits();
      await instance.put(`/users/${user}`, { status: "suspended" });
      assert.deepEqual((await poll).users, [{ id: user, customer_id: customer, status: "suspended" }]);
    } finally {
      await second.close();
    }
  });

  it("is answered with nothing when a key is revoked, by another instance too: the next one is then refused", async () => {
    const second = await FeedInstance.start(database);
    try {
      const { context } = instance.control;
      const { row } = await context.units(OPERATOR, (unit) =>
        createApiKey(unit, { environment: "production", name: "gateway", scope: "gateway" }),
      );
      const { cursor } = await instance.read();
      // by then it listens
      await second.read(`?wait=3&after=${cursor}`);
      let answered: Awaited<ReturnType<FeedInstance["read"]>> | undefined;
      const poll = second.read(`?wait=30&after=${cursor}`).then((state) => (answered = state));
      await second.waits();
      await context.units(OPERATOR, (unit) => revokeApiKey(unit, row.id));
      await eventually("the answer, long before its time", () => answered, 20_000);
      assert.deepEqual([answered?.cursor, answered?.sessions_ended], [cursor, []]);
      await poll;
      // and not once more: the next question waits again
      const next = second.read(`?wait=1&after=${cursor}`);
      await second.waits();
      await next;
    } finally {
      await second.close();
    }
  });

  it("is refused when its key is revoked meanwhile, also where no notification tells", async () => {
    const guarded = await FeedInstance.start(database, Date.now, createAuthenticator);
    try {
      const { cursor } = await instance.read();
      for (const tell of [
        (id: string) => db("api_keys").where({ id }).update({ revoked_at: new Date() }),
        (id: string) => guarded.control.context.units(OPERATOR, (unit) => revokeApiKey(unit, id)),
        // with something to tell, which it must not be told
        (id: string) =>
          guarded.control.context.units(OPERATOR, async (unit) => {
            unit.notifyGateways(endOf("ses_1"));
            await unit.trx("api_keys").where({ id }).update({ revoked_at: unit.now });
          }),
      ]) {
        const { row, secret } = await makeKey(guarded.control, { scope: "gateway" });
        const ask = (query: string) =>
          send(guarded.control, "GET", `/gateway/state?after=${cursor}&${query}`, bearer(secret));
        // by then it has looked for the first time
        assert.equal((await ask("wait=2")).status, 200);
        const since = performance.now();
        const poll = ask("wait=30");
        await guarded.waits();
        await tell(row.id);
        const { status, body } = await poll;
        assert.deepEqual([status, body.error?.code], [401, "API_KEY_REVOKED"]);
        assert.ok(performance.now() - since < 20_000);
      }
    } finally {
      await guarded.close();
    }
  });

  it("shares one connection with all others, which comes back when it is lost", async () => {
    const { cursor } = await instance.read();
    const polls = Array.from({ length: 20 }, () => instance.read(`?wait=30&after=${cursor}`));
    await eventually("all polls", () => instance.reading() === 20);
    const listening = () =>
      db("pg_stat_activity")
        .whereRaw("datname = current_database()")
        .where("query", `LISTEN "${CHANNEL}"`)
        .select<{ pid: number }[]>("pid");
    const first = await eventually("the connection", async () => {
      const found = await listening();
      return found.length > 0 && found;
    });
    assert.equal(first.length, 1);
    await db.raw("select pg_terminate_backend(?)", [first[0]!.pid]);
    await eventually("another connection", async () => {
      const found = await listening();
      return found.length === 1 && found[0]?.pid !== first[0]?.pid;
    });
    assert.equal(instance.reading(), 20);
    await instance.append(endOf("ses_1"));
    for (const state of await Promise.all(polls)) assert.equal(state.sessions_ended.length, 1);
  });

  it("is answered by a change of which no notification tells", async () => {
    const { cursor } = await instance.read();
    // by then it listens, and has looked for the first time
    await instance.read(`?wait=3&after=${cursor}`);
    const poll = instance.read(`?wait=30&after=${cursor}`);
    await instance.waits();
    await db("gateway_changes").insert({
      tag: "t",
      type: "session_ended",
      session_id: "ses_1",
      until: new Date(),
    });
    assert.equal((await poll).sessions_ended.length, 1);
  });

  it("is forgotten when its client goes away", async () => {
    const { cursor } = await instance.read();
    const gone = new AbortController();
    const actor = Buffer.from(JSON.stringify(FULL_KEY)).toString("base64url");
    const poll = fetch(`${instance.control.url}/v1/gateway/state?wait=30&after=${cursor}`, {
      headers: { authorization: `Bearer ${actor}` },
      signal: gone.signal,
    });
    await instance.waits();
    gone.abort();
    await assert.rejects(poll);
    await eventually("the end of the poll", () => instance.reading() === 0);
  });

  it("is answered when the service closes", async () => {
    const { cursor } = await instance.read();
    const poll = instance.read(`?wait=30&after=${cursor}`);
    await instance.waits();
    await instance.feed.close();
    assert.equal((await poll).cursor, cursor);
    assert.equal((await instance.read(`?wait=30&after=${cursor}`)).cursor, cursor);
  });

  it("hears of a key that is revoked in the first second in which anybody waits, also where no notification tells", async () => {
    const { row } = await makeKey(instance.control, { scope: "gateway" });
    const signal = new ChangeSignal(db, instance.control.context.log);
    const gone = new AbortController();
    try {
      const looked = new Promise<void>((resolve) =>
        db.on("query-response", (_answer, { sql }: { sql: string }) => {
          if (sql.includes("revoked_at")) resolve();
        }),
      );
      const waiting = signal.wait(signal.generation, 30_000, gone.signal);
      await Promise.race([looked, delay(600)]);
      await db("api_keys").where({ id: row.id }).update({ revoked_at: new Date() });
      await eventually("the interruption", async () => {
        await signal.wait(signal.generation, 3_000, gone.signal);
        return signal.interruptions === 1;
      });
      gone.abort();
      await waiting;
    } finally {
      await signal.close();
    }
  });

  it("hears of a key that is revoked while the row of another is removed", async () => {
    const keys: string[] = [];
    for (let made = 0; made < 2; made += 1)
      keys.push((await makeKey(instance.control, { scope: "gateway" })).row.id);
    const revoke = (id: string | undefined, trx = db) =>
      trx("api_keys").where({ id }).update({ revoked_at: new Date() });
    await revoke(keys[0]);
    const signal = new ChangeSignal(db, instance.control.context.log);
    const gone = new AbortController();
    try {
      let looks = 0;
      const onResponse = (_answer: unknown, { sql }: { sql: string }) => {
        if (sql.includes("revoked_at")) looks += 1;
      };
      db.on("query-response", onResponse);
      const waiting = signal.wait(signal.generation, 30_000, gone.signal);
      await eventually("the first look", () => looks > 0);
      await db.transaction(async (trx) => {
        await trx("api_keys").where({ id: keys[0] }).delete();
        await revoke(keys[1], trx);
      });
      await eventually("the interruption", async () => {
        await signal.wait(signal.generation, 3_000, gone.signal);
        return signal.interruptions === 1;
      });
      db.off("query-response", onResponse);
      gone.abort();
      await waiting;
    } finally {
      await signal.close();
    }
  });

  it("wakes by notification, not only by looking", async () => {
    const signal = new ChangeSignal(db, instance.control.context.log);
    const never = new AbortController().signal;
    try {
      // nobody looks while nobody waits: once it is quiet, only a notification tells
      const quiet = await eventually("quiet", async () => {
        const { generation } = signal;
        await signal.wait(generation, 1_500, never);
        return signal.generation === generation && { generation };
      });
      await instance.append(endOf("ses_1"));
      await eventually("the notification", () => signal.generation > quiet.generation);
    } finally {
      await signal.close();
    }
  });
});
