import assert from "node:assert/strict";
import { FULL_KEY } from "../../../support/control.ts";
import { keyOf, refusal, startManagement, type Management } from "../../support/management.ts";

const NOBODY = "cus_00000000000000000000000000";

describe("who may do what to customers", () => {
  let api: Management;
  before(async () => {
    api = await startManagement();
  });
  after(() => api.close());

  const put = (id: string, body: object, options: object = {}) =>
    api.request("PUT", `/customers/${id}`, { body, ...options });

  it("asks for a key, and for the scope that each route needs", async () => {
    const { id } = await api.customer();
    const reader = { ...FULL_KEY, scope: "read_only" as const };
    const signer = { ...FULL_KEY, scope: "authentication" as const };
    const body = { name: "x" };
    for (const [method, path, sent] of [
      ["GET", "/customers", false],
      ["POST", "/customers", true],
      ["GET", `/customers/${id}`, false],
      ["PUT", `/customers/${id}`, true],
      ["DELETE", `/customers/${id}`, false],
      ["GET", `/customers/${id}/idp`, false],
      ["POST", `/customers/${id}/idp`, true],
      ["DELETE", `/customers/${id}/idp`, false],
    ] as const) {
      const options = sent ? { body } : {};
      assert.deepEqual(refusal(await api.request(method, path, { ...options, as: null })), [
        401,
        "UNAUTHORIZED",
      ]);
      const refused = await api.request(method, path, { ...options, as: signer });
      assert.deepEqual(refusal(refused), [403, "INSUFFICIENT_SCOPE"]);
      if (method === "GET") continue;
      const asReader = await api.request(method, path, { ...options, as: reader });
      assert.deepEqual(refusal(asReader), [403, "INSUFFICIENT_SCOPE"]);
      assert.deepEqual(asReader.body.error.details.required_scope, ["configuration", "full_access"]);
    }
  });

  it("shows a key of one customer that customer, and 404 for all others, in every route", async () => {
    const [own, foreign] = [await api.customer({ name: "Own" }), await api.customer({ name: "Foreign" })];
    const as = keyOf(own.id);
    const list = await api.request("GET", "/customers?limit=100", { as });
    assert.deepEqual(
      list.body.data.map((each: { id: string }) => each.id),
      [own.id],
    );
    assert.equal(list.body.pagination.total_items, 1);
    assert.equal(
      (await api.request("GET", `/customers?name=foreign`, { as })).body.pagination.total_items,
      0,
    );
    assert.equal((await api.request("GET", `/customers/${own.id}`, { as })).status, 200);
    assert.equal((await put(own.id, { name: "Mine", status: "active" }, { as })).status, 200);
    const idp = { type: "oidc", domain: "idp.example", client_id: "c", client_secret: "s", verify: false };
    for (const [method, path, body] of [
      ["GET", ""],
      ["PUT", "", { name: "x" }],
      ["DELETE", ""],
      ["GET", "/idp"],
      ["POST", "/idp", idp],
      ["DELETE", "/idp"],
      ["GET", "/policies"],
      ["POST", "/policies", { policy_ids: ["pol_00000000000000000000000000"] }],
      ["DELETE", "/policies/pol_00000000000000000000000000"],
    ] as const) {
      for (const id of [foreign.id, NOBODY]) {
        const answer = await api.request(method, `/customers/${id}${path}`, { as, ...(body && { body }) });
        assert.deepEqual(refusal(answer), [404, "INVALID_CUSTOMER"], `${method} ${path}`);
        assert.deepEqual(answer.body.error.details, { customer_id: id });
      }
    }
  });

  it("leaves a customer's standing to keys that are not limited to it", async () => {
    const { id } = await api.customer({ status: "suspended" });
    const as = keyOf(id);
    const forbidden = [403, "CUSTOMER_KEY_NOT_ALLOWED"];
    assert.deepEqual(refusal(await put(id, { status: "active" }, { as })), forbidden);
    assert.deepEqual(refusal(await api.request("DELETE", `/customers/${id}`, { as })), forbidden);
    assert.deepEqual(
      refusal(await api.request("POST", "/customers", { as, body: { name: "x" } })),
      forbidden,
    );
    assert.equal((await api.request("GET", `/customers/${id}`, { as })).body.data.status, "suspended");
  });
});
