import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
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

  describe("and policies of new customers", () => {
    const flag = (id: string, assign_to_new_customers: boolean) =>
      api.request("PATCH", `/policies/${id}`, { body: { assign_to_new_customers } });
    const assigned = async (id: string) =>
      ((await api.request("GET", `/customers/${id}/policies`)).body.data as { id: string }[]).map(
        (policy) => policy.id,
      );
    afterEach(async () => {
      await api.database.db("policies").update({ assign_to_new_customers: false });
    });

    it("is created without one that cannot be assigned, which is named", async () => {
      const { db } = api.database;
      const [usable, broken] = [
        await api.policy({ assign_to_new_customers: true }),
        await api.policy({ assign_to_new_customers: true }),
      ];
      await db("policies")
        .where({ id: broken.id })
        .update({ type: "authorization", conditions: JSON.stringify({ policy_set: "none" }) });
      api.forget();
      const made = await api.request("POST", "/customers", { body: { name: "Acme" } });
      assert.equal(made.status, 201, made.text);
      const { warnings } = made.body as { warnings?: { code: string; policy_id: string }[] };
      assert.deepEqual(
        warnings?.map(({ code, policy_id }) => [code, policy_id]),
        [["POLICY_NOT_ASSIGNED", broken.id]],
      );
      assert.deepEqual(await assigned(made.body.data.id as string), [usable.id]);
      const [record] = api.changes;
      assert.deepEqual(record?.after?.["policies_not_assigned"], [broken.id]);
      const chosen = await api.request("POST", "/customers", {
        body: { name: "Acme", policy_ids: [broken.id] },
      });
      assert.deepEqual(refusal(chosen), [422, "VALIDATION_FAILED", "conditions.policy_set"]);
    });

    it("gets at most 20, under requests at once too", async () => {
      const policies = await Promise.all(
        Array.from({ length: 19 }, () => api.policy({ assign_to_new_customers: true })),
      );
      const two = [await api.policy(), await api.policy()];
      const flagged = await Promise.all([
        ...two.map(({ id }) => flag(id, true)),
        api.request("POST", "/policies", {
          body: {
            ...{ name: "MFA", type: "authentication", conditions: { mfa_required: true } },
            assign_to_new_customers: true,
          },
        }),
      ]);
      const refused = flagged.filter(({ status }) => status === 422);
      assert.equal(refused.length, 2, JSON.stringify(flagged.map(({ status }) => status)));
      for (const answer of refused)
        assert.deepEqual(refusal(answer), [422, "VALIDATION_FAILED", "assign_to_new_customers"]);
      assert.equal((await flag(policies[0]!.id, true)).status, 200, "one that has the flag keeps it");
      assert.equal((await assigned((await api.customer()).id)).length, 20);
      assert.equal((await flag(policies[0]!.id, false)).status, 200);
      assert.equal((await assigned((await api.customer()).id)).length, 19);
    });

    it("is created although one is deleted or flagged at the same time", async () => {
      const { db } = api.database;
      for (let round = 0; round < 10; round += 1) {
        const [deleted, flagged, kept] = [
          await api.policy({ assign_to_new_customers: true }),
          await api.policy(),
          await api.policy({ assign_to_new_customers: true }),
        ];
        const before = await db("customers").pluck<string[]>("id");
        const [removed, set, ...made] = await Promise.all([
          api.request("DELETE", `/policies/${deleted.id}`),
          flag(flagged.id, true).then(async (answer) => ({
            answer,
            existing: await db("customers").pluck<string[]>("id"),
          })),
          ...Array.from({ length: 4 }, () => api.request("POST", "/customers", { body: { name: "Acme" } })),
        ]);
        assert.ok([200, 409].includes(removed.status), removed.text);
        assert.equal(set.answer.status, 200, set.answer.text);
        for (const { status, body, text } of made) {
          assert.equal(status, 201, text);
          const { id } = body.data as { id: string };
          assert.ok(!before.includes(id));
          const its = await assigned(id);
          assert.ok(its.includes(kept.id));
          assert.ok(its.includes(flagged.id) || set.existing.includes(id), "it exists, or gets the policy");
          assert.equal(its.includes(deleted.id) && removed.status === 200, false);
        }
        await db("policies").update({ assign_to_new_customers: false });
      }
    });

    it("is created if one is deleted just before it is locked", async () => {
      const { db } = api.database;
      const gone = await api.policy({ assign_to_new_customers: true });
      const answer = await db.transaction(async (trx) => {
        await trx("policies").where({ id: gone.id }).delete();
        const waiting = api.request("POST", "/customers", { body: { name: "Acme" } });
        await Promise.race([waiting, sleep(300)]);
        return { waiting };
      });
      const { status, body, text } = await answer.waiting;
      assert.equal(status, 201, text);
      assert.equal((body as { warnings?: unknown }).warnings, undefined);
    });
  });
});
