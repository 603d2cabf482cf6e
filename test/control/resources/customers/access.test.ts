import assert from "node:assert/strict";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import { customerRoutes } from "../../../../src/control/resources/customers/routes.ts";
import { userRoutes } from "../../../../src/control/resources/users/routes.ts";
import { policyRoutes } from "../../../../src/control/resources/policies/routes.ts";
import { FULL_KEY, type Answered } from "../../../support/control.ts";
import { keyOf, refusal, startManagement, type Management } from "../../support/management.ts";

/** Status and code. */
const told = ({ status, body }: Answered): unknown[] => [status, body.error?.code];

const NOBODY = "cus_00000000000000000000000000";

describe("who may do what to customers", () => {
  let api: Management;
  before(async () => {
    api = await startManagement({
      routes: (context) => [...customerRoutes(context), ...policyRoutes(context), ...userRoutes(context)],
    });
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

  it("leaves a customer's status to keys that are not limited to it", async () => {
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

  describe("keys that are limited to a customer", () => {
    let own: string;
    let key: Actor;

    before(async () => {
      await create({ name: "Other", external_id: "crm-2" });
      own = await create({ name: "Own", external_id: "crm-1" });
      key = { ...FULL_KEY, id: "key_limited", scope: "configuration", customerId: own };
    });

    async function create(body: object): Promise<string> {
      const answer = await api.request("POST", "/customers", { body });
      assert.equal(answer.status, 201, answer.text);
      return (answer.body as { data: { id: string } }).data.id;
    }

    it("do not learn which external ids other customers have, and take none away from them", async () => {
      for (const external_id of ["crm-2", "crm-3", null]) {
        const answer = await api.request("PUT", `/customers/${own}`, { as: key, body: { external_id } });
        assert.deepEqual(told(answer), [403, "CUSTOMER_KEY_NOT_ALLOWED"], String(external_id));
      }
      // what it is already is no change
      const same = await api.request("PUT", `/customers/${own}`, {
        as: key,
        body: { external_id: "crm-1", name: "Own one" },
      });
      assert.equal(same.status, 200, same.text);
    });

    describe("and the identity provider", () => {
      const configure = (claims: object, as: Actor = key, domain = "login.example.com") =>
        api.request("POST", `/customers/${own}/idp`, {
          as,
          body: {
            type: "oidc",
            domain,
            client_id: "gatehouse",
            client_secret: "secret",
            claims,
            verify: false,
          },
        });

      it("map the usual attributes", async () => {
        const answer = await configure({ role: "app.role", groups: "teams", email: "mail" });
        assert.equal(answer.status, 201, answer.text);
      });

      it("map no attribute that may be of other customers, whoever mapped it before", async () => {
        const claims = { assigned_customers: "anything" };
        assert.deepEqual(told(await configure(claims)), [403, "CUSTOMER_KEY_NOT_ALLOWED"]);
        assert.equal((await configure(claims, FULL_KEY)).status, 200);
        assert.deepEqual(told(await configure(claims)), [403, "CUSTOMER_KEY_NOT_ALLOWED"]);
      });

      it("do not say what counts as multi-factor authentication", async () => {
        const id = await create({ name: "Strict" });
        const as: Actor = { ...FULL_KEY, id: "key_strict", scope: "configuration", customerId: id };
        const post = async (more: object, by: Actor = as) => {
          const body = {
            type: "oidc",
            domain: "login.example.com",
            client_id: "c",
            client_secret: "s",
            verify: false,
          };
          return told(
            await api.request("POST", `/customers/${id}/idp`, { as: by, body: { ...body, ...more } }),
          );
        };
        const remove = async () => told(await api.request("DELETE", `/customers/${id}/idp`, { as }));
        const counting = async () =>
          (await api.request("GET", `/customers/${id}/idp`)).body.data.mfa_acr_values as string[];
        const forbidden = [403, "CUSTOMER_KEY_NOT_ALLOWED"];
        const okta = ["urn:okta:loa:2fa:any", "phr", "phrh"];
        // of a provider that is new: what is documented, said or not
        assert.deepEqual(await post({ mfa_acr_values: ["urn:password"] }), forbidden);
        assert.deepEqual(await post({ type: "okta", mfa_acr_values: [...okta, "urn:password"] }), forbidden);
        assert.deepEqual(await post({ type: "okta", mfa_acr_values: okta }), [201, undefined]);
        // of one that is there: neither more nor less, in no other order, by no other type
        for (const more of [
          { type: "okta", mfa_acr_values: [...okta, "urn:password"] },
          { type: "okta", mfa_acr_values: [] },
          { type: "okta", mfa_acr_values: okta.toReversed() },
          { type: "auth0" },
          { mfa_acr_values: ["urn:password"] },
        ])
          assert.deepEqual(await post(more), forbidden, JSON.stringify(more));
        assert.deepEqual(await post({ type: "okta", client_id: "next" }), [200, undefined]);
        assert.deepEqual(await counting(), okta);
        // what those who run the platform have said stays, whatever else is configured, and is not forgotten in between
        assert.deepEqual(await post({ type: "okta", mfa_acr_values: ["phr"] }, FULL_KEY), [200, undefined]);
        assert.deepEqual(await post({ type: "okta" }), forbidden);
        assert.deepEqual(await post({ mfa_acr_values: ["phr"], client_id: "own" }), [200, undefined]);
        assert.deepEqual(await counting(), ["phr"]);
        // nor does deleting it make a first configuration of the next one
        for (const last of [{ mfa_acr_values: ["phr"] }, {}, { type: "okta" }]) {
          assert.deepEqual((await post(last, FULL_KEY))[1], undefined);
          const values = await counting();
          assert.deepEqual(await remove(), [200, undefined]);
          for (const type of ["oidc", "okta", "auth0"])
            assert.deepEqual(await post({ type, mfa_acr_values: [...values, "urn:password"] }), forbidden);
          if (values.length === 0) assert.deepEqual(await post({ type: "okta" }), forbidden);
          if (values.length !== 0) assert.deepEqual(await post({}), forbidden);
          assert.deepEqual(await post({ mfa_acr_values: values }), [201, undefined]);
        }
        // one that was deleted before this was kept
        assert.deepEqual(await remove(), [200, undefined]);
        await api.database.db("customers").where({ id }).update({ last_mfa_acr_values: null });
        assert.deepEqual(await post({ type: "okta" }), forbidden);
        assert.deepEqual(await post({}), [201, undefined]);
      });

      it("hand no attributes that were set beforehand to whom a provider of their own names", async () => {
        const added = await api.request("POST", `/customers/${own}/users`, {
          body: { subject: "boss", attributes: { assigned_customers: ["cus_all"] } },
        });
        assert.equal(added.status, 201, added.text);
        assert.deepEqual(told(await configure({}, key, "evil.example.com")), [
          403,
          "CUSTOMER_KEY_NOT_ALLOWED",
        ]);
        // the same provider, with another secret say
        assert.equal((await configure({})).status, 200);
        await api.request("DELETE", `/customers/${own}/idp`, { as: key });
        assert.deepEqual(told(await configure({}, key, "evil.example.com")), [
          403,
          "CUSTOMER_KEY_NOT_ALLOWED",
        ]);
        assert.equal((await configure({}, FULL_KEY, "new.example.com")).status, 201);
      });
    });
  });
});
