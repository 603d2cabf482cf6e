import assert from "node:assert/strict";
import { endedSessionsAfter } from "../../../src/control/gateway/unusual-entries.ts";
import type { UnitOfWork, UnitOrigin, Units } from "../../../src/control/platform/unit.ts";
import { endSessionsOfCustomer } from "../../../src/control/resources/sessions/end.ts";
import { makeRoomForSession } from "../../../src/control/resources/sessions/limit.ts";
import { runSessionEndings } from "../../../src/control/resources/sessions/run-endings.ts";
import { countingReads } from "../support/rows-read.ts";
import { startSignInBench, type SignInBench } from "../support/sign-in.ts";

const MANY = 20_000;
const MORE = 10_000;
/** Each session that ends is read several times; there are 200 of them, or 500. */
const FEW = 6_000;
const ORIGIN: UnitOrigin = {
  ...{ actor: { kind: "system", id: "test", name: "test" }, requestId: "req_test", clientIp: "" },
};

describe("sessions: how many rows are read where there are many", () => {
  let bench: SignInBench;
  let customerId: string;
  let sessionId: string;

  before(async () => {
    bench = await startSignInBench();
  });
  after(() => bench.close());
  beforeEach(async () => {
    // what other tests have left
    await bench.context.db("session_endings").delete();
    customerId = await bench.customer();
    bench.provider.users.set("alice", { claims: { name: "Alice" } });
    sessionId = (await bench.signIn(customerId, { login: "alice" })).session.id;
  });

  /** Adds sessions like that of the sign-in. @param expired - that have expired, but did not end */
  async function addSessions(count: number, expired = false): Promise<void> {
    const { db } = bench.context;
    const columns = Object.keys((await db("sessions").where({ id: sessionId }).first()) as object);
    const others = ["id", "seq", "alive_until"];
    const same = columns.filter((name) => !others.includes(name)).map((name) => `"${name}"`);
    await db.raw(
      `insert into sessions (id, alive_until, ${same.join(", ")})
       select 'ses_' || :expired || n || right(:id, 10),
         alive_until - n * interval '1 millisecond' - :expired * interval '1 day', ${same.join(", ")}
       from sessions, generate_series(1, :count) as n where id = :id`,
      { id: sessionId, count, expired: Number(expired) },
    );
    await db.raw("analyze sessions");
  }

  /** Does so in a transaction. @returns how many rows of sessions it has read */
  const reading = (work: (unit: UnitOfWork) => Promise<void>): Promise<number> =>
    bench.context.units(
      ORIGIN,
      async (unit) => (await countingReads(unit.trx, ["rows", "sessions"], () => work(unit)))[1],
    );
  const suspend = () => reading((unit) => endSessionsOfCustomer(unit, customerId, "customer_suspended"));
  const open = () =>
    bench.context.db("sessions").where({ customer_id: customerId }).whereNull("ended_at").count({ n: "*" });

  it("a suspension reads those that it ends, also while former ones are still to end", async () => {
    await addSessions(MANY);
    const read = [await suspend(), await suspend()];
    assert.ok(Math.max(...read) < FEW, String(read));
    assert.deepEqual(await open(), [{ n: MANY - 199 }]);
  });

  it("a batch reads its own, and not those that have expired", async () => {
    await addSessions(MORE, true);
    await addSessions(1_000);
    await suspend();
    const read: number[] = [];
    const units: Units = (origin, work) =>
      bench.context.units(origin, async (unit) => {
        const of = ["pages", "sessions_open_of_customer"] as const;
        // that index is used where others have sessions, too
        await unit.trx.raw("set local enable_incremental_sort to off");
        const [result, pages] = await countingReads(unit.trx, of, () => work(unit));
        read.push(pages);
        return result;
      });
    await runSessionEndings({ ...bench.context, units });
    // of more than a hundred
    assert.ok(read.length > 2 && Math.max(...read) < 50 && Math.min(...read.slice(0, 2)) > 2, String(read));
    assert.deepEqual(await open(), [{ n: MORE }]);
  });

  it("a sign-in reads as many of the user's as may be open, and those that it ends", async () => {
    await addSessions(MORE, true);
    await addSessions(MORE);
    const { user } = await bench.signIn(customerId, { login: "alice" });
    const read = await reading((unit) =>
      makeRoomForSession(unit, { id: user.id, customer_id: customerId }, 100),
    );
    assert.ok(read < FEW, String(read));
    assert.deepEqual(await open(), [{ n: 2 * MORE + 2 - 2 * 200 }]);
  });

  it("a sign-in reads neither the user's history nor the sessions of others", async () => {
    await addSessions(MORE, true);
    const { user } = await bench.signIn(customerId, { login: "alice" });
    bench.provider.users.set("bob", { claims: { name: "Bob" } });
    sessionId = (await bench.signIn(customerId, { login: "bob" })).session.id;
    await addSessions(MORE);
    const read = await reading((unit) =>
      makeRoomForSession(unit, { id: user.id, customer_id: customerId }, 100),
    );
    assert.ok(read < 100, String(read));
  });

  it("a page of ended sessions reads its own", async () => {
    const { db } = bench.context;
    await db.raw(
      `insert into gateway_changes (tag, type, session_id, until)
       select 'tag', 'session_ended', 'ses_' || lpad(n::text, 10, '0'), now() + n * interval '1 second'
       from generate_series(1, :count) as n`,
      { count: MANY },
    );
    await db.raw("analyze gateway_changes");
    await db.transaction(async (trx) => {
      const [page, read] = await countingReads(trx, ["rows", "gateway_changes"], () =>
        endedSessionsAfter(trx, new Date(), "ses_0000005000", 100),
      );
      assert.deepEqual(
        page.map(({ session_id }) => session_id),
        Array.from({ length: 100 }, (_, n) => `ses_${String(5_001 + n).padStart(10, "0")}`),
      );
      assert.ok(read < 1_000, String(read));
    });
  });
});
