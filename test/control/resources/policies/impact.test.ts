import assert from "node:assert/strict";
import { newId } from "../../../../src/control/platform/ids.ts";
import { MOST_SESSIONS } from "../../../../src/control/resources/policies/impact.ts";
import { keyOf, refusal, startManagement, type Management } from "../../support/management.ts";

const NOW = Date.parse("2026-03-01T12:00:00.000Z");

describe("what a policy would do to open sessions", () => {
  let api: Management;
  let customer: { id: string };
  before(async () => {
    api = await startManagement({ clock: () => NOW });
  });
  after(() => api.close());
  beforeEach(async () => {
    customer = await api.customer();
  });

  const user = async (email: string | null) => {
    const [id, at] = [newId("user"), new Date(NOW)];
    await api.database.db("users").insert({
      ...{ id, customer_id: customer.id, issuer: "https://idp.example", subject: id, email, name: "U" },
      ...{ status: "active", profile: "{}", attributes: "{}", created_at: at, updated_at: at },
      ...{ last_sign_in_at: at, revision: 1 },
    });
    return id;
  };
  const session = async (userId: string, fields: object = {}) => {
    const at = new Date(NOW - 60_000);
    const row = {
      ...{
        id: newId("session"),
        customer_id: customer.id,
        user_id: userId,
        client_id: "key_1",
        scope: "openid",
      },
      ...{ amr: "[]", acr: null, auth_time: at, ip_address: "192.0.2.7", user_agent: "test" },
      ...{
        created_at: at,
        last_used_at: at,
        expires_at: new Date(NOW + 1e6),
        alive_until: new Date(NOW + 1e6),
      },
      ...fields,
    };
    await api.database.db("sessions").insert(row);
    return row.id;
  };
  const impact = async (conditions: object, fields: object = {}) => {
    const { id } = await api.policy({ conditions, ...fields });
    return (await api.request("GET", `/customers/${customer.id}/policies/${id}/impact`)).body.data;
  };

  it("counts the open sessions that each requirement refuses, and changes nothing", async () => {
    const ann = await user("ann@acme.example");
    await session(ann, { amr: '["pwd","otp"]' });
    const refused = await session(ann, { amr: '["pwd"]' });
    await session(await user("bob@acme.example"), { amr: '["mfa"]', ip_address: "198.51.100.9" });
    await session(ann, { ended_at: new Date(NOW), end_reason: "signed_out" });
    await session(ann, { alive_until: new Date(NOW - 1) });
    api.forget();
    const { examples, ...counts } = await impact({ mfa_required: true });
    assert.deepEqual(counts, {
      sessions: 3,
      complete: true,
      refused: 1,
      users: 1,
      requirements: [{ requirement: "MFA_REQUIRED", sessions: 1 }],
    });
    assert.deepEqual(examples, [
      { session_id: refused, user_id: ann, email: "ann@acme.example", requirement: "MFA_REQUIRED" },
    ]);
    assert.equal((await impact({ allowed_ip_ranges: ["192.0.2.0/24"] })).refused, 1);
    assert.equal((await impact({ allowed_email_domains: ["acme.example"] })).refused, 0);
    assert.equal((await impact({ max_session_duration: 60 })).refused, 0);
    const both = await impact({ allowed_email_domains: ["other.example"], mfa_required: true });
    assert.deepEqual([both.refused, both.users], [3, 2]);
    const assigned = await api.request("GET", `/customers/${customer.id}/policies`);
    assert.equal(assigned.body.pagination.total_items, 0);
  });

  it("takes an inactive policy as if it were active, and unknown facts as refused", async () => {
    await session(await user(null), { auth_time: null });
    assert.equal((await impact({ max_session_duration: 3600 }, { status: "inactive" })).refused, 1);
    assert.equal((await impact({ allowed_email_domains: ["acme.example"] })).refused, 1);
  });

  it("counts what the provider's classes prove as multi-factor authentication", async () => {
    await session(await user("a@b.example"), { acr: "phr" });
    assert.equal((await impact({ mfa_required: true })).refused, 1);
    const at = new Date(NOW);
    await api.database.db("customer_idps").insert({
      ...{ customer_id: customer.id, type: "okta", issuer: "https://acme.okta.com", domain: "acme.okta.com" },
      ...{ client_id: "c", client_secret: "sealed", scopes: [], claims: {}, revision: 1 },
      ...{ created_at: at, updated_at: at },
    });
    assert.equal((await impact({ mfa_required: true })).refused, 0);
  });

  it("does not guess what a policy set would deny", async () => {
    await api.database
      .db("policy_sets")
      .insert({ name: "strict", activated: ["v1"], created_at: new Date(NOW), updated_at: new Date(NOW) });
    await session(await user("a@b.example"));
    const { refused, sessions } = await impact({ policy_set: "strict" }, { type: "authorization" });
    assert.deepEqual([refused, sessions], [null, 1]);
  });

  it("examines the newest of many sessions, and says so", async () => {
    const someone = await user("a@b.example");
    await api.database.db.raw(
      `insert into sessions (id, customer_id, user_id, client_id, scope, amr, ip_address, user_agent,
                             created_at, last_used_at, expires_at, alive_until)
       select 'ses_' || lpad(n::text, 26, '0'), ?, ?, 'key_1', 'openid', '[]', '192.0.2.7', 'test',
              to_timestamp(?::bigint - n), now(), now(), '2100-01-01' from generate_series(1, ?) as n`,
      [customer.id, someone, NOW / 1000, MOST_SESSIONS + 1],
    );
    const { sessions, complete, refused, users } = await impact({ mfa_required: true });
    assert.deepEqual([sessions, complete, refused, users], [MOST_SESSIONS, false, MOST_SESSIONS, 1]);
  });

  it("is not for keys that are limited to a customer, and needs a policy and a customer", async () => {
    const { id } = await api.policy();
    const path = `/customers/${customer.id}/policies/${id}/impact`;
    const limited = await api.request("GET", path, { as: keyOf(customer.id) });
    assert.equal(limited.status, 403);
    const other = `/customers/${customer.id}/policies/pol_00000000000000000000000000/impact`;
    assert.deepEqual(refusal(await api.request("GET", other)), [404, "POLICY_NOT_FOUND"]);
    const none = await api.request("GET", `/customers/cus_00000000000000000000000000/policies/${id}/impact`);
    assert.equal(none.body.error.code, "INVALID_CUSTOMER");
  });
});
