import assert from "node:assert/strict";
import { readCompleteState } from "../../../src/control/gateway/read-state.ts";
import { startMaintenance } from "../../../src/control/maintenance.ts";
import type { ControlContext } from "../../../src/control/platform/context.ts";
import { bringNumbersForward } from "../../../src/control/numbers.ts";
import { runSessionEndings } from "../../../src/control/resources/sessions/run-endings.ts";
import { createKeyring } from "../../../src/control/sign-in/issuer/keyring.ts";
import { openDatabase, closeDatabase } from "../../../src/storage/index.ts";
import { eventually } from "../../support/eventually.ts";
import { eraseAll } from "../support/erase-all.ts";
import { startOAuthBench, type OAuthBench } from "../support/oauth.ts";
import { told, type Tokens } from "../support/sign-in.ts";

/** More than end with the change of the customer, and than one batch afterwards has. */
const MORE = 1_300;

describe("customers with many sessions", () => {
  let bench: OAuthBench;
  let customerId: string;
  let tokens: Tokens;

  before(async () => {
    // no limit ends them before their customer does
    bench = await startOAuthBench({ sessionsPerUser: 2 * MORE });
  });
  after(() => bench.close());
  beforeEach(async () => {
    bench.reset();
    customerId = await bench.customer();
    tokens = await bench.signIn(customerId, { login: "alice" });
    await addSessions(tokens.session.id);
    bench.forget();
  });

  /** Sessions like this one, which are found before it. */
  async function addSessions(id: string): Promise<void> {
    const { db } = bench.context;
    const columns = Object.keys((await db("sessions").where({ id }).first()) as object);
    const same = columns.filter((name) => !["id", "seq"].includes(name)).map((name) => `"${name}"`);
    await db.raw(
      `insert into sessions (id, ${same.join(", ")})
       select 'ses_0' || lpad(n::text, 5, '0') || right(:id, 10), ${same.join(", ")}
       from sessions, generate_series(1, :more) as n where id = :id`,
      { id, more: MORE },
    );
  }

  async function put(status: string): Promise<void> {
    const answer = await bench.request("PUT", `/customers/${customerId}`, { body: { status } });
    assert.equal(answer.status, 200, answer.text);
  }

  /** Ends all sessions that are to end. */
  const end = (context: Pick<ControlContext, "db" | "units" | "clock" | "log"> = bench.context) =>
    runSessionEndings(context);
  const endings = () => bench.context.db("session_endings").where({ customer_id: customerId });
  const ended = () =>
    bench.events.filter(({ type }) => type === "session.revoked").map(({ data }) => data.session?.id ?? "");

  /** What a gateway knows of the customer. */
  async function stateOfCustomer(): Promise<string | undefined> {
    const { customers } = await readCompleteState(bench.context.db, new Date(bench.context.clock()));
    return customers.find(({ id }) => id === customerId)?.status;
  }

  /** Sessions by status, as the API lists them. */
  async function listed(status: string): Promise<number> {
    const { body } = await bench.request("GET", `/sessions?customer_id=${customerId}&status=${status}`);
    return body.pagination.total_items as number;
  }

  async function isOver(of: Tokens, refusal: readonly [number, string]): Promise<void> {
    assert.deepEqual(told(await bench.refresh(of.refresh_token)), refusal);
    for (const token of [of.access_token, of.refresh_token])
      assert.deepEqual(await bench.introspect(token), { active: false });
    assert.equal((await bench.userInfo(of.access_token)).status, 401);
    const { data } = (await bench.request("GET", `/sessions/${of.session.id}`)).body;
    assert.deepEqual([data.status, data.end_reason], ["ended", "customer_suspended"]);
  }

  it("are suspended at once, and their sessions end afterwards, each announced once", async () => {
    await put("suspended");
    assert.deepEqual(bench.told.at(-1), { type: "customer_changed", customer_id: customerId });
    assert.ok(ended().length > 0 && ended().length < MORE / 2, "the change announces only some");
    assert.equal((await endings()).length, 1);
    await isOver(tokens, [403, "CUSTOMER_SUSPENDED"]);
    assert.equal(await stateOfCustomer(), "suspended");
    assert.deepEqual([await listed("active"), await listed("ended")], [0, MORE + 1]);

    // two instances at once
    const other = openDatabase(bench.database.url);
    try {
      await Promise.all([end(), end({ ...bench.context, db: other })]);
    } finally {
      await closeDatabase(other);
    }
    await eventually("the end", async () => {
      await end();
      return (await endings()).length === 0;
    });
    assert.equal(ended().length, MORE + 1);
    assert.equal(new Set(ended()).size, MORE + 1);
    const rows = await bench.context.db("sessions").where({ customer_id: customerId });
    assert.ok(rows.every((row) => row.ended_at !== null && row.end_reason === "customer_suspended"));
    const refused = bench.told.filter((change) => change.type === "session_ended");
    assert.equal(new Set(refused.map(({ session_id }) => session_id)).size, MORE + 1);
    const changes = bench.changes.filter(({ action }) => action === "customer.sessions_ended");
    assert.deepEqual(
      changes.map(({ target, after }) => [target.id, after]),
      [[customerId, { reason: "customer_suspended", ended: MORE + 1 }]],
    );
  });

  it("that are active again have none of their former sessions, and keep the new ones", async () => {
    await put("suspended");
    await put("active");
    await isOver(tokens, [401, "SESSION_ENDED"]);
    assert.equal(await stateOfCustomer(), "suspended", "a gateway does not know all sessions yet");
    const later = await bench.signIn(customerId, { login: "alice" });
    assert.equal((await bench.introspect(later.access_token))["active"], true);
    assert.deepEqual([await listed("active"), await listed("ended")], [1, MORE + 1]);
    const logout = await bench.request("DELETE", "/auth/logout", { body: { session_id: tokens.session.id } });
    assert.equal(logout.body.data.ended, 0, "it has ended already");

    await end();
    assert.equal(await stateOfCustomer(), undefined, "active");
    assert.deepEqual(bench.told.at(-1), { type: "customer_changed", customer_id: customerId });
    await isOver(tokens, [401, "SESSION_ENDED"]);
    assert.equal((await bench.introspect(later.access_token))["active"], true);
    assert.equal((await bench.refresh(later.refresh_token)).status, 200);
    assert.equal(new Set(ended()).size, MORE + 1);
    assert.ok(!ended().includes(later.session.id));
    const { sessions_ended } = await readCompleteState(bench.context.db, new Date(bench.context.clock()));
    const known = new Set(sessions_ended.map(({ session_id }) => session_id));
    assert.ok(known.has(tokens.session.id) && !known.has(later.session.id));
  });

  describe("on another server, whose sequence begins again", () => {
    beforeEach(() => bench.context.db.raw("select setval('sessions_seq', 1, false)"));
    afterEach(() => bringNumbersForward(bench.context.db));

    it("have their former sessions end, and none that is opened later", async () => {
      const { context } = bench;
      const instance = startMaintenance(context, createKeyring(context));
      await eventually("the start", async () => {
        const { rows } = await context.db.raw<{ rows: object[] }>(
          "select from sessions_seq where last_value > 1",
        );
        return rows.length > 0;
      });
      await instance.close();
      assert.equal(await bringNumbersForward(context.db), false);
      await put("suspended");
      assert.equal((await endings()).length, 1, "there are too many to end at once");
      await put("active");
      const later = await bench.signIn(customerId, { login: "alice" });
      assert.equal((await bench.introspect(later.access_token))["active"], true);
      await isOver(tokens, [401, "SESSION_ENDED"]);
      await end();
      assert.equal((await bench.refresh(later.refresh_token)).status, 200);
    });

    it("have their former sessions end before that is known", async () => {
      await put("suspended");
      await put("active");
      await isOver(tokens, [401, "SESSION_ENDED"]);
      await end();
      assert.deepEqual([await listed("active"), await listed("ended")], [0, MORE + 1]);
    });
  });

  it("that are suspended again meanwhile end each session once, with the reason that it has already", async () => {
    await put("suspended");
    await put("active");
    const later = await bench.signIn(customerId, { login: "alice" });
    await put("archived");
    assert.equal((await endings()).length, 2);
    await isOver(tokens, [403, "CUSTOMER_SUSPENDED"]);
    assert.deepEqual(await bench.introspect(later.access_token), { active: false });
    await end();
    assert.deepEqual(await endings(), []);
    assert.deepEqual([ended().length, new Set(ended()).size], [MORE + 2, MORE + 2]);
    await isOver(tokens, [403, "CUSTOMER_SUSPENDED"]);
    const { data } = (await bench.request("GET", `/sessions/${later.session.id}`)).body;
    assert.equal(data.end_reason, "customer_archived");
  });

  it("are gone on with after a crash, where it was", async () => {
    await put("archived");
    let batches = 0;
    const crashing: ControlContext = {
      ...bench.context,
      log: { ...bench.context.log, warn: () => undefined },
      units: (origin, work) =>
        bench.context.units(origin, async (unit) => {
          const result = await work(unit);
          batches += 1;
          if (batches === 2) throw new Error("crash");
          return result;
        }),
    };
    await end(crashing);
    const [left] = await endings();
    assert.equal(left.failures, 1);
    assert.ok(left.ended > 0 && left.ended < MORE);
    await end();
    assert.equal((await endings()).length, 1, "it waits before it tries again");
    bench.skip = 60_000;
    await end();
    assert.deepEqual(await endings(), []);
    assert.equal(ended().length, MORE + 1);
    assert.equal(new Set(ended()).size, MORE + 1);
  });

  it("are deleted meanwhile: what is announced afterwards names nobody", async () => {
    await put("suspended");
    bench.forget();
    const deleted = await bench.request("DELETE", `/customers/${customerId}`);
    assert.equal(deleted.status, 200, deleted.text);
    assert.equal(await stateOfCustomer(), "deleted");
    await eraseAll(bench.context);
    await end();
    assert.deepEqual(await endings(), []);
    const events = bench.events.filter(({ type }) => type === "session.revoked");
    assert.ok(events.length > MORE / 2);
    for (const { data } of events) {
      assert.deepEqual(Object.keys(data.user ?? {}), ["id", "customer_id"]);
      assert.deepEqual([data.session?.ip_address, data.session?.user_agent], ["", ""]);
    }
    assert.equal(new Set(ended()).size, events.length);
  });
});
