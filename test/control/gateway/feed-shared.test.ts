import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createAuthenticator } from "../../../src/control/authenticator.ts";
import { appendGatewayChanges } from "../../../src/control/gateway/append.ts";
import { pruneGatewayChanges } from "../../../src/control/gateway/prune.ts";
import { SharedStates } from "../../../src/control/gateway/shared-states.ts";
import { newId } from "../../../src/control/platform/ids.ts";
import type { Database } from "../../../src/storage/index.ts";
import { FULL_KEY } from "../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, makeKey, OPERATOR, send } from "../../support/guarded-control.ts";
import { endOf, FeedInstance, sessionsOf } from "../support/feed-instance.ts";
import { Follower, type State } from "../support/gateway-follower.ts";

const PAGE = 4;

describe("the gateway feed of many followers", () => {
  let database: TestDatabase;
  let db: Database;
  let instance: FeedInstance;
  /** Transactions that the feed's reads have begun. */
  let reads: number;

  before(async () => {
    database = await testDatabase();
    ({ db } = database);
    instance = await FeedInstance.start(database, Date.now, createAuthenticator, { pageChanges: PAGE });
    db.on("query", ({ sql }: { sql: string }) => {
      if (sql.includes("from gateway_feed as feed")) reads += 1;
    });
  });
  after(async () => {
    await instance.close();
    await database.close();
  });
  beforeEach(() => {
    reads = 0;
  });

  const append = (...ids: string[]) => instance.append(...ids.map((id) => endOf(id)));
  let key: Promise<string> | undefined;
  const gatewayKey = () =>
    (key ??= makeKey(instance.control, { scope: "gateway" }).then(({ secret }) => secret));
  const state = async (query = "", headers: Readonly<Record<string, string>> = {}) => {
    const as = { ...bearer(await gatewayKey()), ...headers };
    const answer = await send(instance.control, "GET", `/gateway/state${query}`, as);
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const read = async (query = ""): Promise<State> => (await state(query)).body.data as State;

  /** Follows from a cursor to the end, page by page. */
  async function pagesFrom(cursor: string) {
    const pages: State[] = [];
    for (let after = cursor; ;) {
      const page = await read(`?after=${after}`);
      pages.push(page);
      if (page.more !== true) return pages;
      after = page.cursor;
    }
  }

  it("is read once and serialized once for all that wait at one cursor", async () => {
    const states = new SharedStates({ db, clock: Date.now });
    const { cursor } = await states.read(undefined, 1, { fresh: true, pages: false });
    await append("ses_shared");
    reads = 0;
    const ask = (generation: number, fresh: boolean, after: string | undefined = cursor) =>
      Promise.all(Array.from({ length: 50 }, () => states.read(after, generation, { fresh, pages: false })));
    const told = await ask(2, false);
    assert.equal(reads, 1);
    assert.equal(new Set(told.map(({ data }) => data.json)).size, 1);
    // who comes a little later finds it
    await ask(2, false);
    assert.equal(reads, 1);
    // and where there may be something new, it is looked for
    await ask(3, false);
    assert.equal(reads, 2);
    // who is to be told what is there now shares what begins after the question
    await ask(3, true);
    assert.equal(reads, 3);
    // the read in progress began before those that ask meanwhile: they share the next one
    const before = states.read(cursor, 3, { fresh: true, pages: false });
    await nextTurn();
    await Promise.all([before, ask(3, true)]);
    assert.equal(reads, 5);
    // so do those who begin to follow, and those whose cursors are none, whatever they say
    reads = 0;
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        states.read(`none ${index}`, 3, { fresh: false, pages: false }),
      ),
    );
    assert.equal(reads, 1);
  });

  it("keeps a page that others follow, whatever is committed; and the last one until there may be more", async () => {
    const { cursor } = await read();
    await append("ses_1", "ses_2", "ses_3");
    const states = new SharedStates({ db, clock: Date.now, pageChanges: 2 });
    const full = await states.read(cursor, 1, { fresh: false, pages: false });
    const last = await states.read(full.cursor, 1, { fresh: false, pages: false });
    await append("ses_4");
    assert.equal(await states.read(cursor, 2, { fresh: false, pages: false }), full);
    const next = await states.read(full.cursor, 2, { fresh: false, pages: false });
    assert.notEqual(next, last);
    assert.match(next.data.json.toString(), /"ses_3".*"ses_4"/);
  });

  it("costs no more for whoever invents cursors: of one place, or of none", async () => {
    const { cursor } = await read();
    await append("ses_1", "ses_2", "ses_3");
    const states = new SharedStates({ db, clock: Date.now, pageChanges: 2 });
    const full = await states.read(cursor, 1, { fresh: false, pages: false });
    const seen = Number(full.cursor.split(".")[2]);
    reads = 0;
    const ask = (cursors: readonly string[]) =>
      Promise.all(cursors.map((after) => states.read(after, 1, { fresh: false, pages: false })));
    // what the database held when the page was read
    const within = [1, 2, 3].map((back) => `${cursor}.${seen - back + 1}`);
    assert.ok((await ask(within)).every((told) => told === full));
    assert.deepEqual([reads], [0]);
    // more than that: one read for the first, one for all others, and the same of the complete state
    const beyond = Array.from({ length: 300 }, (_, more) => `${cursor}.${seen + more + 1}`);
    assert.ok((await ask(beyond)).every(({ complete }) => complete));
    const all = () => reads;
    assert.ok(all() <= 4, `${reads} reads`);
    // and places that there are not take no room from the page that others follow
    const again = await states.read(cursor, 1, { fresh: false, pages: false });
    await ask(Array.from({ length: 150 }, (_, index) => `0.made_up_${index}`));
    assert.equal(await states.read(cursor, 1, { fresh: false, pages: false }), again);
  });

  it("reads again what could not be read", async () => {
    let away = true;
    const failing = new Proxy(db, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (name !== "transaction" || !away) return value;
        return () => Promise.reject(new Error("away"));
      },
    });
    const states = new SharedStates({ db: failing, clock: Date.now });
    const ask = () =>
      Promise.allSettled([
        states.read(undefined, 1, { fresh: true, pages: false }),
        states.read(undefined, 1, { fresh: true, pages: false }),
      ]);
    assert.ok((await ask()).every(({ status }) => status === "rejected"));
    away = false;
    assert.ok((await ask()).every(({ status }) => status === "fulfilled"));
  });

  it("tells each that waits, each under its own request id", async () => {
    const { cursor } = await read();
    const polls = Array.from({ length: 60 }, () => state(`?wait=30&after=${cursor}`));
    await eventually("all polls", () => instance.reading() === 60);
    await append("ses_told");
    const answers = await Promise.all(polls);
    for (const { body } of answers) assert.deepEqual(sessionsOf(body.data as State), ["ses_told"]);
    assert.equal(new Set(answers.map(({ body }) => body.meta.request_id)).size, 60);
    for (const { body, headers } of answers) assert.equal(body.meta.request_id, headers.get("x-request-id"));
  });

  it("refuses the one whose key was revoked, among others that wait with theirs", async () => {
    const keys = await Promise.all([1, 2, 3].map(() => makeKey(instance.control, { scope: "gateway" })));
    const { cursor } = await read();
    const polls = keys.map(({ secret }) =>
      send(instance.control, "GET", `/gateway/state?wait=30&after=${cursor}`, bearer(secret)),
    );
    await eventually("all polls", () => instance.reading() === 3);
    await instance.control.context.units(OPERATOR, async (unit) => {
      unit.notifyGateways(endOf("ses_not_for_all"));
      await unit.trx("api_keys").where({ id: keys[1]!.row.id }).update({ revoked_at: unit.now });
    });
    const answers = await Promise.all(polls);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 401, 200],
    );
    assert.ok(!answers[1]!.text.includes("ses_not_for_all"));
  });

  describe("pages", () => {
    it("hold every change once, in the order in which they were committed", async () => {
      const { cursor } = await read();
      const ids = Array.from({ length: 2 * PAGE + 1 }, (_, index) => `ses_page_${index}`);
      await append(...ids);
      const pages = await pagesFrom(cursor);
      assert.deepEqual(
        pages.map(({ more, complete }) => [more, complete]),
        [
          [true, false],
          [true, false],
          [undefined, false],
        ],
      );
      assert.deepEqual(pages.flatMap(sessionsOf), ids);
      // the cursor behind the last one is that of somebody who has just begun
      assert.equal(pages.at(-1)?.cursor, (await read()).cursor);
      // as many as fit are one page
      await append(...ids.slice(0, PAGE));
      const next = await read(`?after=${pages.at(-1)?.cursor}`);
      assert.deepEqual([next.more, next.sessions_ended.length], [undefined, PAGE]);
    });

    it("are told at once to who would wait", async () => {
      const { cursor } = await read();
      await append("ses_1", "ses_2", "ses_3", "ses_4", "ses_5");
      const first = await read(`?wait=30&after=${cursor}`);
      const second = await read(`?wait=30&after=${first.cursor}`);
      assert.deepEqual(sessionsOf(second), ["ses_5"]);
    });

    it("skip nothing that is committed meanwhile, and end with what there is", async () => {
      const customers = await Promise.all(Array.from({ length: 3 * PAGE }, () => makeCustomer()));
      const follower = new Follower(() => Promise.reject(new Error("not asked")));
      follower.apply(await read());
      await setStatus("suspended", customers);
      let after = follower.cursor ?? "";
      for (let page = 0; ; page += 1) {
        const told = await read(`?after=${after}`);
        follower.apply(told);
        after = told.cursor;
        if (told.more !== true) break;
        // one that was told, one that was not, and one that nobody knows
        if (page < 4) {
          await setStatus("active", [customers[page]!, customers.at(-1 - page)!]);
          await append(`ses_meanwhile_${page}`);
        }
      }
      const complete = new Follower(() => Promise.reject(new Error("not asked")));
      complete.apply(await read());
      assert.deepEqual(follower.content(), complete.content());
      assert.equal(follower.cursor, complete.cursor);
      assert.equal(follower.completes, 1);
    });

    it("are followed from the middle by another instance, and lead to the complete state where they were forgotten", async () => {
      const second = await FeedInstance.start(database, Date.now, undefined, { pageChanges: 2 });
      try {
        const { cursor } = await read();
        await append("ses_a", "ses_b", "ses_c", "ses_d", "ses_e", "ses_f");
        const first = await read(`?after=${cursor}`);
        assert.equal(first.more, true);
        const rest = await second.read(`?after=${first.cursor}`);
        assert.deepEqual([rest.more, sessionsOf(rest)], [undefined, ["ses_e", "ses_f"]]);
        // what such a cursor has seen must be there: a restored backup of before has not got it
        const [seq, tag] = first.cursor.split(".");
        const ahead = await second.read(`?after=${seq}.${tag}.${Number(seq) + 1_000}`);
        assert.equal(ahead.complete, true);
        await db("gateway_changes").update({ appended_at: db.raw("now() - interval '25 hours'") });
        await pruneGatewayChanges(db, new Date(Date.now() + 120_000));
        assert.equal((await second.read(`?after=${first.cursor}`)).complete, true);
        assert.equal((await second.read(`?after=${rest.cursor}`)).complete, false);
      } finally {
        await second.close();
      }
    });

    it("never show a customer as it was before what the cursor has seen", async () => {
      const customer = await makeCustomer();
      await setStatus("suspended", [customer]);
      const { cursor } = await read();
      const states = new SharedStates({ db, clock: Date.now, pageChanges: 1 });
      await setStatus("active", [customer]);
      await append("ses_between");
      // kept: read before the customer is suspended again
      const early = await states.read(cursor, 1, { fresh: false, pages: false });
      const late = await states.read(early.cursor, 1, { fresh: false, pages: false });
      assert.match(statusesIn(early.data.json), /"active"/);
      await setStatus("suspended", [customer]);
      const fresh = await states.read(cursor, 1, { fresh: true, pages: false });
      assert.match(statusesIn(fresh.data.json), /"suspended"/);
      // the same change comes next, and yet it is another cursor: what was kept for the earlier one is not told
      assert.notEqual(fresh.cursor, early.cursor);
      assert.notEqual(await states.read(fresh.cursor, 1, { fresh: false, pages: false }), late);
    });
  });

  it("is compressed for who accepts it, and the same for who does not", async () => {
    const { cursor } = await read();
    const big = await FeedInstance.start(database);
    try {
      await append(...Array.from({ length: 400 }, (_, index) => `ses_${"x".repeat(40)}_${index}`));
      const ask = (coding: string) =>
        fetch(`${big.control.url}/v1/gateway/state?after=${cursor}`, {
          headers: {
            authorization: `Bearer ${Buffer.from(JSON.stringify(FULL_KEY)).toString("base64url")}`,
            "accept-encoding": coding,
          },
        });
      const [zipped, plain] = [await ask("gzip"), await ask("identity")];
      assert.equal(zipped.headers.get("content-encoding"), "gzip");
      assert.equal(plain.headers.get("content-encoding"), null);
      const [less, all] = [zipped, plain].map(({ headers }) => Number(headers.get("content-length")));
      assert.ok(less! * 4 < all!, `${less} of ${all} bytes`);
      const envelopeOf = async (answer: Response) =>
        (await answer.json()) as { readonly data: State; readonly meta: { readonly request_id: string } };
      const [one, other] = [await envelopeOf(zipped), await envelopeOf(plain)];
      assert.deepEqual(one.data, other.data);
      assert.equal(one.data.sessions_ended.length, 400);
      assert.equal(one.meta.request_id, zipped.headers.get("x-request-id"));
    } finally {
      await big.close();
    }
  });

  it("hears of an edited policy by as many statements, however many customers have it", async () => {
    const statements: string[] = [];
    const note = ({ sql }: { sql: string }) => statements.push(sql);
    const counts: number[] = [];
    for (const size of [1, 200]) {
      const customers = await Promise.all(Array.from({ length: size }, () => makeCustomer()));
      const policy = await makePolicy(customers);
      db.on("query", note);
      await instance.control.context.units(OPERATOR, async (unit) => {
        unit.notifyGateways({ type: "policy_changed", policy_id: policy });
        await Promise.resolve();
      });
      db.removeListener("query", note);
      counts.push(statements.splice(0).length);
    }
    assert.equal(counts[0], counts[1]);
  });

  async function makeCustomer(): Promise<string> {
    const id = newId("customer");
    const now = new Date();
    await db("customers").insert({
      ...{ id, name: "c", name_key: "c", status: "active", allowed_return_urls: [], metadata: "{}" },
      ...{ created_at: now, updated_at: now },
    });
    return id;
  }

  async function makePolicy(customers: readonly string[]): Promise<string> {
    const id = newId("policy");
    const now = new Date();
    await db("policies").insert({
      ...{ id, name: "p", name_key: "p", description: "", type: "authentication", status: "active" },
      ...{ conditions: JSON.stringify({ mfa_required: true }), created_at: now, updated_at: now },
    });
    await db("policy_assignments").insert(
      customers.map((customer_id) => ({ customer_id, policy_id: id, assigned_at: now })),
    );
    return id;
  }

  /** Changes customers in one transaction, as a unit does. */
  function setStatus(status: "active" | "suspended", ids: readonly string[]): Promise<void> {
    return db.transaction(async (trx) => {
      await trx("customers")
        .whereIn("id", [...ids])
        .update({ status });
      await appendGatewayChanges(
        trx,
        ids.map((customer_id) => ({ type: "customer_changed", customer_id })),
      );
    });
  }
});

function statusesIn(json: Buffer): string {
  return JSON.stringify((JSON.parse(json.toString()) as State).customers.map(({ status }) => status));
}
