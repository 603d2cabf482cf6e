import assert from "node:assert/strict";
import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import { customerRoutes } from "../../../../src/control/resources/customers/routes.ts";
import { newId } from "../../../../src/control/platform/ids.ts";
import { insertDeliveries } from "../../../../src/control/resources/webhooks/enqueue.ts";
import { webhookRoutes } from "../../../../src/control/resources/webhooks/routes.ts";
import { sweep } from "../../../../src/control/resources/webhooks/sweep.ts";
import { migrate } from "../../../../src/storage/index.ts";
import { MIGRATIONS } from "../../../../src/storage/migration-files.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../../support/control.ts";
import { emptyDatabase, temporaryDirectory } from "../../../support/database.ts";
import { emit, logOf, newCustomer, register, signIn, URL_OF_NOBODY } from "../../support/webhooks.ts";

describe("webhooks: of customers that come to an end", () => {
  let control: RunningControl;

  before(async () => {
    control = await startControl({
      routes: (context) => [...webhookRoutes(context), ...customerRoutes(context)],
    });
  });
  after(() => control.close());

  const remove = async (customer: string) => {
    const answer = await control.request("DELETE", `/customers/${customer}`);
    assert.equal(answer.status, 200, answer.text);
  };
  const read = async (id: string) => (await control.request("GET", `/webhooks/${id}`)).body.data;
  const typesOf = async (id: string) => (await logOf(control, id)).map(({ event_type: type }) => type);

  it("are disabled with a customer that is deleted, and what waits is cancelled, with the reason", async () => {
    const [gone, other] = [await newCustomer(control, "Gone"), await newCustomer(control, "Other")];
    const mine = [
      await register(control, { customer_id: gone }),
      await register(control, { customer_id: gone, enabled: false }),
    ];
    const [own, off] = mine.map(({ id }) => id) as [string, string];
    const [others, all] = [await register(control, { customer_id: other }), await register(control)];
    await emit(control, signIn(gone), signIn(other));
    await remove(gone);

    const { enabled, disabled_reason, disabled_at } = await read(own);
    assert.deepEqual([enabled, disabled_reason], [false, "customer_deleted"]);
    assert.ok(disabled_at !== null);
    // of what was disabled before the reason stays
    assert.equal((await read(off)).disabled_reason, "requested");
    assert.deepEqual([(await read(others.id)).enabled, (await read(all.id)).enabled], [true, true]);
    assert.deepEqual(
      (await logOf(control, own)).map(({ event_type: type, status, cancelled_reason: reason }) => [
        ...[type, status, reason],
      ]),
      [["user.authenticated", "cancelled", "customer_deleted"]],
    );
    // those without a customer hear of the deletion, and of what comes late
    await emit(control, signIn(gone));
    assert.deepEqual(await typesOf(own), ["user.authenticated"]);
    assert.deepEqual(await typesOf(others.id), ["user.authenticated"]);
    const ofAll = (await typesOf(all.id)).slice(-2);
    assert.deepEqual(ofAll, ["customer.updated", "user.authenticated"]);
    const records = await control.context.db("audit_records").where({ resource: `webhook/${own}` });
    assert.equal(records.filter(({ action }: { action: string }) => action === "webhook.disabled").length, 1);
  });

  it("stay disabled, can be looked at and deleted, and are not registered any more", async () => {
    const gone = await newCustomer(control, "Gone for good");
    const { id } = await register(control, { customer_id: gone });
    await remove(gone);
    const path = `/webhooks/${id}`;
    for (const [method, suffix, body] of [
      ["POST", "/enable", undefined],
      ["PUT", "", { enabled: true }],
      ["POST", "/test", undefined],
    ] as const) {
      const answer = await control.request(method, path + suffix, { body });
      assert.deepEqual([answer.status, answer.body.error.code], [409, "CONFLICT"], suffix);
    }
    assert.equal((await control.request("PUT", path, { body: { description: "kept" } })).status, 200);
    assert.equal((await read(id)).enabled, false);
    const key: Actor = { ...FULL_KEY, customerId: gone };
    for (const as of [FULL_KEY, key]) {
      const body = { url: URL_OF_NOBODY, events: ["*"], customer_id: gone };
      const answer = await control.request("POST", "/webhooks", { body, as });
      assert.deepEqual([answer.status, answer.body.error.code], [422, "INVALID_CUSTOMER"]);
    }
    const foreign: Actor = { ...FULL_KEY, customerId: await newCustomer(control, "Foreign") };
    assert.equal((await control.request("POST", `${path}/enable`, { as: foreign })).status, 404);
    assert.equal((await control.request("DELETE", path)).status, 200);
  });

  it("are never left enabled by a registration or a switch at the same moment", async () => {
    const { db } = control.context;
    for (let round = 0; round < 5; round += 1) {
      const gone = await newCustomer(control, `Race ${round}`);
      const { id } = await register(control, { customer_id: gone, enabled: false });
      const body = { url: URL_OF_NOBODY, events: ["*"], customer_id: gone };
      const answers = await Promise.all([
        control.request("POST", "/webhooks", { body }),
        control.request("POST", `/webhooks/${id}/enable`),
        control.request("DELETE", `/customers/${gone}`),
        control.request("PUT", `/webhooks/${id}`, { body: { enabled: true } }),
        control.request("POST", "/webhooks", { body }),
      ]);
      assert.ok(answers.every(({ status }) => [200, 201, 409, 422].includes(status)));
      assert.equal(answers[2].status, 200);
      assert.deepEqual(await db("webhooks").where({ customer_id: gone, enabled: true }).select("id"), []);
    }
  });

  it("get nothing of a transaction that saw them enabled", async () => {
    const gone = await newCustomer(control, "Late");
    const { id } = await register(control, { customer_id: gone });
    await remove(gone);
    const { db, clock } = control.context;
    const late = { id: newId("delivery"), webhook_id: id, event_id: newId("event"), payload: "{}" };
    const about = {
      event_type: "user.authenticated",
      created_at: new Date(),
      retried: true,
      priority: 1,
    } as const;
    await insertDeliveries(db, [{ ...late, ...about }]);
    await sweep({ db, clock });
    const [one] = await logOf(control, id);
    assert.deepEqual([one?.status, one?.cancelled_reason], ["cancelled", "customer_deleted"]);
  });

  for (const status of ["suspended", "archived"] as const)
    it(`are told of a customer that is ${status}`, async () => {
      const customer = await newCustomer(control, status);
      const { id } = await register(control, { customer_id: customer });
      await control.request("PUT", `/customers/${customer}`, { body: { status } });
      assert.equal((await read(id)).enabled, true);
      assert.deepEqual(await typesOf(id), [
        "customer.updated",
        ...(status === "suspended" ? ["customer.suspended"] : []),
      ]);
      assert.equal((await control.request("POST", `/webhooks/${id}/enable`)).status, 200);
    });

  it("are disabled by the migration where the customer was deleted before", async () => {
    const database = await emptyDatabase();
    try {
      const { db } = database;
      const folder = await temporaryDirectory();
      for (const name of await readdir(MIGRATIONS))
        if (name < "0107") await cp(join(MIGRATIONS, name), join(folder, name));
      await migrate(db, { folder });
      const now = new Date("2026-01-01T00:00:00Z");
      const times = { created_at: now, updated_at: now };
      const customer = {
        name: "c",
        name_key: "c",
        status: "active",
        allowed_return_urls: [],
        metadata: "{}",
      };
      await db("customers").insert([
        { ...customer, ...times, id: "cus_gone", deleted_at: now },
        { ...customer, ...times, id: "cus_here" },
      ]);
      const webhook = { url: URL_OF_NOBODY, events: ["*"], enabled: true, secret: "s", ...times };
      const rows = { whk_gone: "cus_gone", whk_here: "cus_here", whk_all: null };
      for (const [id, customer_id] of Object.entries(rows)) {
        await db("webhooks").insert({ ...webhook, id, customer_id });
        await db("webhook_deliveries").insert({
          ...{
            id: `dlv_${id}`,
            webhook_id: id,
            event_id: "evt_1",
            event_type: "policy.violated",
            payload: "{}",
          },
          ...{ retried: true, status: "pending", next_attempt_at: now, created_at: now },
        });
      }
      await migrate(db);
      const found = await db("webhooks").orderBy("id").select("id", "enabled", "disabled_reason", "revision");
      const untouched = { enabled: true, disabled_reason: null, revision: 1 };
      assert.deepEqual(found, [
        { id: "whk_all", ...untouched },
        { id: "whk_gone", enabled: false, disabled_reason: "customer_deleted", revision: 2 },
        { id: "whk_here", ...untouched },
      ]);
      const deliveries = await db("webhook_deliveries")
        .orderBy("webhook_id")
        .select("status", "cancelled_reason", "priority");
      assert.deepEqual(deliveries, [
        { status: "pending", cancelled_reason: null, priority: 2 },
        { status: "cancelled", cancelled_reason: "customer_deleted", priority: 2 },
        { status: "pending", cancelled_reason: null, priority: 2 },
      ]);
    } finally {
      await database.close();
    }
  });
});
