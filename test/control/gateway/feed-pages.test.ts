import assert from "node:assert/strict";
import { createRandom } from "../../../src/control/sandbox/seed/random.ts";
import { stateAnswer, type StateAnswer } from "../../../src/protocol/index.ts";
import { AppliedState } from "../../../src/sync/synced-state.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { runs } from "../../support/runs.ts";
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

  const read = async (query: string, at = instance): Promise<StateAnswer> =>
    stateAnswer.parse(await at.read(query));

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
        await instance.append(endOf(nameOfSession(sessions)));
        return;
      default:
        if (customer !== undefined)
          await instance.control.request("PUT", `/customers/${customer}`, { body: { status: "active" } });
    }
  }

  /** All pages, with what happens between them; then the changes until there are none. */
  async function follow(
    between: (page: number) => Promise<void>,
    at: () => FeedInstance = () => instance,
  ): Promise<AppliedState> {
    let page = await read("?pages=true", at());
    assert.equal(page.complete, true);
    let state = AppliedState.of(page);
    for (let number = 1; page.more === true; number += 1) {
      assert.ok(entriesOf(page) <= ENTRIES);
      await between(number);
      page = await read(`?pages=true&after=${encodeURIComponent(page.cursor)}`, at());
      assert.equal(page.complete, false);
      state = state.after(page);
    }
    for (;;) {
      const changes = await read(`?pages=true&after=${encodeURIComponent(state.cursor)}`, at());
      assert.equal(changes.complete, false);
      const isNothing = changes.cursor === state.cursor;
      state = state.after(changes);
      if (isNothing) return state;
    }
  }

  const said = (state: AppliedState) => ({
    customers: customers.map((id) => [id, state.customer(id)?.status ?? "active"]),
    users: users.map((id) => [id, state.userStatus(id)]),
    sessions: Array.from({ length: sessions }, (_, n) => state.sessionEnded(nameOfSession(n + 1))),
    set: state.policySet("main"),
  });
  /** All that a gateway knows of these. */
  const everything = (state: AppliedState, sets: readonly string[]) => ({
    customers: customers.map((id) => state.customer(id) ?? id),
    users: users.map((id) => [id, state.userStatus(id)]),
    // ended for as long
    sessions: Array.from({ length: sessions }, (_, n) => state.forgettableAt(nameOfSession(n + 1))),
    sets: sets.map((name) => state.policySet(name)),
    named: [...state.namedPolicySets()].sort(),
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

  it("shows who is active again on no page before the sessions that ended meanwhile", async () => {
    const customer = await instance.makeCustomer();
    const user = await instance.makeUser(customer);
    let { cursor } = await read("");
    for (const status of ["suspended", "active"] as const) {
      await instance.put(`/customers/${customer}`, { status });
      await instance.put(`/users/${user}`, { status });
    }
    const ended = Array.from({ length: 2 * ENTRIES }, (_, n) => nameOfSession(n + 1));
    for (const id of ended) await instance.append(endOf(id));
    // as a change of the user and the end of the customer's sessions tell it
    await instance.append({ type: "user_changed", user_id: user, customer_id: customer });
    await instance.append({ type: "customer_changed", customer_id: customer });
    const known = new Set<string>();
    const active: string[] = [];
    for (let pages = 1; ; pages += 1) {
      const page = await read(`?pages=true&after=${encodeURIComponent(cursor)}`);
      for (const { session_id: id } of page.sessions_ended) known.add(id);
      const shown = [...page.customers, ...page.users].filter(({ status }) => status === "active");
      if (shown.length > 0) assert.deepEqual([...known].toSorted(), ended.toSorted());
      active.push(...shown.map(({ id }) => id));
      ({ cursor } = page);
      if (page.more !== true) {
        assert.ok(pages > 2);
        break;
      }
    }
    assert.deepEqual(active.toSorted(), [customer, user].toSorted());
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

  for (let seed = 1; seed <= runs(2); seed += 1)
    it(`ends with what there is, whatever happens between two pages of two instances (seed ${seed})`, async () => {
      const random = createRandom(seed);
      const any = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
      const second = await FeedInstance.start(database, Date.now, undefined, { pageChanges: ENTRIES });
      try {
        const anyone = () => any([instance, second]) ?? instance;
        const policies: string[] = [];
        const sets = ["main", "other"];
        let versions = 0;
        // what is refused for what is so already, or is gone, changes nothing
        const ask = async (method: string, path: string, body?: object) => {
          const answer = await anyone().control.request(method, path, body === undefined ? {} : { body });
          assert.ok(answer.status < 500, `${method} ${path}: ${answer.text}`);
          return answer.body as { data: { id: string } };
        };
        const publish = async (activate: boolean) => {
          versions += 1;
          const text = `version: v${versions}\npolicies: [{resource: "GET /${versions}", condition: "true"}]`;
          await ask("POST", "/policy-sets", { name: any(sets), files: [{ name: "a.yaml", text }], activate });
        };
        const deeds: readonly (() => Promise<unknown>)[] = [
          async () => customers.push(await anyone().makeCustomer()),
          async () => {
            customers.push(await anyone().makeCustomer());
            await ask("PUT", `/customers/${customers.at(-1)}`, { status: "suspended" });
          },
          async () => {
            const id = any(customers);
            if (id === undefined) return;
            const made = await ask("POST", `/customers/${id}/users`, { subject: `s${random()}` });
            if ("data" in made) users.push(made.data.id);
          },
          () =>
            ask("PUT", `/customers/${any(customers)}`, { status: any(["active", "suspended", "archived"]) }),
          () => ask("PUT", `/users/${any(users)}`, { status: any(["active", "suspended"]) }),
          () => ask("DELETE", `/users/${any(users)}`),
          () => ask("DELETE", `/customers/${any(customers)}`),
          async () => {
            const conditions = { max_session_duration: 60 + Math.floor(random() * 1_000) };
            const type = "authentication";
            const made = await ask("POST", "/policies", { name: "p", type, conditions });
            if ("data" in made) policies.push(made.data.id);
          },
          async () => {
            const conditions = { policy_set: any(sets) };
            const made = await ask("POST", "/policies", { name: "p", type: "authorization", conditions });
            if ("data" in made) policies.push(made.data.id);
          },
          () =>
            ask("PATCH", `/policies/${any(policies)}`, {
              ...(random() < 0.5 && { status: any(["active", "inactive"]) }),
              assign_to_new_customers: random() < 0.2,
            }),
          () => ask("DELETE", `/policies/${any(policies)}`),
          () => ask("POST", `/customers/${any(customers)}/policies`, { policy_ids: [any(policies)] }),
          () => ask("DELETE", `/customers/${any(customers)}/policies/${any(policies)}`),
          async () => {
            sessions += 1;
            await anyone().append(endOf(nameOfSession(sessions), 3_600_000));
          },
          async () => {
            // the end of a session may be told again, with another time
            const told = 1 + Math.floor(random() * Math.max(1, sessions));
            if (told <= sessions) await anyone().append(endOf(nameOfSession(told), 7_200_000));
          },
          () => publish(true),
          () => publish(false),
          () =>
            ask("POST", `/policy-sets/${any(sets)}/rollout`, {
              ...{ version: `v${versions}`, mode: any(["shadow", "enforce"]) },
              percentage: Math.floor(random() * 100),
            }),
          () => ask("POST", `/policy-sets/${any(sets)}/rollout/${any(["abort", "promote"])}`, undefined),
        ];
        const someDeeds = async (count: number) => {
          for (let left = count; left > 0; left -= 1) await any(deeds)?.();
        };
        for (let n = 0; n < 24; n += 1) await happen(n);
        await someDeeds(80);
        let pages = 0;
        const state = await follow(async (page) => {
          pages += 1;
          // it ends, however much happens
          if (page <= 15) await someDeeds(Math.floor(random() * 6));
        }, anyone);
        assert.ok(pages > 2, String(pages));
        const complete = AppliedState.of(await read(""));
        assert.deepEqual(everything(state, sets), everything(complete, sets));
        // and so does one that has followed since
        await someDeeds(10);
        let later = state;
        for (;;) {
          const changes = await read(`?pages=true&after=${encodeURIComponent(later.cursor)}`, anyone());
          assert.equal(changes.complete, false);
          if (changes.cursor === later.cursor) break;
          later = later.after(changes);
        }
        assert.deepEqual(everything(later, sets), everything(AppliedState.of(await read("")), sets));
      } finally {
        await second.feed.close();
        await second.control.close();
      }
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

function nameOfSession(n: number): string {
  return `ses_${String(n).padStart(4, "0")}`;
}

function entriesOf({
  customers,
  customers_deleted: deleted = [],
  sessions_ended,
  users,
}: StateAnswer): number {
  return customers.length + deleted.length + sessions_ended.length + users.length;
}
