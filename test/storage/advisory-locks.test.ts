import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  ADVISORY_LOCKS,
  lockRowsUntilEnd,
  lockUntilEnd,
  ROW_LOCKS,
  SERVER_LOCKS,
} from "../../src/storage/advisory-locks.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";

describe("storage: advisory locks", () => {
  let database: TestDatabase;
  before(async () => {
    database = await testDatabase();
  });
  after(() => database.close());

  it("are different numbers, the same as those of earlier versions", () => {
    for (const locks of [ADVISORY_LOCKS, ROW_LOCKS, SERVER_LOCKS])
      assert.equal(new Set(Object.values(locks)).size, Object.keys(locks).length);
    assert.deepEqual(ADVISORY_LOCKS, {
      migrations: 5_187_413_001,
      migrationsOutside: 5_187_413_002,
      gatewayChanges: 5_187_413_022,
      signingKeys: 5_187_413_030,
      dashboardSetup: 5_187_413_041,
      partitions: 5_187_413_050,
      sandboxFilling: 5_187_413_080,
    });
    assert.deepEqual(
      [ROW_LOCKS, SERVER_LOCKS],
      [
        {
          webhookWindows: 518_741_302,
          credentials: 518_741_303,
          customers: 518_741_304,
          users: 518_741_305,
          policies: 518_741_306,
          gateways: 518_741_307,
          webhooks: 518_741_308,
        },
        { inUse: 1, settingUp: 2 },
      ],
    );
  });

  it("are taken nowhere else", async () => {
    const files = (await readdir("src", { recursive: true })).filter((file) => file.endsWith(".ts"));
    const takers: string[] = [];
    for (const file of files)
      if (/pg_(?:try_)?advisory/.test(await readFile(join("src", file), "utf8"))) takers.push(file);
    assert.deepEqual(
      takers.filter((file) => !file.startsWith("storage/")),
      [],
    );
  });

  it("are held until the transaction ends, each by itself", async () => {
    const { db } = database;
    const held = () =>
      db("pg_locks")
        .where({ locktype: "advisory", granted: true })
        .whereRaw("database = (select oid from pg_database where datname = current_database())");
    await db.transaction(async (trx) => {
      await lockUntilEnd(trx, "signingKeys");
      await lockRowsUntilEnd(trx, "webhookWindows", ["whk_2", "whk_1", "whk_2"]);
      assert.equal((await held()).length, 3);
      const another = db.transaction(async (other) => {
        await other.raw("set local lock_timeout to 100");
        await lockUntilEnd(other, "partitions");
        await lockRowsUntilEnd(other, "webhookWindows", ["whk_3"]);
        assert.equal((await held()).length, 5);
        await lockRowsUntilEnd(other, "webhookWindows", ["whk_1"]);
      });
      await assert.rejects(another, { code: "55P03" });
    });
    assert.equal((await held()).length, 0);
  });
});
