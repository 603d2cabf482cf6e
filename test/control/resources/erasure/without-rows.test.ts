import assert from "node:assert/strict";
import { deletePerson, insertPerson } from "../../../../src/control/sandbox/people.ts";
import { pruneSignIns } from "../../../../src/control/sign-in/prune.ts";
import { sweep } from "../../../../src/control/resources/webhooks/sweep.ts";
import { FULL_KEY, type RunningControl } from "../../../support/control.ts";
import { OPERATOR } from "../../../support/guarded-control.ts";
import { rowsWith } from "../../support/database-texts.ts";
import { takeRecords } from "../../support/gateway-records.ts";
import { DAY, KnownPeople, SECRETS } from "../../support/known-people.ts";
import { register } from "../../support/webhooks.ts";

describe("erasure where the rows that would tell whose it is are gone", () => {
  let known: KnownPeople;
  let control: RunningControl;
  let customer: string;

  beforeEach(async () => {
    known = await KnownPeople.start();
    ({ control, customer } = known);
  });
  afterEach(() => control.close());

  it("needs neither sessions nor events to find what is kept for longer than they are", async () => {
    const { user } = await known.makeUser(customer);
    const { user: neighbour } = await known.makeUser(customer, "sub-neighbour");
    for (const person of [user, neighbour]) await known.signOut(person);
    const others = () => rowsWith(known.db, [neighbour.id, "sub-neighbour"]);
    // sent again, a delivery outlives its event
    await known.db("events").delete();
    await known.db("sessions").delete();
    const kept = await others();
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    assert.deepEqual(await others(), kept);
    const left = await rowsWith(known.db, [user.id, "sub-0f3a"]);
    assert.deepEqual(
      left.filter((text) => SECRETS.some((secret) => text.includes(secret))),
      [],
    );
    await known.ask("DELETE", `/customers/${customer}`);
    await known.erase();
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
  });

  it("finds refused sign-ins in what outlives their events, and the log ends what is sent again and again", async () => {
    const { user, webhook } = await known.makeUser(customer);
    const { db } = known;
    await control.context.units(OPERATOR, (unit) => {
      const data = { reason: "MFA_REQUIRED", detail: "sub sub-0f3a" };
      unit.emit({ type: "policy.violated", customerId: customer, rule: "sub sub-0f3a", data });
      return Promise.resolve();
    });
    await db("events").delete();
    const finish = () => db("webhook_deliveries").update({ status: "delivered", next_attempt_at: null });
    const sendAgain = async () => {
      await finish();
      const { id } = await db("webhook_deliveries")
        .where({ webhook_id: webhook, event_type: "user.authenticated" })
        .orderBy("sequence", "desc")
        .first<{ id: string }>("id");
      await known.ask("POST", `/webhooks/${webhook}/deliveries/${id}/redeliver`);
      await finish();
    };
    known.time += 15 * DAY;
    await sendAgain();
    known.time += 14 * DAY;
    await sendAgain();
    await sweep(control.context);
    const first = await db("webhook_deliveries").whereNotNull("first_created_at").pluck("first_created_at");
    assert.deepEqual(first, [new Date(known.time - 29 * DAY), new Date(known.time - 29 * DAY)]);
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    assert.deepEqual(await rowsWith(db, SECRETS), []);
    await finish();
    known.time += 2 * DAY;
    await sweep(control.context);
    assert.deepEqual(await db("webhook_deliveries").pluck("event_type"), ["user.deleted"]);
  });

  it("of a customer finds what names its users under another customer, or under none", async () => {
    const { other } = known;
    const { user } = await known.makeUser(customer);
    const { user: neighbour } = await known.makeUser(customer, "sub-0f3a-2");
    const { user: stranger } = await known.makeUser(other, "sub-else");
    await register(control, {});
    for (const { id } of [user, neighbour])
      for (const customer_id of [undefined, other]) {
        const records = known.recordsOf({ id, customer_id: customer }, "of.lovelace@mail.example");
        await takeRecords(
          control,
          records.map((record) => ("user_id" in record ? { ...record, customer_id } : record)),
        );
      }
    // what was delivered of one, and outlives it
    assert.ok((await known.db("events").whereNull("customer_id").delete()) > 0);
    await known.ask("DELETE", `/customers/${customer}`);
    await known.erase();
    const left = await rowsWith(known.db, SECRETS);
    assert.deepEqual(
      left.filter((text) => !text.includes(stranger.id) && !text.includes("sub-else")),
      [],
    );
    const { length } = await known.db("audit_records").whereIn("user_id", [user.id, neighbour.id]);
    assert.ok(length >= 6, `${length} records`);
  });

  it("finds sessions' changes that do not say whose they are while the session is there", async () => {
    const { user } = await known.makeUser(customer);
    await known.signOut(user);
    await known.db("audit_records").update({ about_user: null });
    const days = { auditMs: 10 * DAY, inputsMs: DAY, eventsMs: DAY, deletedMs: 30 * DAY };
    const context = {
      ...control.context,
      settings: { ...control.context.settings, retention: days },
    };
    known.time += 11 * DAY;
    await pruneSignIns(context);
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
    known.time += 2 * DAY;
    await pruneSignIns(context);
    assert.deepEqual(await known.db("sessions"), []);
  });

  it("of a customer erases its people of the sandbox, and leaves those of all customers", async () => {
    const add = (customerId: string | null, name: string) =>
      control.context.units(OPERATOR, (unit) =>
        insertPerson(unit, {
          ...{ customer_id: customerId, name, email: `${name.toLowerCase()}@mail.example` },
          ...{ role: null, department: null, permissions: [], attributes: { title: name }, amr: [] },
        }),
      );
    await add(customer, "Lovelace");
    const { id } = await add(null, "Countess");
    await known.ask("DELETE", `/customers/${customer}`);
    await known.erase();
    assert.deepEqual(await rowsWith(known.db, ["Lovelace"]), []);
    assert.deepEqual(await known.db("sandbox_people").pluck("id"), [id]);
    await control.context.units(OPERATOR, (unit) => deletePerson(unit, FULL_KEY, id));
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
    const told = await known.ask("GET", `/audit/logs?resource=sandbox_person/${id}&sort=timestamp`);
    assert.deepEqual(told.map(({ action }: { action: string }) => action).sort(), [
      "sandbox_person.created",
      "sandbox_person.deleted",
    ]);
  });
});
