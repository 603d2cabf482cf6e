import assert from "node:assert/strict";
import { appendGatewayChanges } from "../../../src/control/gateway/append.ts";
import type { Database } from "../../../src/storage/index.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { endOf, FeedInstance, sessionsOf } from "../support/feed-instance.ts";
import { Follower } from "../support/gateway-follower.ts";

describe("the order of the gateway feed", () => {
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

  it("never shows a change before one that was numbered earlier and is not committed yet", async () => {
    const { cursor } = await instance.read();
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    let numbered = (): void => undefined;
    const first = new Promise<void>((resolve) => (numbered = resolve));
    const slow = db.transaction(async (trx) => {
      await appendGatewayChanges(trx, [endOf("ses_slow")]);
      numbered();
      await gate;
    });
    await first;
    const fast = instance.append(endOf("ses_fast"));
    await eventually("the second to wait", async () => {
      const waiting = await db("pg_locks").where({ locktype: "advisory", granted: false });
      return waiting.length === 1;
    });
    const meanwhile = await instance.read(`?after=${cursor}`);
    assert.equal(meanwhile.cursor, cursor);
    assert.deepEqual(meanwhile.sessions_ended, []);
    release();
    await Promise.all([slow, fast]);
    const state = await instance.read(`?after=${cursor}`);
    assert.deepEqual(sessionsOf(state), ["ses_slow", "ses_fast"]);
  });

  it("leads followers of two instances to the complete state, whatever is written at once", async () => {
    const second = await FeedInstance.start(database);
    const customers = await Promise.all([1, 2, 3].map(() => instance.makeCustomer()));
    const users = await Promise.all(
      customers.flatMap((id) => [instance.makeUser(id), instance.makeUser(id)]),
    );
    const policies = await Promise.all(
      [3_600, 7_200].map((max_session_duration) =>
        instance.post("/policies", {
          name: "p",
          type: "authentication",
          conditions: { max_session_duration },
        }),
      ),
    );
    for (const version of ["v1", "v2"]) await instance.publish("main", version);
    const followers = [instance, second].map((of) => new Follower((query) => of.read(query)));
    const following = followers.map((follower) => follower.start());
    try {
      const pick = <T>(items: readonly T[]) => items[Math.floor(Math.random() * items.length)]!;
      const write = async (index: number) => {
        const { control } = pick([instance, second]);
        const status = pick(["active", "suspended"]);
        // some are refused for what is so already
        switch (index % 6) {
          case 0:
            return control.request("PUT", `/customers/${pick(customers)}`, { body: { status } });
          case 1:
            return control.request("PUT", `/users/${pick(users)}`, { body: { status } });
          case 2: {
            const policy_ids = [pick(policies)["id"]];
            return control.request("POST", `/customers/${pick(customers)}/policies`, {
              body: { policy_ids },
            });
          }
          case 3:
            return control.request(
              "DELETE",
              `/customers/${pick(customers)}/policies/${String(pick(policies)["id"])}`,
            );
          case 4:
            return control.request("POST", "/policy-sets/main/activate", {
              body: { version: pick(["v1", "v2"]) },
            });
          default:
            return db.transaction(async (trx) => {
              await trx.raw("select pg_sleep(?)", [Math.random() / 50]);
              await appendGatewayChanges(trx, [endOf(`ses_${index}`)]);
              await trx.raw("select pg_sleep(?)", [Math.random() / 50]);
            });
        }
      };
      let next = 0;
      const writers = Array.from({ length: 6 }, async () => {
        while (next < 240) {
          const answer = await write(next++);
          if (answer !== undefined && "status" in answer) assert.ok(answer.status < 500, answer.text);
        }
      });
      await Promise.all(writers);
      const complete = await instance.read();
      await eventually("all followers at the end", () =>
        followers.every(({ cursor }) => cursor === complete.cursor),
      );
      const expected = new Follower(() => Promise.reject(new Error("not asked")));
      expected.apply(complete);
      assert.equal(expected.sessions.size, 40);
      for (const follower of followers) {
        assert.equal(follower.completes, 1);
        assert.deepEqual(follower.content(), expected.content());
      }
    } finally {
      for (const follower of followers) follower.stop();
      await second.feed.close();
      await instance.feed.close();
      await Promise.all(following);
      await second.close();
    }
  });
});
