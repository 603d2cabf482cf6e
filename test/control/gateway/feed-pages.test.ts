import assert from "node:assert/strict";
import { stateAnswer, type StateAnswer } from "../../../src/protocol/index.ts";
import { AppliedState } from "../../../src/sync/synced-state.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { endOf, FeedInstance } from "../support/feed-instance.ts";

/** Entries of a page: few, so that each section has several. */
const ENTRIES = 3;

describe("the gateway feed: a complete state in pages", () => {
  let database: TestDatabase;
  let instance: FeedInstance;
  /** What the feed may say anything about. */
  let customers: string[];
  let users: string[];
  let sessions: number;

  beforeEach(async () => {
    database = await testDatabase();
    instance = await FeedInstance.start(database, Date.now, undefined, { pageChanges: ENTRIES });
    [customers, users, sessions] = [[], [], 0];
  });
  afterEach(async () => {
    await instance.close();
    await database.close();
  });

  const read = async (query: string): Promise<StateAnswer> => stateAnswer.parse(await instance.read(query));

  /** One change of anything. */
  async function happen(n: number): Promise<void> {
    const [customer, user] = [customers[n % customers.length], users[n % users.length]];
    switch (n % 6) {
      case 0:
        customers.push(await instance.makeCustomer());
        await instance.put(`/customers/${customers.at(-1) ?? ""}`, { status: "suspended" });
        return;
      case 1:
        if (customer !== undefined) await instance.control.request("DELETE", `/customers/${customer}`);
        return;
      case 2: {
        const id = await instance.makeCustomer();
        customers.push(id);
        users.push(await instance.makeUser(id));
        await instance.put(`/users/${users.at(-1) ?? ""}`, { status: "suspended" });
        return;
      }
      case 3:
        // it may have been deleted
        if (user !== undefined)
          await instance.control.request("PUT", `/users/${user}`, { body: { status: "active" } });
        return;
      case 4:
        sessions += 1;
        await instance.append(endOf(`ses_${String(sessions).padStart(4, "0")}`));
        return;
      default:
        if (customer !== undefined)
          await instance.control.request("PUT", `/customers/${customer}`, { body: { status: "active" } });
    }
  }

  /** All pages, with what happens between them; then the changes until there are none. */
  async function follow(between: (page: number) => Promise<void>): Promise<AppliedState> {
    let page = await read("?pages=true");
    assert.equal(page.complete, true);
    let state = AppliedState.of(page);
    for (let number = 1; page.more === true; number += 1) {
      assert.ok(entriesOf(page) <= ENTRIES);
      await between(number);
      page = await read(`?pages=true&after=${encodeURIComponent(page.cursor)}`);
      assert.equal(page.complete, false);
      state = state.after(page);
    }
    for (;;) {
      const changes = await read(`?pages=true&after=${encodeURIComponent(state.cursor)}`);
      assert.equal(changes.complete, false);
      const isNothing = changes.cursor === state.cursor;
      state = state.after(changes);
      if (isNothing) return state;
    }
  }

  const said = (state: AppliedState) => ({
    customers: customers.map((id) => [id, state.customer(id)?.status ?? "active"]),
    users: users.map((id) => [id, state.userStatus(id)]),
    sessions: Array.from({ length: sessions }, (_, n) =>
      state.sessionEnded(`ses_${String(n + 1).padStart(4, "0")}`),
    ),
    set: state.policySet("main"),
  });
  const whole = async () => said(AppliedState.of(await read("")));

  it("holds the same as in one answer, and few entries a page", async () => {
    for (let n = 0; n < 36; n += 1) await happen(n);
    await instance.publish("main", "v1");
    let pages = 0;
    const state = await follow(() => {
      pages += 1;
      return Promise.resolve();
    });
    assert.ok(pages >= 5, String(pages));
    assert.deepEqual(said(state), await whole());
    assert.equal(state.policySet("main")?.version, "v1");
  });

  it("ends with what there is, whatever happens between two pages", async () => {
    for (let n = 0; n < 30; n += 1) await happen(n);
    let n = 100;
    const state = await follow(async (page) => {
      if (page > 12) return;
      for (let left = 5; left > 0; left -= 1) await happen((n += 1));
      if (page % 4 === 1) await instance.publish("main", `v${n}`);
    });
    assert.deepEqual(said(state), await whole());
  });

  it("is one page where it is small, and one answer for who does not ask for pages", async () => {
    await happen(0);
    const small = await read("?pages=true");
    assert.deepEqual([small.complete, small.more, small.customers.length], [true, undefined, 1]);
    for (let n = 0; n < 30; n += 1) await happen(n);
    const one = await read("");
    assert.deepEqual([one.complete, one.more], [true, undefined]);
    assert.ok(entriesOf(one) > ENTRIES);
  });

  it("begins again for cursors that were never issued, are too old, or are of another database", async () => {
    for (let n = 0; n < 30; n += 1) await happen(n);
    const first = await read("?pages=true");
    const [position = "", tag = "", , after = ""] = first.cursor.split(".");
    for (const cursor of [
      `${position}.other.0.${after}`,
      `p999999.${tag}.0.${after}`,
      `${position}.${tag}.4.${after}`,
      `${position}.${tag}.0.${Buffer.from("a\0").toString("base64url")}`,
      `${position}.${tag}.0.${"A".repeat(121)}`,
      "p",
      "nothing",
    ]) {
      const again = await read(`?pages=true&after=${encodeURIComponent(cursor)}`);
      assert.deepEqual([again.complete, again.more], [true, true], cursor);
    }
    await database.db("gateway_feed").update({ pruned_through: 1_000_000 });
    assert.equal((await read(`?pages=true&after=${encodeURIComponent(first.cursor)}`)).complete, true);
    // an instance of an earlier release, or a request without pages, knows no such cursor either
    assert.deepEqual((await read(`?after=${encodeURIComponent(first.cursor)}`)).more, undefined);
    assert.equal((await instance.state("?pages=yes")).status, 400);
  });
});

function entriesOf({
  customers,
  customers_deleted: deleted = [],
  sessions_ended,
  users,
}: StateAnswer): number {
  return customers.length + deleted.length + sessions_ended.length + users.length;
}
