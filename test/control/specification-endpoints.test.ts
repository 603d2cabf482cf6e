import assert from "node:assert/strict";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { startSpecified, type Specified } from "./support/specified.ts";

const POLICY = { name: "p", description: "d", type: "authentication", conditions: { mfa_required: true } };

describe("specification 4: endpoints", () => {
  let api: Specified;
  let customer: string;
  before(async () => {
    api = await startSpecified();
    customer = await api.customer();
  });
  after(() => api.close());

  const exchange = async () => {
    const parameters = await api.arrive(customer);
    return api.data("POST", "/auth/token", { code: parameters.get("code") });
  };

  describe("4.1 authentication API", () => {
    it("POST /auth/authorize: the user comes back with a code and the state", async () => {
      const parameters = await api.arrive(customer);
      assert.deepEqual([...parameters.keys()].sort(), ["code", "state"]);
    });
    it("POST /auth/token: exchanges a code for tokens, once", async () => {
      const parameters = await api.arrive(customer);
      const body = { code: parameters.get("code") };
      const tokens = await api.data("POST", "/auth/token", body);
      const keys = createRemoteJWKSet(new URL(`${api.control.url}/.well-known/jwks.json`));
      const { payload } = await jwtVerify(tokens.access_token as string, keys, {
        issuer: api.control.url,
        audience: "gatehouse",
        algorithms: ["ES256"],
      });
      assert.equal(payload["customer_id"], customer);
      assert.equal(payload["sid"], tokens.session.id);
      assert.equal(typeof tokens.refresh_token, "string");
      assert.equal(tokens.user.email, "alice@example.com");
      const again = await api.call("POST", "/auth/token", body);
      assert.deepEqual([again.status, again.body.error.code], [401, "INVALID_CODE"]);
    });
    it("POST /auth/refresh: renews access tokens", async () => {
      const { refresh_token, access_token, session } = await exchange();
      const next = await api.data("POST", "/auth/refresh", { refresh_token });
      assert.notEqual(next.access_token, access_token);
      assert.equal(next.session.id, session.id);
    });
    it("DELETE /auth/logout: ends user sessions", async () => {
      const { refresh_token, session } = await exchange();
      const { ended } = await api.data("DELETE", "/auth/logout", { session_id: session.id });
      assert.equal(ended, 1);
      assert.equal((await api.call("POST", "/auth/refresh", { refresh_token })).status, 401);
    });
  });

  describe("4.2 customer management API", () => {
    it("GET /customers: lists customers; paginated", async () => {
      const { status, body } = await api.call("GET", "/customers");
      assert.equal(status, 200);
      assert.ok(body.data.some(({ id }: { id: string }) => id === customer));
      assert.equal(body.pagination.total_items, body.data.length);
    });
    it("POST /customers: creates a customer", async () => {
      const answer = await api.call("POST", "/customers", { name: "New" });
      assert.equal(answer.status, 201);
      const { name } = await api.data("GET", `/customers/${answer.body.data.id}`);
      assert.equal(name, "New");
    });
    it("PUT /customers/{id}: updates a customer", async () => {
      const { id } = await api.data("POST", "/customers", { name: "Old" });
      const { name } = await api.data("PUT", `/customers/${id}`, { name: "Renamed" });
      assert.equal(name, "Renamed");
      assert.equal((await api.data("GET", `/customers/${id}`)).name, "Renamed");
    });
    it("POST /customers/{id}/idp: configures the IDP of a customer", async () => {
      const { issuer } = await api.data("GET", `/customers/${customer}/idp`);
      assert.equal(issuer, api.provider.issuer);
    });
  });

  describe("4.3 policy management API", () => {
    it("GET /policies: lists policies", async () => {
      const { id } = await api.data("POST", "/policies", POLICY);
      const listed = await api.data("GET", "/policies");
      assert.ok(listed.some((policy: { id: string }) => policy.id === id));
    });
    it("POST /policies: creates a policy", async () => {
      const { status, body } = await api.call("POST", "/policies", POLICY);
      assert.equal(status, 201);
      assert.equal(body.data.name, "p");
    });
    it("PUT /policies/{id}: updates a policy", async () => {
      const { id } = await api.data("POST", "/policies", POLICY);
      await api.data("PUT", `/policies/${id}`, { conditions: { max_session_duration: 600 } });
      const { conditions } = await api.data("GET", `/policies/${id}`);
      assert.deepEqual(conditions, { max_session_duration: 600 });
    });
    it("POST /customers/{id}/policies: assigns policies to a customer", async () => {
      const { id } = await api.data("POST", "/policies", POLICY);
      const other = await api.data("POST", "/customers", { name: "With a policy" });
      await api.data("POST", `/customers/${other.id}/policies`, { policy_ids: [id] });
      const assigned = await api.data("GET", `/customers/${other.id}/policies`);
      assert.deepEqual(
        assigned.map((policy: { id: string }) => policy.id),
        [id],
      );
    });
  });

  describe("4.4 analytics API", () => {
    before(() => exchange());
    it("GET /analytics/dashboard: metrics of the dashboard", async () => {
      const { sign_ins, sessions } = await api.data("GET", `/analytics/dashboard?customer_id=${customer}`);
      assert.ok(sign_ins.succeeded >= 1);
      assert.ok(sessions.active >= 1);
    });
    it("GET /analytics/events: the history of events; type, limit", async () => {
      const events = await api.data("GET", "/analytics/events?type=authentication&limit=1");
      assert.equal(events.length, 1);
      assert.match(events[0].type, /^user\./);
      const all = await api.data("GET", "/analytics/events?limit=100");
      assert.ok(all.some(({ type }: { type: string }) => type === "customer.created"));
    });
    it("GET /analytics/users: user analytics", async () => {
      const users = await api.data("GET", `/analytics/users?customer_id=${customer}`);
      assert.equal(users[0].email, "alice@example.com");
      assert.ok(users[0].sign_ins >= 1);
    });
    it("GET /audit/logs: the audit trail", async () => {
      const changes = await api.data(
        "GET",
        `/audit/logs?kind=change&customer_id=${customer}&action=customer.created`,
      );
      assert.equal(changes.length, 1);
      assert.equal(changes[0].actor.id, api.keyId);
    });
  });

  it("4.5 webhooks: POST /webhooks", async () => {
    const body = { url: "http://127.0.0.1:9/", events: ["policy.violated"], secret: "chosen-by-the-caller" };
    const { status, body: answered } = await api.call("POST", "/webhooks", body);
    assert.equal(status, 201);
    assert.equal((await api.data("GET", `/webhooks/${answered.data.id}`)).url, body.url);
  });

  describe("4.6 request conventions", () => {
    const names = async (query: string) => {
      const found = await api.data("GET", `/customers?name=sorted&${query}`);
      return (found as { name: string }[]).map(({ name }) => name);
    };
    before(async () => {
      for (const name of ["sorted a", "sorted b", "sorted c"]) {
        const { id } = await api.data("POST", "/customers", { name });
        if (name === "sorted b") await api.data("PUT", `/customers/${id}`, { status: "suspended" });
      }
    });
    it("headers: Authorization, Content-Type, Accept", async () => {
      const call = (headers: Readonly<Record<string, string>>) =>
        api.call("POST", "/customers", { name: "n" }, { ...api.key, ...headers });
      assert.equal((await call({ accept: "application/json" })).status, 201);
      assert.equal((await call({ authorization: "" })).status, 401);
      assert.equal((await call({ "content-type": "text/plain" })).status, 415);
      assert.equal((await call({ accept: "text/html" })).status, 406);
    });
    it("page and limit", async () => {
      assert.deepEqual(await names("sort=name&order=asc&limit=2&page=1"), ["sorted a", "sorted b"]);
      assert.deepEqual(await names("sort=name&order=asc&limit=2&page=2"), ["sorted c"]);
    });
    it("limit: 20 unless given, at most 100", async () => {
      assert.equal((await api.call("GET", "/customers")).body.pagination.page_size, 20);
      assert.equal((await api.call("GET", "/customers?limit=100")).status, 200);
      assert.equal((await api.call("GET", "/customers?limit=101")).status, 400);
    });
    it("status", async () => {
      assert.deepEqual(await names("status=suspended"), ["sorted b"]);
      assert.equal((await api.call("GET", "/customers?status=unheard")).status, 400);
    });
    it("sort: by created_at unless given", async () => {
      assert.deepEqual(await names("sort=created_at"), ["sorted c", "sorted b", "sorted a"]);
      assert.deepEqual(await names(""), ["sorted c", "sorted b", "sorted a"]);
      assert.equal((await api.call("GET", "/customers?sort=metadata")).status, 400);
    });
    it("order: desc unless given, and asc", async () => {
      assert.deepEqual(await names("sort=name"), ["sorted c", "sorted b", "sorted a"]);
      assert.deepEqual(await names("sort=name&order=desc"), ["sorted c", "sorted b", "sorted a"]);
      assert.deepEqual(await names("sort=name&order=asc"), ["sorted a", "sorted b", "sorted c"]);
    });
    it("N6, {id}: whatever is none is 404", async () => {
      for (const id of ["0", "cus_0", "%20", "a".repeat(128)])
        assert.equal((await api.call("GET", `/customers/${id}`)).body.error.code, "INVALID_CUSTOMER", id);
    });
  });
});
