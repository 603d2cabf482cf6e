import assert from "node:assert/strict";
import type { Knex } from "knex";
import type { StoredEvent } from "../../../../src/control/platform/events.ts";
import { newId } from "../../../../src/control/platform/ids.ts";
import { closeWindows } from "../../../../src/control/resources/webhooks/close-windows.ts";
import {
  MAX_KINDS,
  MAX_KINDS_OF_CUSTOMER,
  MAX_KINDS_OF_OWNER,
} from "../../../../src/control/resources/webhooks/coalesce.ts";
import { enqueueDeliveries } from "../../../../src/control/resources/webhooks/enqueue.ts";
import { webhookRoutes } from "../../../../src/control/resources/webhooks/routes.ts";
import { startControl } from "../../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../../support/database.ts";
import { signIn } from "../../support/webhooks.ts";

const T0 = Date.parse("2026-01-01T00:00:00Z");
const at = (seconds: number) => new Date(T0 + seconds * 1_000);

/** What a delivery says. */
interface Told {
  readonly id: string;
  readonly timestamp: string;
  readonly data: {
    readonly user?: { readonly id: string; readonly customer_id: string };
    readonly customer?: { readonly id: string };
    readonly reason?: string;
    readonly decision_id?: string;
    readonly count?: number;
    readonly first_at?: string;
    readonly last_at?: string;
    readonly others?: true;
  };
}

