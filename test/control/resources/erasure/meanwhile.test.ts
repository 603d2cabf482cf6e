import assert from "node:assert/strict";
import { lockCustomer } from "../../../../src/control/tenancy/customers.ts";
import { eraseDeliveries } from "../../../../src/control/resources/erasure/deliveries.ts";
import { runErasures } from "../../../../src/control/resources/erasure/jobs.ts";
import { requestErasure } from "../../../../src/control/resources/erasure/store.ts";
import { lockDelivery } from "../../../../src/control/resources/webhooks/delivery-store.ts";
import { insertDeliveries } from "../../../../src/control/resources/webhooks/enqueue.ts";
import {
  claimDue,
  endDelivery,
  postpone,
  type Claimed,
} from "../../../../src/control/resources/webhooks/outbox.ts";
import { FULL_KEY, type RunningControl } from "../../../support/control.ts";
import { emptyDatabase } from "../../../support/database.ts";
import { eventually } from "../../../support/eventually.ts";
import { OPERATOR } from "../../../support/guarded-control.ts";
import { lockWaits } from "../../../support/lock-waits.ts";
import { rowsWith } from "../../support/database-texts.ts";
import { KnownPeople, SECRETS } from "../../support/known-people.ts";

describe("erasure of what is being written meanwhile", () => {
  let known: KnownPeople;
  let control: RunningControl;
  let customer: string;
  let other: string;

  beforeEach(async () => {
    known = await KnownPeople.start();
    ({ control, customer, other } = known);
  });
  afterEach(() => control.close());

  /** Waits until somebody waits for a lock. */
  const isWaiting = () => eventually("a wait for a lock", async () => (await lockWaits(known.db)).length > 0);

  it("waits for transactions that began before the deletion", async () => {
    const { user } = await known.makeUser(customer);
    const late = await known.db.transaction();
    await late.raw("select pg_current_xact_id()");
    await known.ask("DELETE", `/users/${user.id}`);
    await runErasures(control.context);
    assert.equal((await known.ask("GET", `/erasures/${user.id}`)).status, "running");
    await late("events").insert({
      ...{
        timestamp: new Date(known.time),
        id: "evt_late",
        type: "user.authenticated",
        customer_id: customer,
      },
      ...{ user_id: user.id, data: { user: { id: user.id, email: "late@lovelace.example" } } },
    });
    await late.commit();
    await known.erase();
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
  });

  it("waits for those of this database only, whatever their ids, and says so after a minute", async () => {
    const { user } = await known.makeUser(customer);
    const status = async () => {
      await runErasures(control.context);
      return known.ask("GET", `/erasures/${user.id}`);
    };
    const elsewhere = await emptyDatabase();
    try {
      const [here, there] = [await known.db.transaction(), await elsewhere.db.transaction()];
      await there.raw("select pg_current_xact_id()");
      await control.context.units(OPERATOR, async (unit) => {
        await unit.trx.raw("select pg_current_xact_id()");
        // later than that of the deletion, which it does not see
        await here.raw("select pg_current_xact_id()");
        await requestErasure(unit, { id: user.id, kind: "user", customerId: customer });
      });
      const { status: first, failure } = await status();
      assert.deepEqual([first, failure], ["running", null]);
      known.time += 60_001;
      const { step, attempts, next_attempt_at: next } = (await status()).failure;
      assert.deepEqual([step, attempts, Date.parse(next as string)], ["users", 1, known.time + 1_000]);
      await here.rollback();
      assert.equal((await status()).status, "running", "not before its time");
      known.time += 1_000;
      await known.erase();
      assert.equal((await status()).failure, null);
      await there.rollback();
    } finally {
      await elsewhere.close();
    }
  });

  it("finds what is sent again, before and after it", async () => {
    const { user, webhook } = await known.makeUser(customer);
    const { db } = known;
    await db("webhook_deliveries").update({ status: "delivered", next_attempt_at: null });
    const [sent] = await known.ask("GET", `/webhooks/${webhook}/deliveries?type=user.authenticated`);
    // one that is being sent again when the erasure comes
    const sending = await db.transaction();
    const { event_id, event_type, payload } = await lockDelivery(sending, webhook, sent.id as string);
    const about = { webhook_id: webhook, event_id, event_type, payload };
    const copy = { ...about, id: "dlv_copy", created_at: new Date(known.time), retried: true };
    await insertDeliveries(sending, [{ ...copy, priority: 0 }]);
    const erasing = await db.transaction();
    const erased = eraseDeliveries(erasing, [event_id]);
    await isWaiting();
    await sending.commit();
    await erased;
    // and one that is to be sent again while it is erased
    const again = control.request("POST", `/webhooks/${webhook}/deliveries/${sent.id}/redeliver`);
    await isWaiting();
    await erasing.commit();
    assert.equal((await again).status, 202);
    const payloads = await db("webhook_deliveries").where({ event_id }).pluck<string[]>("payload");
    assert.equal(payloads.length, 3);
    for (const text of payloads) assert.ok(text.includes(user.id) && !/Lovelace|SecretBrowser/i.test(text));
  });

  it("keeps no answer to what was under way and had the person in it", async () => {
    const { user: first } = await known.makeUser(customer);
    const { user: second } = await known.makeUser(customer, "sub-second");
    const { user: third } = await known.makeUser(customer, "sub-else");
    const [now, until] = [new Date(known.time), new Date(known.time + 40_000)];
    const claims = await claimDue(known.db, { now, until, most: 100 });
    const [finished, postponed, untouched] = [first, second, third].map(({ id }) =>
      claims.find(({ delivery: { payload } }) => payload.includes(id) && payload.includes("SecretBrowser")),
    );
    assert.ok(finished && postponed && untouched);
    for (const { id } of [first, second]) await known.ask("DELETE", `/users/${id}`);
    await known.erase();
    const answer = ({ delivery: { payload } }: Claimed) => ({
      ...{ response_status: 200, response_body: payload, duration_ms: 3, error: null },
    });
    assert.ok(await endDelivery(known.db, finished, "delivered", answer(finished), now));
    await postpone(known.db, postponed, answer(postponed), until);
    await endDelivery(known.db, untouched, "delivered", answer(untouched), now);
    const answered = known.db("webhook_deliveries").where({ response_status: 200 }).orderBy("sequence");
    assert.deepEqual(await answered.select("id", "response_body"), [
      { id: finished.delivery.id, response_body: null },
      { id: postponed.delivery.id, response_body: null },
      { id: untouched.delivery.id, response_body: untouched.delivery.payload },
    ]);
  });

  it("has no user after it who was added while the customer was deleted", async () => {
    const deleting = await known.db.transaction();
    await lockCustomer(deleting, FULL_KEY, other);
    const body = { subject: "late", email: "late@lovelace.example" };
    const added = control.request("POST", `/customers/${other}/users`, { body });
    await isWaiting();
    await deleting("customers")
      .where({ id: other })
      .update({ deleted_at: new Date(known.time) });
    await deleting.commit();
    const { status, body: answer } = await added;
    assert.deepEqual([status, answer.error.code], [404, "INVALID_CUSTOMER"]);
    assert.deepEqual(await rowsWith(known.db, ["late@lovelace.example"]), []);
  });
});
