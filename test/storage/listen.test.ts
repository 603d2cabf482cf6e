import assert from "node:assert/strict";
import { listen, openDatabase, closeDatabase, type Listening } from "../../src/storage/index.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { mutedPostgres } from "../support/muted-postgres.ts";

describe("storage: listening to a channel", () => {
  let database: TestDatabase;
  let heard: string[];
  let lost: unknown[];
  let listening: Listening;

  const start = (db = database.db) => {
    listening = listen(db, "Odd channel", {
      onNotification: (payload) => heard.push(`told ${payload ?? ""}`),
      onListening: () => heard.push("listening"),
      onLost: (error) => lost.push(error),
    });
  };
  const notify = (payload: string) => database.db.raw("select pg_notify(?, ?)", ["Odd channel", payload]);

  beforeEach(async () => {
    database = await testDatabase();
    heard = [];
    lost = [];
  });
  afterEach(async () => {
    await listening.close();
    await database.close();
  });

  it("tells when it begins, and each notification", async () => {
    start();
    assert.equal(listening.isListening, false);
    await eventually("the beginning", () => listening.isListening);
    await notify("one");
    await notify("");
    await eventually("both", () => heard.length === 3);
    assert.deepEqual(heard, ["listening", "told one", "told "]);
    await listening.close();
    assert.equal(listening.isListening, false);
    await notify("late");
    assert.deepEqual([heard.length, lost], [3, []]);
  });

  it("comes back after its connection was lost, and says so", async () => {
    start();
    await eventually("the beginning", () => listening.isListening);
    await database.db.raw(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like 'LISTEN %'`,
    );
    await eventually("the loss", () => !listening.isListening);
    await eventually("the next beginning", () => listening.isListening);
    await notify("again");
    await eventually("the notification", () => heard.includes("told again"));
    assert.equal(heard.filter((text) => text === "listening").length, 2);
  });

  it("tries on while there is no server, and ends at once", async () => {
    const nowhere = openDatabase("postgresql://nobody@127.0.0.1:1/none");
    try {
      start(nowhere);
      await eventually("two failures", () => lost.length > 1);
      assert.equal((lost[0] as { code?: string }).code, "ECONNREFUSED");
      await listening.close();
    } finally {
      await closeDatabase(nowhere);
    }
  });

  it("ends, though the server takes no leave", async () => {
    const muted = await mutedPostgres(database.url);
    const db = openDatabase(muted.url);
    const begun = Promise.withResolvers<undefined>();
    const listening = listen(db, "channel", {
      onNotification: () => undefined,
      onListening: () => {
        begun.resolve(undefined);
      },
    });
    try {
      await begun.promise;
      muted.mute();
      await listening.close();
      assert.equal(listening.isListening, false);
    } finally {
      await muted.close();
      await closeDatabase(db);
    }
  });
});