describe("webhooks: violations that repeat", () => {
  let database: TestDatabase;
  let db: Knex;
  let made = 0;
  /** Seconds since a test began. */
  let passed = 0;

  before(async () => {
    database = await testDatabase();
    db = database.db;
  });
  after(() => database.close());
  beforeEach(async () => {
    for (const table of ["webhook_deliveries", "webhook_windows", "webhooks"]) await db(table).delete();
    await db("customers").delete();
    passed = 0;
  });

  const webhook = async (columns: object = {}): Promise<string> => {
    const id = newId("webhook");
    const row = { id, url: "http://127.0.0.1:9/", events: ["*"], enabled: true, secret: "s" };
    await db("webhooks").insert({ ...row, created_at: at(0), updated_at: at(0), ...columns });
    return id;
  };
  const violation = (
    seconds: number,
    { userId = "usr_1", rule = "r", reason = "CONDITION_FALSE", customerId = "cus_1" } = {},
  ): StoredEvent => {
    made += 1;
    const user = { id: userId, customer_id: customerId };
    const about = { id: `evt_${made}`, timestamp: at(seconds), type: "policy.violated" } as const;
    return { ...about, customerId, userId, rule, data: { user, reason, decision_id: `dec_${made}` } };
  };
  const announce = (...events: StoredEvent[]) => enqueueDeliveries(db, events);
  /** The database's clock is the real one: for time to pass, windows end earlier. */
  const pass = async (seconds: number) => {
    if (seconds <= passed) return;
    await db.raw("update webhook_windows set closes_at = closes_at - make_interval(secs => ?)", [
      seconds - passed,
    ]);
    passed = seconds;
  };
  const close = async (seconds: number) => {
    await pass(seconds);
    await closeWindows(db, at(seconds));
  };
  const told = async (webhookId?: string): Promise<Told[]> => {
    const rows = db("webhook_deliveries").orderBy("sequence");
    if (webhookId !== undefined) void rows.where({ webhook_id: webhookId });
    const payloads = await rows.pluck<string[]>("payload");
    return payloads.map((payload) => JSON.parse(payload) as Told);
  };
  const counts = async (webhookId?: string) => (await told(webhookId)).map(({ data }) => data.count);

  it("are told once at once, and once more with their count when the window closes", async () => {
    await webhook();
    const first = violation(0);
    await announce(first, violation(0));
    for (const seconds of [1, 30]) await announce(violation(seconds));
    const last = violation(59);
    await announce(last);
    await close(45);
    assert.deepEqual(
      (await told()).map(({ id }) => id),
      [first.id],
    );
    await close(60);
    const [, summary, ...rest] = await told();
    assert.ok(summary);
    assert.deepEqual(rest, []);
    assert.match(summary.id, /^evt_/);
    assert.ok(![first.id, last.id].includes(summary.id));
    assert.equal(summary.timestamp, at(59).toISOString());
    assert.deepEqual(summary.data, {
      ...last.data,
      count: 4,
      first_at: at(0).toISOString(),
      last_at: at(59).toISOString(),
    });
    const rows = await db("webhook_deliveries").orderBy("sequence").select("priority", "created_at");
    assert.deepEqual(rows[1], { priority: 2, created_at: at(60) });
  });

  it("are told once a window while they go on, and at once again after one without", async () => {
    await webhook();
    await announce(violation(0));
    await announce(violation(50));
    await close(60);
    await announce(violation(61));
    await announce(violation(119));
    await close(105);
    assert.deepEqual(await counts(), [undefined, 1]);
    await close(120);
    assert.deepEqual(await counts(), [undefined, 1, 2]);
    await close(180);
    await announce(violation(181));
    assert.deepEqual(await counts(), [undefined, 1, 2, undefined]);
    // nothing is kept of what is over
    await close(241);
    assert.deepEqual(await db("webhook_windows").select("key"), []);
  });

  it("are told apart by webhook, customer, user, reason and rule, and nothing else is counted", async () => {
    const id = await webhook();
    await announce(violation(0), violation(0, { userId: "usr_2" }), violation(0, { rule: "s" }));
    await announce(violation(1), violation(1, { reason: "MFA_REQUIRED" }));
    await announce(violation(1, { customerId: "cus_2" }));
    assert.deepEqual(await counts(), Array.from({ length: 5 }));
    const other = await webhook();
    await announce(violation(2), violation(2));
    assert.deepEqual([(await told(id)).length, (await told(other)).length], [5, 1]);
    const signIns = [1, 2, 3].map((number) => ({ ...signIn(), id: `evt_in_${number}`, timestamp: at(3) }));
    await announce(...signIns);
    assert.equal((await told()).length, 6 + 2 * signIns.length);
  });

  it("are one count of their customer beyond a number of kinds, whoever is denied what", async () => {
    const id = await webhook();
    await customers("cus_own");
    const own = await webhook({ customer_id: "cus_own" });
    const many = (from: number, count: number, seconds: number) =>
      Array.from({ length: count }, (_, index) =>
        violation(seconds, { userId: `usr_${from + index}`, rule: `r ${index}`, customerId: "cus_own" }),
      );
    const bounds = new Map([
      [id, MAX_KINDS_OF_CUSTOMER],
      [own, MAX_KINDS_OF_OWNER],
    ]);
    await announce(...many(0, MAX_KINDS_OF_CUSTOMER - 1, 0));
    await announce(...many(1_000, 150, 1), ...many(1_000, 10, 1));
    await announce(...many(2_000, 500, 2));
    // a kind that is known is told apart as before
    await announce(...many(0, 1, 3));
    for (const [one, bound] of bounds) {
      assert.equal((await told(one)).length, bound);
      assert.equal((await db("webhook_windows").where({ webhook_id: one }).select("key")).length, bound + 1);
    }
    await close(65);
    for (const [one, bound] of bounds) {
      const [others, ...more] = (await told(one)).filter(({ data }) => data.others);
      assert.deepEqual(more, []);
      // ten of the 160 may be of kinds that are known
      const apart = bound - (MAX_KINDS_OF_CUSTOMER - 1);
      assert.deepEqual(others?.data, {
        customer: { id: "cus_own" },
        count: 160 - apart - Math.min(10, apart) + 500,
        first_at: at(1).toISOString(),
        last_at: at(2).toISOString(),
        others: true,
      });
      // nothing is lost: each was sent, or is counted
      const total = (await counts(one)).reduce<number>((sum, count) => sum + (count ?? 1), 0);
      assert.equal(total, MAX_KINDS_OF_CUSTOMER - 1 + 160 + 500 + 1);
    }
  });

  it("of one customer do not keep those of another from being told at once", async () => {
    const id = await webhook();
    const kindsOf = (customerId: string, count: number) =>
      Array.from({ length: count }, (_, index) => violation(0, { customerId, rule: `r ${index}` }));
    const toldOf = async (customerId: string) =>
      (await told(id)).filter(({ data }) => data.user?.customer_id === customerId).length;
    const full = Array.from({ length: 30 }, (_, index) => `cus_full_${index}`);
    await customers("cus_loud", "cus_2", "cus_late", ...full);
    await announce(...kindsOf("cus_loud", 300));
    await announce(...kindsOf("cus_2", 3));
    assert.deepEqual([await toldOf("cus_loud"), await toldOf("cus_2")], [MAX_KINDS_OF_CUSTOMER, 3]);
    // all together are bounded as well, but for the first of each
    await announce(...full.flatMap((customerId) => kindsOf(customerId, MAX_KINDS_OF_CUSTOMER)));
    const apart = db("webhook_windows").where({ webhook_id: id }).whereNot("key", "like", "others %");
    const last = full.length - Math.ceil((MAX_KINDS - MAX_KINDS_OF_CUSTOMER - 3) / MAX_KINDS_OF_CUSTOMER);
    assert.equal((await apart).length, MAX_KINDS + last);
    await announce(...kindsOf("cus_late", 2));
    assert.equal(await toldOf("cus_late"), 1);
    await close(60);
    const others = (await told(id)).filter(({ data }) => data.others);
    const of = (customerId: string) =>
      others.find(({ data }) => data.customer?.id === customerId)?.data.count;
    assert.deepEqual(
      [of("cus_loud"), of("cus_late"), of("cus_2")],
      [300 - MAX_KINDS_OF_CUSTOMER, 1, undefined],
    );
  });

  it("of customers that do not exist are bounded as those of one customer, however many a gateway names", async () => {
    const id = await webhook();
    await customers("cus_1");
    const invented = 5_000;
    const each = (from: number) =>
      Array.from({ length: invented / 2 }, (_, index) => violation(0, { customerId: `cus_${from + index}` }));
    await announce(...each(10_000));
    await announce(...each(20_000));
    assert.equal((await told(id)).length, MAX_KINDS_OF_CUSTOMER);
    // those of no customer at all share their bound
    const { customerId: _, ...nobodys } = violation(0);
    await announce(nobodys);
    assert.equal((await told(id)).length, MAX_KINDS_OF_CUSTOMER);
    assert.equal((await db("webhook_windows").select("key")).length, MAX_KINDS_OF_CUSTOMER + 1);
    // and leave room for one that exists
    await announce(violation(0));
    assert.equal((await told(id)).length, MAX_KINDS_OF_CUSTOMER + 1);
    await close(60);
    const [others, ...more] = (await told(id)).filter(({ data }) => data.others);
    assert.deepEqual(more, []);
    assert.deepEqual(others?.data, {
      count: invented + 1 - MAX_KINDS_OF_CUSTOMER,
      first_at: at(0).toISOString(),
      last_at: at(0).toISOString(),
      others: true,
    });
  });

  it("are bounded and counted by many transactions at once", async () => {
    await webhook();
    const transactions = 8;
    const each = Array.from({ length: 30 }, (_, index) => index);
    await Promise.all(
      Array.from({ length: transactions }, (_, at) =>
        db.transaction((trx) =>
          enqueueDeliveries(
            trx,
            // some kinds are everybody's, in another order each, and some are one's own
            each.map((index) =>
              violation(0, { userId: index % 3 === 0 ? `usr_${(index + at) % 30}` : `usr_${at}_${index}` }),
            ),
          ),
        ),
      ),
    );
    const kinds = await db("webhook_windows").whereNot("key", "like", "others %").select("key");
    assert.equal(kinds.length, MAX_KINDS_OF_CUSTOMER);
    assert.equal((await told()).length, MAX_KINDS_OF_CUSTOMER);
    await Promise.all([close(60), close(60), close(60)]);
    const total = (await counts()).reduce<number>((sum, count) => sum + (count ?? 1), 0);
    assert.equal(total, transactions * each.length);
  });

  it("lose none that come while their window closes", async () => {
    await webhook();
    await announce(violation(0));
    for (let round = 0; round < 5; round += 1) {
      const seconds = 61 + round * 60;
      await pass(seconds);
      const one = () => [announce(violation(seconds - 1)), close(seconds)];
      await Promise.all([...one(), ...one(), ...one(), ...one()]);
    }
    await close(1_000);
    const total = (await counts()).reduce<number>((sum, count) => sum + (count ?? 1), 0);
    assert.equal(total, 1 + 5 * 4);
  });

  it("are not told to a webhook that is disabled, deleted or asks for others meanwhile", async () => {
    const ids = [await webhook(), await webhook(), await webhook()];
    await announce(violation(0), violation(0));
    const off = { enabled: false, disabled_reason: "requested", disabled_at: at(1) };
    await db("webhooks").where({ id: ids[0] }).update(off);
    await db("webhooks").where({ id: ids[1] }).delete();
    await db("webhooks")
      .where({ id: ids[2] })
      .update({ events: ["customer.created"] });
    await close(60);
    assert.equal((await told()).length, ids.length);
    assert.deepEqual(await db("webhook_windows").select("key"), []);
  });

  it("are not told where they happened before a switch, or were meant for another receiver", async () => {
    const control = await startControl({ database, routes: webhookRoutes });
    try {
      for (const [what, ...changes] of [
        ["disabled and enabled", { enabled: false }, { enabled: true }],
        [
          "other events, then violations again",
          { events: ["user.deleted"] },
          { events: ["policy.violated"] },
        ],
        ["another URL", { url: "http://127.0.0.1:9/other" }],
      ] as const) {
        const id = await webhook();
        await announce(violation(0), violation(0), violation(0));
        for (const body of changes) {
          const { status, text } = await control.request("PUT", `/webhooks/${id}`, { body });
          assert.equal(status, 200, text);
        }
        await pass(passed + 60);
        await closeWindows(db, at(0));
        assert.deepEqual(await counts(id), [undefined], what);
        await db("webhooks").delete();
      }
      // a change of something else leaves them
      const id = await webhook();
      await announce(violation(0), violation(0), violation(0));
      await control.request("PUT", `/webhooks/${id}`, {
        body: { description: "d", events: ["policy.violated"] },
      });
      await pass(passed + 60);
      await closeWindows(db, at(0));
      assert.deepEqual(await counts(id), [undefined, 2]);
    } finally {
      await control.close();
    }
  });

  it("are counted by one clock, however far those of instances are apart", async () => {
    for (const skew of [-86_400, -90, 90, 86_400]) {
      const id = await webhook();
      passed = 0;
      for (let seconds = 0; seconds < 3; seconds += 1) {
        await announce(violation(seconds + skew));
        await close(seconds * 10);
      }
      assert.deepEqual(await counts(id), [undefined], `${skew} s`);
      await close(60);
      assert.deepEqual(await counts(id), [undefined, 2], `${skew} s`);
      await db("webhooks").delete();
    }
  });

  it("do not wait for a clock of the database that was set back", async () => {
    await webhook();
    await announce(violation(0), violation(0));
    await db("webhook_windows").update({ closes_at: db.raw("now() + interval '1 day'") });
    await close(1);
    assert.deepEqual(await counts(), [undefined, 1]);
  });

  async function customers(...ids: readonly string[]): Promise<void> {
    const fields = { name: "Acme", status: "active", allowed_return_urls: [], metadata: "{}" };
    const times = { created_at: at(0), updated_at: at(0) };
    await db("customers").insert(ids.map((id) => ({ ...fields, ...times, id, name_key: id })));
  }
});
