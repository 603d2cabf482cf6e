import assert from "node:assert/strict";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import { newId } from "../../../../src/control/platform/ids.ts";
import { webhookRoutes } from "../../../../src/control/resources/webhooks/routes.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../../support/control.ts";
import { newCustomer, register, URL_OF_NOBODY } from "../../support/webhooks.ts";

const READER: Actor = { ...FULL_KEY, scope: "read_only" };

describe("webhooks: who may see and change which", () => {
  let control: RunningControl;

  beforeEach(async () => {
    control = await startControl({ routes: webhookRoutes });
  });
  afterEach(() => control.close());

  it("deletes, and cancels what waits", async () => {
    const { id } = await register(control);
    await control.request("POST", `/webhooks/${id}/test`);
    const deleted = await control.request("DELETE", `/webhooks/${id}`);
    assert.deepEqual([deleted.status, deleted.body.data], [200, { id, deleted: true }]);
    for (const [method, path] of everyPath(id)) {
      const answer = await control.request(method, path, bodyOf(method, path));
      assert.deepEqual([answer.status, answer.body.error.code], [404, "WEBHOOK_NOT_FOUND"], path);
    }
    assert.deepEqual(await control.context.db("webhook_deliveries").pluck("status"), ["cancelled"]);
  });

  it("asks for the scope", async () => {
    const { id } = await register(control);
    for (const [method, path] of everyPath(id)) {
      const answer = await control.request(method, path, { ...bodyOf(method, path), as: READER });
      if (method === "GET") assert.notEqual(answer.status, 403, path);
      else assert.deepEqual([answer.status, answer.body.error.code], [403, "INSUFFICIENT_SCOPE"], path);
      assert.equal((await control.request(method, path, { ...bodyOf(method, path), as: null })).status, 401);
    }
  });

  it("keeps a key that is limited to a customer to that customer's webhooks", async () => {
    const [mine, other] = [await newCustomer(control, "Acme"), await newCustomer(control, "Other")];
    const key: Actor = { ...FULL_KEY, customerId: mine };
    const hers = await register(control, { customer_id: other });
    const everybodys = await register(control);
    for (const { id } of [hers, everybodys])
      for (const [method, path] of everyPath(id)) {
        const answer = await control.request(method, path, { ...bodyOf(method, path), as: key });
        assert.deepEqual([answer.status, answer.body.error.code], [404, "WEBHOOK_NOT_FOUND"], path);
      }
    const own = await register(control, {}, key);
    assert.equal(own.customer_id, mine);
    const listed = await control.request("GET", `/webhooks?customer_id=${other}`, { as: key });
    assert.deepEqual(listed.body.data, []);
    const all = await control.request("GET", "/webhooks", { as: key });
    assert.deepEqual(
      all.body.data.map(({ id }: { id: string }) => id),
      [own.id],
    );
    const body = { url: URL_OF_NOBODY, events: ["*"], customer_id: other };
    const refused = await control.request("POST", "/webhooks", { body, as: key });
    assert.deepEqual([refused.status, refused.body.error.code], [422, "INVALID_CUSTOMER"]);
  });

  it("refuses customers that do not exist", async () => {
    for (const customer_id of [newId("customer"), "x", "' or 1=1 --"]) {
      const body = { url: URL_OF_NOBODY, events: ["*"], customer_id };
      const answer = await control.request("POST", "/webhooks", { body });
      assert.deepEqual([answer.status, answer.body.error.code], [422, "INVALID_CUSTOMER"]);
      assert.deepEqual(answer.body.error.details, { customer_id });
    }
  });

  it("names nothing by ids that are none", async () => {
    for (const id of ["x", "whk_x", "%00", "'%20or%201=1", newId("customer"), "x".repeat(200)]) {
      const answer = await control.request("GET", `/webhooks/${id}`);
      assert.ok([404, 400].includes(answer.status), `${id}: ${answer.status}`);
    }
    const { id } = await register(control);
    const answer = await control.request("GET", `/webhooks/${id}/deliveries/${newId("delivery")}`);
    assert.deepEqual([answer.status, answer.body.error.code], [404, "DELIVERY_NOT_FOUND"]);
  });

  it("shows a delivery to its own webhook alone", async () => {
    const [one, other] = [await register(control), await register(control)];
    const { body } = await control.request("POST", `/webhooks/${one.id}/test`);
    const delivery = body.data.id as string;
    assert.equal((await control.request("GET", `/webhooks/${one.id}/deliveries/${delivery}`)).status, 200);
    for (const [method, path] of [
      ["GET", `/webhooks/${other.id}/deliveries/${delivery}`],
      ["POST", `/webhooks/${other.id}/deliveries/${delivery}/redeliver`],
    ] as const) {
      const answer = await control.request(method, path);
      assert.deepEqual([answer.status, answer.body.error.code], [404, "DELIVERY_NOT_FOUND"]);
    }
  });
});

function everyPath(id: string): readonly (readonly [method: string, path: string])[] {
  const delivery = newId("delivery");
  return [
    ["GET", `/webhooks/${id}`],
    ["PUT", `/webhooks/${id}`],
    ["POST", `/webhooks/${id}/rotate-secret`],
    ["POST", `/webhooks/${id}/enable`],
    ["POST", `/webhooks/${id}/test`],
    ["GET", `/webhooks/${id}/deliveries`],
    ["GET", `/webhooks/${id}/deliveries/${delivery}`],
    ["POST", `/webhooks/${id}/deliveries/${delivery}/redeliver`],
    ["DELETE", `/webhooks/${id}`],
  ];
}

function bodyOf(method: string, path: string): { body?: object } {
  if (method === "PUT") return { body: { description: "changed" } };
  return path.endsWith("/rotate-secret") ? { body: {} } : {};
}
