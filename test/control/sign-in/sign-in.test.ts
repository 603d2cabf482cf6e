import assert from "node:assert/strict";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { hashSecret } from "../../../src/control/platform/secret-box.ts";
import { createBrowser, USER_AGENT } from "../../support/sign-in.ts";
import { RETURN_URL, SIGN_IN_KEY, startSignInBench, told, type SignInBench } from "../support/sign-in.ts";

const NOBODY = "cus_00000000000000000000000000";

describe("sign-in", () => {
  let bench: SignInBench;
  let skip = 0;
  before(async () => {
    bench = await startSignInBench({ clock: () => Date.now() + skip });
  });
  after(() => bench.close());
  beforeEach(() => {
    skip = 0;
    bench.forget();
    bench.provider.users.set("alice", {
      claims: {
        name: "Alice",
        email: "alice@acme.example",
        email_verified: true,
        role: "manager",
        department: "sales",
        permissions: ["read", "write"],
        groups: ["staff"],
      },
      amr: ["pwd", "otp"],
      acr: "urn:acr:2",
    });
  });

  it("starts with an address at the provider, a state, and ten minutes", async () => {
    const customer = await bench.customer();
    const started = await bench.authorize(customer, {
      scopes: ["email"],
      login_hint: "a b@c",
      prompt: "login",
    });
    assert.equal(started.expires_in, 600);
    assert.match(started.state, /^[\w-]{43}$/);
    const url = new URL(started.authorization_url);
    assert.equal(url.origin, bench.provider.issuer);
    const { nonce, code_challenge: challenge, ...rest } = Object.fromEntries(url.searchParams);
    assert.match(nonce ?? "", /^[\w-]{43}$/);
    assert.match(challenge ?? "", /^[\w-]{43}$/);
    assert.deepEqual(rest, {
      client_id: "gatehouse",
      response_type: "code",
      redirect_uri: `${bench.url}/v1/auth/callback`,
      scope: "openid email",
      state: started.state,
      code_challenge_method: "S256",
      login_hint: "a b@c",
      prompt: "login",
    });
  });

  it("ends with tokens that verify by the published keys and say who it is", async () => {
    const customer = await bench.customer();
    const tokens = await bench.signIn(customer);
    const jwks = createRemoteJWKSet(new URL(`${bench.url}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(tokens.access_token, jwks, {
      issuer: bench.url,
      audience: "gatehouse",
      typ: "at+jwt",
      algorithms: ["ES256"],
    });
    const { iat, exp, jti, auth_time: authTime, ...claims } = payload;
    assert.equal(exp! - iat!, 900);
    assert.ok(typeof jti === "string" && jti.length >= 20);
    // the provider was not asked how old the authentication is
    assert.equal(authTime, undefined);
    assert.deepEqual(claims, {
      iss: bench.url,
      aud: "gatehouse",
      sub: tokens.user.id,
      sid: tokens.session.id,
      client_id: SIGN_IN_KEY.id,
      customer_id: customer,
      principal_type: "user",
      scope: "openid profile email groups",
      amr: ["pwd", "otp"],
      acr: "urn:acr:2",
      name: "Alice",
      email: "alice@acme.example",
      role: "manager",
      department: "sales",
      permissions: ["read", "write"],
      groups: ["staff"],
    });
    assert.deepEqual(tokens.user, {
      id: tokens.user.id,
      customer_id: customer,
      name: "Alice",
      email: "alice@acme.example",
      role: "manager",
      department: "sales",
      permissions: ["read", "write"],
      groups: ["staff"],
    });
    const { created_at: createdAt, expires_at: expiresAt, ...session } = tokens.session;
    assert.equal(Date.parse(String(expiresAt)) - Date.parse(String(createdAt)), 43_200_000);
    assert.deepEqual(session, {
      id: tokens.session.id,
      customer_id: customer,
      user_id: tokens.user.id,
      auth_time: null,
      amr: ["pwd", "otp"],
      acr: "urn:acr:2",
      ip_address: "127.0.0.1",
      user_agent: USER_AGENT,
    });
    assert.equal(tokens.scope, "openid profile email groups");
  });

  it("announces the sign-in once, as the specification has it", async () => {
    const customer = await bench.customer();
    bench.forget();
    const { user, session } = await bench.signIn(customer);
    const events = bench.events.map(({ type, customerId, userId, data }) => ({
      type,
      customerId,
      userId,
      data,
    }));
    assert.deepEqual(events, [
      {
        type: "user.authenticated",
        customerId: customer,
        userId: user.id,
        data: {
          user: { id: user.id, email: "alice@acme.example", customer_id: customer },
          session: { id: session.id, ip_address: "127.0.0.1", user_agent: USER_AGENT },
        },
      },
    ]);
  });

  it("comes back to the return URL, whose own query stays, with code and state alone", async () => {
    const customer = await bench.customer();
    const { authorization_url: url, state } = await bench.authorize(customer);
    const arrived = await createBrowser().walk(url, { until: "https://app.example.com/" });
    assert.equal(arrived.kind, "sent");
    assert.ok(arrived.url.href.startsWith(`${RETURN_URL}&code=`));
    assert.deepEqual([...arrived.url.searchParams.keys()], ["tenant", "code", "state"]);
    assert.equal(arrived.url.searchParams.get("state"), state);
  });

  it("keeps no state, verifier, nonce, code, refresh token or ID token in the clear", async () => {
    const customer = await bench.customer();
    const started = await bench.authorize(customer);
    const arrived = await createBrowser().walk(started.authorization_url, {
      until: "https://app.example.com/",
    });
    assert.equal(arrived.kind, "sent");
    const { body } = await bench.exchange(arrived.url.searchParams);
    const nonce = new URL(started.authorization_url).searchParams.get("nonce");
    const rows: string[] = [];
    for (const table of ["sign_in_flows", "sign_in_codes", "sessions", "refresh_tokens", "signing_keys"])
      rows.push(...(await bench.database.db(table).select()).map((row) => JSON.stringify(row)));
    const stored = rows.join("\n");
    const secrets = [started.state, nonce, arrived.url.searchParams.get("code"), body.data.refresh_token];
    for (const secret of secrets) {
      assert.ok(typeof secret === "string" && secret.length > 40);
      assert.ok(!stored.includes(secret));
    }
    assert.ok(stored.includes(hashSecret(started.state)));
    // header and claims of a token are JSON objects (RFC 7519, section 3); random text in base64url may look like one of them
    const token = /eyJ[\w-]+\.eyJ[\w-]+\./;
    assert.match(JSON.stringify(body.data), token);
    assert.ok(!stored.includes('"d":') && !token.test(stored));
  });

  it("finds the user again, and takes over what the provider says now", async () => {
    const customer = await bench.customer();
    const first = await bench.signIn(customer);
    bench.provider.users.set("alice", { claims: { name: "Alice", role: "clerk" } });
    const second = await bench.signIn(customer);
    assert.equal(second.user.id, first.user.id);
    assert.notEqual(second.session.id, first.session.id);
    const { role, department, email } = decodeJwt(second.access_token);
    assert.deepEqual([role, department, email], ["clerk", undefined, undefined]);
    // the same subject of another customer is somebody else
    const third = await bench.signIn(await bench.customer());
    assert.notEqual(third.user.id, first.user.id);
  });

  it("signs one user in twice at once", async () => {
    const customer = await bench.customer();
    const both = await Promise.all([bench.signIn(customer), bench.signIn(customer), bench.signIn(customer)]);
    assert.equal(new Set(both.map(({ user }) => user.id)).size, 1);
    assert.equal(new Set(both.map(({ session }) => session.id)).size, 3);
  });

  it("lets what administrators set win over what the provider says", async () => {
    const customer = await bench.customer();
    const { user } = await bench.signIn(customer);
    const put = await bench.request("PUT", `/users/${user.id}`, {
      body: { attributes: { role: "auditor" } },
    });
    assert.equal(put.status, 200, put.text);
    const { access_token: token } = await bench.signIn(customer);
    assert.equal(decodeJwt(token)["role"], "auditor");
  });

  it("maps claims as configured: names with dots, paths, and what is unverified stays out", async () => {
    bench.provider.users.set("alice", {
      claims: {
        email: "ceo@acme.example",
        email_verified: false,
        realm_access: { roles: ["admin"] },
        "https://example.com/level": 3,
      },
    });
    const customer = await bench.customer(bench.provider, {
      claims: { roles: "realm_access.roles", level: "https://example.com/level" },
    });
    const { access_token: token, user } = await bench.signIn(customer);
    const { roles, level, email } = decodeJwt(token);
    assert.deepEqual([roles, level, email], [["admin"], 3, undefined]);
    assert.equal(user["email"], null);
  });

  describe("does not start", () => {
    let customer: string;
    before(async () => {
      customer = await bench.customer();
    });
    const authorize = (body: object, as: Actor = SIGN_IN_KEY) =>
      bench.request("POST", "/auth/authorize", {
        as,
        body: { customer_id: customer, return_url: RETURN_URL, ...body },
      });

    const nearly: readonly (readonly [what: string, url: string])[] = [
      ["a longer path", `${RETURN_URL}x`],
      ["its beginning", "https://app.example.com/signed-in"],
      ["another query", "https://app.example.com/signed-in?tenant=2"],
      ["a slash more", "https://app.example.com/signed-in/?tenant=1"],
      ["upper case in the path", "https://app.example.com/Signed-In?tenant=1"],
      ["upper case in the host", "https://APP.example.com/signed-in?tenant=1"],
      ["a default port", "https://app.example.com:443/signed-in?tenant=1"],
      ["a user name", "https://app.example.com@evil.example/signed-in?tenant=1"],
      ["a host that begins alike", "https://app.example.com.evil.example/signed-in?tenant=1"],
      ["a backslash", "https://app.example.com\\@evil.example/signed-in?tenant=1"],
      ["encoded letters", "https://app.example.com/signed%2Din?tenant=1"],
      ["dot segments", "https://app.example.com/x/../signed-in?tenant=1"],
      ["a fragment", `${RETURN_URL}#x`],
      ["another scheme", "http://app.example.com/signed-in?tenant=1"],
      ["no scheme", "//app.example.com/signed-in?tenant=1"],
      ["a script", "javascript:alert(1)//https://app.example.com/signed-in?tenant=1"],
      ["a space before", ` ${RETURN_URL}`],
      ["a line break", `${RETURN_URL}\r\nset-cookie: a=b`],
      ["a letter that looks alike", "https://аpp.example.com/signed-in?tenant=1"],
    ];
    for (const [what, url] of nearly)
      it(`with a return URL that is only nearly allowed: ${what}`, async () => {
        assert.deepEqual(told(await authorize({ return_url: url })), [422, "RETURN_URL_NOT_ALLOWED"]);
      });

    it("for a customer that does not exist, or that the key must not see", async () => {
      assert.deepEqual(told(await authorize({ customer_id: NOBODY })), [422, "INVALID_CUSTOMER"]);
      const foreign = { ...SIGN_IN_KEY, customerId: NOBODY };
      const refused = await authorize({}, foreign);
      assert.deepEqual(told(refused), [422, "INVALID_CUSTOMER"]);
      assert.deepEqual(refused.body.error.details, { customer_id: customer });
      assert.equal((await authorize({}, { ...SIGN_IN_KEY, customerId: customer })).status, 200);
    });

    it("for a customer without an identity provider, or one that is suspended", async () => {
      const made = await bench.request("POST", "/customers", {
        body: { name: "x", allowed_return_urls: [RETURN_URL] },
      });
      const { id } = made.body.data;
      assert.deepEqual(told(await authorize({ customer_id: id })), [422, "IDP_NOT_CONFIGURED"]);
      await bench.request("PUT", `/customers/${id}`, { body: { status: "suspended" } });
      assert.deepEqual(told(await authorize({ customer_id: id })), [403, "CUSTOMER_SUSPENDED"]);
    });

    it("with a scope that the customer has not configured", async () => {
      const refused = await authorize({ scopes: ["openid", "email", "offline_access"] });
      assert.deepEqual(told(refused), [422, "VALIDATION_FAILED"]);
      assert.deepEqual(
        refused.body.error.details.fields.map(({ path }: { path: string }) => path),
        ["scopes.2"],
      );
    });

    for (const [path, value] of [
      ["prompt", "create"],
      ["max_age", -1],
      ["max_age", "10"],
      ["login_hint", "a\r\nb"],
      ["scopes", "email"],
      ["return_url", ""],
      ["state", "chosen-by-the-client"],
    ] as const)
      it(`with ${path} ${JSON.stringify(value)}`, async () => {
        const refused = await authorize({ [path]: value });
        assert.deepEqual(told(refused), [422, "VALIDATION_FAILED"]);
        assert.equal(refused.body.error.details.fields[0].path, path);
      });

    it("for a key that may not sign users in, or for nobody", async () => {
      assert.deepEqual(told(await authorize({}, { ...SIGN_IN_KEY, scope: "configuration" })), [
        403,
        "INSUFFICIENT_SCOPE",
      ]);
      assert.deepEqual(told(await bench.request("POST", "/auth/authorize", { as: null, body: {} })), [
        401,
        "UNAUTHORIZED",
      ]);
    });
  });

  it("signs tokens with a key of its own kind", async () => {
    const { access_token: token } = await bench.signIn(await bench.customer());
    const header = decodeProtectedHeader(token);
    assert.equal(header.alg, "ES256");
    assert.equal(header.typ, "at+jwt");
    assert.match(header.kid ?? "", /^[\w-]{43}$/);
  });
});
