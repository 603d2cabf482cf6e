import { strict as assert } from "node:assert";
import { transaction } from "../../src/storage/index.ts";
import { emptyDatabase } from "../support/database.ts";
import type { TestDatabase } from "../support/database.ts";

describe("storage: transaction", () => {
  let database: TestDatabase;
  before(async () => {
    database = await emptyDatabase();
    await database.db.raw("create table account (id int primary key, amount int not null)");
  });
  beforeEach(async () => {
    await database.db("account").delete();
    await database.db("account").insert([
      { id: 1, amount: 0 },
      { id: 2, amount: 0 },
    ]);
  });
  after(async () => {
    await database.close();
  });

  const amounts = () => database.db("account").orderBy("id").pluck<number[]>("amount");

  /** Lets `count` callers pass together. */
  function barrier(count: number): () => Promise<void> {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    let come = 0;
    return () => {
      come += 1;
      if (come === count) open();
      return opened;
    };
  }

  it("keeps all or nothing", async () => {
    assert.equal(await transaction(database.db, (trx) => trx("account").update({ amount: 1 })), 2);
    await assert.rejects(
      transaction(database.db, async (trx) => {
        await trx("account").update({ amount: 2 });
        throw new Error("no");
      }),
      /^Error: no$/,
    );
    assert.deepEqual(await amounts(), [1, 1]);
  });

  it("runs again what lost to another transaction", async () => {
    const meet = barrier(2);
    let runs = 0;
    const add = () =>
      transaction(
        database.db,
        async (trx) => {
          runs += 1;
          const [row] = await trx("account").where({ id: 1 }).select<{ amount: number }[]>("amount");
          if (runs <= 2) await meet();
          await trx("account")
            .where({ id: 1 })
            .update({ amount: row!.amount + 1 });
        },
        { isolationLevel: "serializable" },
      );
    await Promise.all([add(), add()]);
    assert.deepEqual(await amounts(), [2, 0]);
    assert.ok(runs >= 3, String(runs));
  });

  it("runs again what was chosen to end a deadlock", async () => {
    const meet = barrier(2);
    let runs = 0;
    const add = (first: number, second: number) =>
      transaction(database.db, async (trx) => {
        runs += 1;
        await trx("account").where({ id: first }).increment("amount", 1);
        if (runs <= 2) await meet();
        await trx("account").where({ id: second }).increment("amount", 1);
      });
    await Promise.all([add(1, 2), add(2, 1)]);
    assert.deepEqual(await amounts(), [2, 2]);
    // once more where the one that runs again is faster than the one that it has let go first
    assert.ok(runs >= 3, String(runs));
  });

  it("gives up after some attempts, and at once on other errors", async () => {
    let runs = 0;
    const lose = (code: string) =>
      transaction(
        database.db,
        async (trx) => {
          runs += 1;
          await trx.raw(`do $$ begin raise sqlstate '${code}'; end $$`);
        },
        { attempts: 3 },
      );
    await assert.rejects(lose("40001"), { code: "40001" });
    assert.equal(runs, 3);
    await assert.rejects(lose("22023"), { code: "22023" });
    assert.equal(runs, 4);
  });

  it("does not say done when a statement has failed unnoticed", async () => {
    await assert.rejects(
      transaction(database.db, async (trx) => {
        await trx("account").where({ id: 1 }).update({ amount: 5 });
        await trx("account")
          .insert({ id: 1, amount: 0 })
          .catch(() => undefined);
        return "done";
      }),
      { code: "25P02" },
    );
    assert.deepEqual(await amounts(), [0, 0]);
  });

  it("lets a failure be undone by a savepoint", async () => {
    const result = await transaction(database.db, async (trx) => {
      await trx("account").where({ id: 1 }).update({ amount: 5 });
      await trx.transaction((inner) => inner("account").insert({ id: 1, amount: 0 })).catch(() => undefined);
      return "done";
    });
    assert.equal(result, "done");
    assert.deepEqual(await amounts(), [5, 0]);
  });
});
