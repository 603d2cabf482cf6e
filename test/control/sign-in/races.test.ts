import assert from "node:assert/strict";
import type { Knex } from "knex";
import { lockPolicy } from "../../../src/control/resources/policies/store.ts";
import { lockUser } from "../../../src/control/resources/users/store.ts";
import { lockSessionForUse } from "../../../src/control/sign-in/tokens.ts";
import { lockCustomer, requireCustomerShared } from "../../../src/control/tenancy/customers.ts";
import { lockRowShared } from "../../../src/storage/index.ts";
import { eventually } from "../../support/eventually.ts";
import { createBrowser } from "../../support/sign-in.ts";
import { startSignInBench, told, type SignInBench } from "../support/sign-in.ts";
import { lockWaits } from "../../support/lock-waits.ts";

/** Each race is held at the point that matters by a lock that the test itself has, so that it runs in that order. */
describe("sign-ins, refreshes and suspensions at once", () => {
  let bench: SignInBench;
  let customer: string;
  before(async () => {
    const now = Date.now();
    bench = await startSignInBench({ clock: () => now });
  });
  after(() => bench.close());
  beforeEach(async () => {
    customer = await bench.customer();
  });

  /**
   * Changes a row, and commits only when that many requests wait for it.
   *
   * @returns what became of the requests
   */
  async function held<T>(
    table: string,
    id: string,
    change: object,
    requests: readonly (() => Promise<T>)[],
    more: (trx: Knex.Transaction) => PromiseLike<unknown> = () => Promise.resolve(),
  ): Promise<T[]> {
    const { db } = bench.database;
    const trx = await db.transaction();
    try {
      await trx(table).where({ id }).update(change);
      await more(trx);
      const running = requests.map((request) => request());
      await eventually("requests that wait for the row", async () => {
        return (await lockWaits(db)).length === requests.length;
      });
      await trx.commit();
      return await Promise.all(running);
    } finally {
      if (!trx.isCompleted()) await trx.rollback();
    }
  }

  describe("what withdraws a right waits only for what is in progress", () => {
    const waiting = async () => (await lockWaits(bench.database.db)).length;

    /** One that shares the lock is in progress, one that wants it alone waits, and another one comes that would share it. */
    async function order(
      shares: (trx: Knex.Transaction) => Promise<unknown>,
      takesAlone: (trx: Knex.Transaction) => Promise<unknown>,
      comes: () => Promise<unknown> = () => bench.database.db.transaction(shares),
    ): Promise<string[]> {
      const { db } = bench.database;
      const done: string[] = [];
      const inProgress = await db.transaction();
      try {
        await shares(inProgress);
        const alone = db.transaction(async (trx) => {
          await takesAlone(trx);
          // while it has the lock: others may hear of its end sooner than this one
          done.push("alone");
        });
        await eventually("somebody who wants it alone", async () => (await waiting()) === 1);
        const later = comes().then(() => done.push("shared"));
        await eventually(
          "another one, who waits or got it",
          async () => (await waiting()) + done.length === 2,
        );
        await inProgress.commit();
        await Promise.all([alone, later]);
        return done;
      } finally {
        if (!inProgress.isCompleted()) await inProgress.rollback();
      }
    }

    const USER = { kind: "system", id: "test", name: "test" } as const;

    it("of a customer: refreshes and writes", async () => {
      const { user, session } = await bench.signIn(customer);
      const row = { id: session.id, customer_id: customer, user_id: user.id };
      const alone = (trx: Knex.Transaction) => lockCustomer(trx, USER, customer);
      assert.deepEqual(await order((trx) => lockSessionForUse(trx, row), alone), ["alone", "shared"]);
      const write = (trx: Knex.Transaction) => requireCustomerShared(trx, USER, customer, "path");
      assert.deepEqual(await order(write, alone), ["alone", "shared"]);
    });

    it("of a user: refreshes", async () => {
      const { user, session } = await bench.signIn(customer);
      const row = { id: session.id, customer_id: customer, user_id: user.id };
      // with another session, because those of one session wait for each other anyway
      const { user: same, refresh_token: token } = await bench.signIn(customer);
      assert.equal(same.id, user.id);
      const alone = (trx: Knex.Transaction) => lockUser(trx, user.id);
      const refresh = () => bench.refresh(token);
      assert.deepEqual(await order((trx) => lockSessionForUse(trx, row), alone, refresh), [
        "alone",
        "shared",
      ]);
    });

    it("of a policy: assignments", async () => {
      const made = await bench.request("POST", "/policies", {
        body: { name: "Office hours", type: "authentication", conditions: { mfa_required: true } },
      });
      const id = made.body.data.id as string;
      const assign = () =>
        bench.request("POST", `/customers/${customer}/policies`, { body: { policy_ids: [id] } });
      const shares = (trx: Knex.Transaction) => lockRowShared(trx, "policies", id);
      assert.deepEqual(await order(shares, (trx) => lockPolicy(trx, id), assign), ["alone", "shared"]);
    });
  });

  it("refresh: two that bring one token at the same moment get the same next one", async () => {
    const { session, refresh_token: token } = await bench.signIn(customer);
    const refresh = () => bench.refresh(token);
    const both = await held("sessions", session.id, { user_agent: "touched" }, [refresh, refresh]);
    assert.deepEqual(
      both.map(({ status }) => status),
      [200, 200],
    );
    const [one, other] = both.map(({ body }) => body.data.refresh_token as string);
    assert.equal(one, other);
  });

  it("exchange: of two that bring one code at the same moment, one wins", async () => {
    const arrived = await bench.arrive(customer);
    const list = await bench.request("GET", `/sessions?customer_id=${customer}`);
    const exchange = () => bench.exchange(arrived);
    const both = await held("sessions", list.body.data[0].id, { user_agent: "touched" }, [
      exchange,
      exchange,
    ]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401]);
  });

  it("exchange, refresh and callback see a customer that is just being suspended", async () => {
    const arrived = await bench.arrive(customer);
    const { refresh_token: token } = await bench.signIn(customer);
    const [exchanged, refreshed] = await held("customers", customer, { status: "suspended" }, [
      () => bench.exchange(arrived),
      () => bench.refresh(token),
    ]);
    for (const answer of [exchanged, refreshed])
      assert.deepEqual(answer && told(answer), [403, "CUSTOMER_SUSPENDED"]);

    const other = await bench.customer();
    const { authorization_url: url } = await bench.authorize(other);
    const [walked] = await held("customers", other, { status: "suspended" }, [
      () => createBrowser().walk(url, { until: "https://app.example.com/" }),
    ]);
    assert.ok(walked?.kind === "sent");
    assert.equal(walked.url.searchParams.get("reason"), "CUSTOMER_SUSPENDED");
  });

  it("callback sees a provider that is just being removed or changed", async () => {
    const changes = [
      (idp: Knex.QueryBuilder) => idp.update({ claims: "{}" }).increment("revision"),
      (idp: Knex.QueryBuilder) => idp.delete(),
    ];
    for (const change of changes) {
      const { authorization_url: url } = await bench.authorize(customer);
      const [walked] = await held(
        "customers",
        customer,
        { name: "touched" },
        [() => createBrowser().walk(url, { until: "https://app.example.com/" })],
        (trx) => change(trx("customer_idps").where({ customer_id: customer })),
      );
      assert.ok(walked?.kind === "sent");
      assert.equal(walked.url.searchParams.get("reason"), "PROVIDER_CHANGED");
    }
  });

  it("exchange, refresh and callback see a user who is just being suspended", async () => {
    const arrived = await bench.arrive(customer);
    const { refresh_token: token, user } = await bench.signIn(customer);
    const { authorization_url: url } = await bench.authorize(customer);
    const [exchanged, refreshed] = await held("users", user.id, { status: "suspended" }, [
      () => bench.exchange(arrived),
      () => bench.refresh(token),
    ]);
    for (const answer of [exchanged, refreshed])
      assert.deepEqual(answer && told(answer), [403, "USER_SUSPENDED"]);
    await bench.database.db("users").where({ id: user.id }).update({ status: "active" });
    const [walked] = await held("users", user.id, { status: "suspended" }, [
      () => createBrowser().walk(url, { until: "https://app.example.com/" }),
    ]);
    assert.ok(walked?.kind === "sent");
    assert.equal(walked.url.searchParams.get("reason"), "USER_SUSPENDED");
  });

  it("refresh sees a session that is just being ended", async () => {
    const { session, refresh_token: token } = await bench.signIn(customer);
    const change = { ended_at: new Date(), end_reason: "logout" };
    const [answer] = await held("sessions", session.id, change, [() => bench.refresh(token)]);
    assert.deepEqual(answer && told(answer), [401, "SESSION_ENDED"]);
  });

  it("logout ends what a refresh has just prolonged, and tells gateways until the new token's end", async () => {
    const { session } = await bench.signIn(customer);
    bench.forget();
    const later = new Date(Date.now() + 3_600_000);
    const change = { last_token_expires_at: later, alive_until: later };
    const [answer] = await held("sessions", session.id, change, [
      () => bench.request("DELETE", `/auth/logout?session_id=${session.id}`),
    ]);
    assert.equal(answer?.body.data.ended, 1);
    const [told] = bench.told;
    assert.ok(told?.type === "session_ended");
    assert.equal(Date.parse(told.until), later.getTime() + 300_000);
  });
});
