import assert from "node:assert/strict";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { BACK, startSpecified, type Specified } from "../support/specified.ts";

describe("the authentication API, specification 2.5, 4.1 and 8", () => {
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

  it("2.5 authentication flow start: customer_id, return_url, scopes -> authorization_url, state, expires_in", async () => {
    const customer_id = await api.customer();
    const data = await api.data("POST", "/auth/authorize", {
      customer_id,
      return_url: BACK,
      scopes: ["profile", "email", "groups"],
    });
    assert.deepEqual(Object.keys(data as object).sort(), ["authorization_url", "expires_in", "state"]);
    const url = new URL(data.authorization_url as string);
    assert.equal(url.origin, api.provider.issuer);
    assert.deepEqual(url.searchParams.get("scope")?.split(" ").sort(), [
      "email",
      "groups",
      "openid",
      "profile",
    ]);
    assert.equal(typeof data.state, "string");
    assert.equal(data.expires_in, 600);
    for (const missing of ["customer_id", "return_url"]) {
      const body = { customer_id, return_url: BACK, [missing]: undefined };
      assert.equal((await api.call("POST", "/auth/authorize", body)).status, 422);
    }
  });

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

  it("8 authorization start: expires_in is 600", async () => {
    const customer_id = await api.customer();
    const body = { customer_id, return_url: "https://app.example.com/signed-in" };
    assert.equal((await api.data("POST", "/auth/authorize", body)).expires_in, 600);
  });
});
