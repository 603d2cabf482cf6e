import assert from "node:assert/strict";
import { findIdp, openClientSecret } from "../../../../src/control/tenancy/idp.ts";
import { customerStatesOf } from "../../../../src/control/resources/policies/customer-states.ts";
import { startOpenIdProvider, type OpenIdProvider } from "../../../support/providers/openid-provider.ts";
import { refusal, startManagement, type Management } from "../../support/management.ts";

const SECRET = "the client's secret: 4711";

describe("a customer's identity provider", () => {
  let api: Management;
  let provider: OpenIdProvider;
  before(async () => {
    [api, provider] = await Promise.all([startManagement(), startOpenIdProvider()]);
  });
  after(() => Promise.all([api.close(), provider.close()]));
  beforeEach(() => {
    api.forget();
  });

  const body = (more: object = {}) => ({
    type: "oidc",
    domain: provider.issuer,
    client_id: "gatehouse",
    client_secret: SECRET,
    scopes: ["openid", "profile", "email", "groups"],
    ...more,
  });
  const configure = (id: string, more: object = {}, options: object = {}) =>
    api.request("POST", `/customers/${id}/idp`, { body: body(more), ...options });

  it("is configured, confirmed by a real provider's discovery document, and never tells its secret", async () => {
    const { id } = await api.customer();
    api.forget();
    const answer = await configure(id, { claims: { role: "app.role" } });
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.headers.get("location"), `/v1/customers/${id}/idp`);
    const { created_at, updated_at, verified_at, ...data } = answer.body.data;
    assert.deepEqual(data, {
      customer_id: id,
      type: "oidc",
      domain: provider.issuer,
      issuer: provider.issuer,
      tenant: null,
      realm: null,
      client_id: "gatehouse",
      client_secret_set: true,
      scopes: ["openid", "profile", "email", "groups"],
      claims: { role: "app.role" },
      mfa_acr_values: [],
    });
    assert.equal(created_at, updated_at);
    assert.equal(verified_at, created_at);
    const read = await api.request("GET", `/customers/${id}/idp`);
    assert.deepEqual(read.body.data, answer.body.data);
    assert.equal(read.headers.get("etag"), answer.headers.get("etag"));
    const written = JSON.stringify([answer.text, read.text, api.changes, api.events, api.told]);
    assert.ok(!written.includes("4711"));
    const row = await findIdp(api.database.db, id);
    assert.ok(row !== undefined && !JSON.stringify(row).includes("4711"));
    assert.equal(openClientSecret(api.context.box, row), SECRET);
    assert.throws(() => openClientSecret(api.context.box, { ...row, customer_id: "cus_other" }));
    assert.deepEqual(
      api.changes.map(({ action, target, customerId, before }) => [action, target.type, customerId, before]),
      [["idp.configured", "idp", id, undefined]],
    );
    assert.deepEqual(
      api.events.map(({ type, data: told }) => [type, told.detail]),
      [["customer.updated", "idp"]],
    );
  });

  it("is replaced as a whole, is deleted, and no ETag means two of them", async () => {
    const { id } = await api.customer();
    const path = `/customers/${id}/idp`;
    const first = await configure(id, { claims: { role: "r" } });
    const second = await configure(id, { client_id: "other", scopes: ["email"] });
    assert.equal(second.status, 200);
    assert.equal(second.body.data.client_id, "other");
    assert.deepEqual(second.body.data.scopes, ["openid", "email"]);
    assert.deepEqual(second.body.data.claims, {});
    assert.equal(second.body.data.created_at, first.body.data.created_at);
    assert.equal(api.changes.at(-1)?.before?.["client_id"], "gatehouse");
    const stale = { headers: { "if-match": first.headers.get("etag") } };
    assert.deepEqual(refusal(await configure(id, {}, stale)), [412, "PRECONDITION_FAILED"]);
    assert.deepEqual(refusal(await api.request("DELETE", path, stale as object)), [
      412,
      "PRECONDITION_FAILED",
    ]);
    const gone = await api.request("DELETE", path);
    assert.deepEqual(gone.body.data, { customer_id: id, deleted: true });
    assert.equal(api.changes.at(-1)?.action, "idp.deleted");
    for (const method of ["GET", "DELETE"])
      assert.deepEqual(refusal(await api.request(method, path)), [404, "IDP_NOT_CONFIGURED"]);
    // RFC 9110, section 13.1.1: where nothing is, nothing matches
    for (const match of [first.headers.get("etag"), "*"])
      assert.deepEqual(refusal(await configure(id, {}, { headers: { "if-match": match } })), [
        412,
        "PRECONDITION_FAILED",
      ]);
    const third = await configure(id);
    assert.equal(third.status, 201);
    const etags = [first, second, third].map(({ headers }) => headers.get("etag"));
    assert.equal(new Set(etags).size, 3);
  });

  it("is forgotten with its customer", async () => {
    const { id } = await api.customer();
    await configure(id);
    await api.request("DELETE", `/customers/${id}`);
    assert.equal(await findIdp(api.database.db, id), undefined);
    assert.deepEqual(refusal(await configure(id)), [404, "INVALID_CUSTOMER"]);
  });

  const invalid: readonly (readonly [more: object, ...paths: string[]])[] = [
    [{ type: "saml" }, "type"],
    [{ type: undefined }, "type"],
    [{ domain: "" }, "domain"],
    [{ domain: 7 }, "domain"],
    [{ client_id: "" }, "client_id"],
    [{ client_id: "a\nb" }, "client_id"],
    [{ client_id: "x".repeat(1001) }, "client_id"],
    [{ client_secret: undefined }, "client_secret"],
    [{ client_secret: "" }, "client_secret"],
    [{ scopes: "openid" }, "scopes"],
    [{ scopes: ["two words"] }, "scopes.0"],
    [{ scopes: ['quo"te'] }, "scopes.0"],
    [{ scopes: ["email", "email"] }, "scopes"],
    [{ scopes: Array.from({ length: 31 }, (_, n) => `s${n}`) }, "scopes"],
    [{ claims: { customer_id: "c" } }, "claims.customer_id"],
    [{ claims: { sub: "c" } }, "claims.sub"],
    [{ claims: { scope: "scp", role: "r", sid: "sid" } }, "claims.scope", "claims.sid"],
    [{ claims: { principal_type: "kind" } }, "claims.principal_type"],
    [{ claims: { status: "state" } }, "claims.status"],
    [{ claims: { "a b": "c" } }, "claims.a b"],
    [{ claims: { role: "" } }, "claims.role"],
    [{ mfa_acr_values: "urn:2fa" }, "mfa_acr_values"],
    [{ mfa_acr_values: ["urn:2fa", "urn:2fa"] }, "mfa_acr_values"],
    [{ mfa_acr_values: ["two words"] }, "mfa_acr_values.0"],
    [{ mfa_acr_values: ['quo"te'] }, "mfa_acr_values.0"],
    [{ mfa_acr_values: ["back\\slash"] }, "mfa_acr_values.0"],
    [{ mfa_acr_values: [""] }, "mfa_acr_values.0"],
    [{ mfa_acr_values: ["0"] }, "mfa_acr_values.0"],
    [{ mfa_acr_values: ["x".repeat(201)] }, "mfa_acr_values.0"],
    [{ mfa_acr_values: Array.from({ length: 21 }, (_, n) => `a${n}`) }, "mfa_acr_values"],
    [{ type: "entra", tenant: "common" }, "tenant"],
    [{ type: "keycloak", realm: "a/b" }, "realm"],
    [{ verify: "no" }, "verify"],
    [{ secret: "x" }, "secret"],
    [{ issuer: "https://elsewhere.example" }, "issuer"],
  ];
  for (const [more, ...paths] of invalid) {
    it(`refuses ${JSON.stringify(more).slice(0, 80)}`, async () => {
      const { id } = await api.customer();
      assert.deepEqual(refusal(await configure(id, more)), [422, "VALIDATION_FAILED", ...paths]);
    });
  }

  it("says of a claim that no token can have why it is refused", async () => {
    const { id } = await api.customer();
    const { body } = await configure(id, { claims: { scope: "scp" } });
    const message = "is reserved in access tokens and cannot be an attribute name";
    assert.deepEqual(body.error.details.fields, [{ path: "claims.scope", message }]);
  });

  it("is kept unconfirmed where verification is switched off", async () => {
    const { id } = await api.customer();
    const answer = await configure(id, { domain: "idp.invalid", verify: false });
    assert.equal(answer.status, 201);
    assert.deepEqual([answer.body.data.issuer, answer.body.data.verified_at], ["https://idp.invalid", null]);
    const byName = await configure(id, { type: "entra", domain: "acme.example", verify: false });
    assert.deepEqual(refusal(byName), [422, "IDP_UNREACHABLE"]);
  });

  it("says what counts as multi-factor authentication, and gateways hear of each change", async () => {
    const { id } = await api.customer();
    const policy = await api.policy();
    await api.request("POST", `/customers/${id}/policies`, { body: { policy_ids: [policy.id] } });
    const counting = async () =>
      (await customerStatesOf(api.database.db, [id])).get(id)?.authentication.mfa_acr_values;
    const told = async (more: object) => {
      api.forget();
      const answer = await configure(id, { verify: false, ...more });
      assert.ok(answer.status < 300, answer.text);
      const read = await api.request("GET", `/customers/${id}/idp`);
      return [read.body.data.mfa_acr_values, await counting(), api.told.length];
    };
    const okta = ["urn:okta:loa:2fa:any", "phr", "phrh"];
    const auth0 = ["http://schemas.openid.net/pape/policies/2007/06/multi-factor"];
    assert.deepEqual(await told({}), [[], undefined, 0]);
    assert.deepEqual(await told({ mfa_acr_values: ["urn:2fa"] }), [["urn:2fa"], ["urn:2fa"], 1]);
    assert.deepEqual(await told({ mfa_acr_values: ["urn:2fa"], client_id: "x" }), [
      ["urn:2fa"],
      ["urn:2fa"],
      0,
    ]);
    assert.deepEqual(await told({ type: "okta" }), [okta, okta, 1]);
    assert.deepEqual(await told({ type: "auth0" }), [auth0, auth0, 1]);
    assert.deepEqual(await told({ type: "okta", mfa_acr_values: [] }), [[], undefined, 1]);
    assert.deepEqual(await told({ type: "okta" }), [okta, okta, 1]);
    assert.deepEqual(api.changes.at(-1)?.after?.["mfa_acr_values"], okta);
    api.forget();
    await api.request("DELETE", `/customers/${id}/idp`);
    assert.deepEqual(api.told, [{ type: "customer_changed", customer_id: id }]);
    assert.equal(await counting(), undefined);
    // nothing counts where nothing is asked for
    await told({ type: "okta" });
    await api.request("PUT", `/policies/${policy.id}`, {
      body: { conditions: { max_session_duration: 600 } },
    });
    assert.equal(await counting(), undefined);
  });

  it("keeps nothing where it is not confirmed", async () => {
    const { id } = await api.customer();
    api.forget();
    const answer = await configure(id, { domain: "http://127.0.0.1:1" });
    assert.deepEqual(refusal(answer), [422, "IDP_UNREACHABLE"]);
    assert.equal(answer.body.error.details.reason, "unreachable");
    assert.equal(await findIdp(api.database.db, id), undefined);
    assert.deepEqual([...api.changes, ...api.events], []);
  });

  it("gives one configuration to two that are sent at once", async () => {
    const { id } = await api.customer();
    const both = await Promise.all([configure(id, { client_id: "a" }), configure(id, { client_id: "b" })]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 201]);
    const last = both.find(({ status }) => status === 200);
    const read = await api.request("GET", `/customers/${id}/idp`);
    assert.equal(read.body.data.client_id, last?.body.data.client_id);
  });
});
