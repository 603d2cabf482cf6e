import assert from "node:assert/strict";
import { newId } from "../../../../src/control/platform/ids.ts";
import { FULL_KEY } from "../../../support/control.ts";
import { refusal, startManagement, type Management } from "../../support/management.ts";

describe("a customer", () => {
  let api: Management;
  before(async () => {
    api = await startManagement();
  });
  after(() => api.close());
  beforeEach(() => {
    api.forget();
  });

  it("merges members of `metadata` and `role_mapping` in a PATCH, and checks the result as a whole", async () => {
    const { id } = await api.customer({ metadata: { a: 1, b: 2 }, role_mapping: { Ops: ["manager"] } });
    const patch = (body: object, headers: Record<string, string> = {}) =>
      api.request("PATCH", `/customers/${id}`, { body, headers });
    const merge = { "content-type": "application/merge-patch+json" };
    const changed = await patch({ metadata: { a: null, c: 3 }, role_mapping: { Dev: ["viewer"] } }, merge);
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual(changed.body.data.metadata, { b: 2, c: 3 });
    assert.deepEqual(changed.body.data.role_mapping, { Ops: ["manager"], Dev: ["viewer"] });
    assert.equal(changed.body.data.name, "Acme");
    assert.deepEqual(refusal(await patch({ name: null })), [422, "VALIDATION_FAILED", "name"]);
    assert.deepEqual(refusal(await patch({ metadata: { d: {} } })), [422, "VALIDATION_FAILED", "metadata.d"]);
    assert.deepEqual(refusal(await patch({ metadata: null })), [422, "VALIDATION_FAILED", "metadata"]);
    assert.deepEqual(refusal(await patch({ role_mapping: { Ops: "x" } })), [
      422,
      "VALIDATION_FAILED",
      "role_mapping.Ops",
    ]);
    const many = Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`m${index}`, index]));
    assert.deepEqual(refusal(await patch({ metadata: many })), [422, "VALIDATION_FAILED", "metadata"]);
    assert.equal((await patch({ name: "B" }, { "if-match": `"${id}.1"` })).status, 412);
    const put = await api.request("PUT", `/customers/${id}`, { body: { name: "B" }, headers: merge });
    assert.equal(put.status, 415);
    assert.deepEqual((await api.request("GET", `/customers/${id}`)).body.data.metadata, { b: 2, c: 3 });
  });

  it("is not sent again to somebody who has it", async () => {
    const { id } = await api.customer();
    const read = (etag: string) =>
      api.request("GET", `/customers/${id}`, { headers: { "if-none-match": etag } });
    for (const held of [`"${id}.1"`, `W/"${id}.1"`, `"other", "${id}.1"`, "*"]) {
      const answer = await read(held);
      assert.deepEqual([answer.status, answer.text], [304, ""], held);
      assert.equal(answer.headers.get("etag"), `"${id}.1"`);
    }
    assert.equal((await read(`"${id}.2"`)).status, 200);
    await api.request("PUT", `/customers/${id}`, { body: { name: "New" } });
    assert.equal((await read(`"${id}.1"`)).status, 200);
    const { id: foreign } = await api.customer();
    const as = { ...FULL_KEY, customerId: foreign };
    const headers = { "if-none-match": `"${id}.2"` };
    assert.equal((await api.request("GET", `/customers/${id}`, { headers, as })).status, 404);
  });

  it("is created with policies: those for new customers, and those that are named", async () => {
    const [everyones, named] = [await api.policy({ assign_to_new_customers: true }), await api.policy()];
    const assigned = async (id: string) =>
      ((await api.request("GET", `/customers/${id}/policies`)).body.data as { id: string }[])
        .map((policy) => policy.id)
        .sort();
    try {
      api.forget();
      const both = await api.customer({ policy_ids: [named.id] });
      assert.deepEqual(await assigned(both.id), [everyones.id, named.id].sort());
      assert.deepEqual(
        api.changes.map(({ action }) => action),
        ["customer.created", "policy.assigned"],
      );
      assert.deepEqual(api.told, [{ type: "customer_changed", customer_id: both.id }]);
      assert.deepEqual(await assigned((await api.customer()).id), [everyones.id]);
      assert.deepEqual(await assigned((await api.customer({ policy_ids: [everyones.id] })).id), [
        everyones.id,
      ]);
      const before = (await api.request("GET", "/customers")).body.pagination.total_items as number;
      const unknown = await api.request("POST", "/customers", {
        body: { name: "None", policy_ids: [newId("policy")] },
      });
      assert.deepEqual(refusal(unknown), [422, "VALIDATION_FAILED", "policy_ids.0"]);
      assert.equal((await api.request("GET", "/customers")).body.pagination.total_items, before);
    } finally {
      await api.request("PATCH", `/policies/${everyones.id}`, { body: { assign_to_new_customers: false } });
    }
    assert.deepEqual(await assigned((await api.customer()).id), []);
  });
});
