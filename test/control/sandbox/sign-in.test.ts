import assert from "node:assert/strict";
import { createServer, type AddressInfo } from "node:net";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { bearer, makeKey } from "../../support/guarded-control.ts";
import { arrivedWith, createVisitor, RETURN_URL, startSandbox, type Sandbox } from "../support/sandbox.ts";

describe("sign-in in the sandbox", () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await startSandbox();
  });
  after(() => sandbox.close());

  it("leads from a page of people to tokens, and out again", async () => {
    const customer = await sandbox.customer();
    const ada = await sandbox.person(customer, {
      department: "operations",
      permissions: ["orders:read"],
      attributes: { employee_id: "u-1", roles: ["a", "b"], groups: ["staff"], assigned_customers: ["c-1"] },
      amr: ["pwd", "otp"],
    });
    await sandbox.person(customer, { email: "bob@acme.example", name: "Bob", role: "viewer" });
    const visitor = createVisitor();
    const { authorization_url: url, state } = await sandbox.authorize(customer);
    const shown = await visitor.go(url, sandbox.url);
    assert.equal(shown.status, 200, shown.html);
    assert.match(shown.html, /Ada[\s\S]*ada@acme\.example · admin · operations · pwd \+ otp/);
    assert.match(shown.html, /Bob/);
    const policy = shown.headers.get("content-security-policy") ?? "";
    assert.match(
      policy,
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self' https:\/\/app\.example\.com; /,
    );
    assert.doesNotMatch(shown.html, /<script/i);

    const sent = await visitor.follow(await visitor.post(shown.url, { login: ada.email }), sandbox.url);
    const parameters = arrivedWith(sent);
    assert.equal(parameters.get("state"), state);
    const tokens = await sandbox.exchange(parameters);
    const jwks = createRemoteJWKSet(new URL(`${sandbox.url}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(tokens.access_token, jwks, {
      issuer: sandbox.url,
      audience: "gatehouse",
    });
    const {
      email,
      name,
      role,
      roles,
      department,
      permissions,
      groups,
      assigned_customers,
      employee_id,
      amr,
    } = payload;
    assert.deepEqual(
      { email, name, role, roles, department, permissions, groups, assigned_customers, employee_id, amr },
      {
        ...{ email: ada.email, name: "Ada", role: "admin", roles: ["a", "b"], department: "operations" },
        ...{ permissions: ["orders:read"], groups: ["staff"], assigned_customers: ["c-1"] },
        ...{ employee_id: "u-1", amr: ["pwd", "otp"] },
      },
    );
    assert.ok(Math.abs(Number(payload["auth_time"]) - Date.now() / 1000) < 60);

    const refreshed = await sandbox.post("/auth/refresh", { refresh_token: tokens.refresh_token });
    assert.equal(refreshed.status, 200);
    const out = await sandbox.request("DELETE", "/auth/logout", {
      body: { session_id: tokens.session.id, post_logout_return_url: RETURN_URL, state: "bye" },
    });
    assert.equal(out.body.data.ended, 1);
    // silently, for the provider's own session goes on
    const again = await sandbox.authorize(customer);
    arrivedWith(await visitor.go(again.authorization_url, sandbox.url));
    const left = await visitor.get(out.body.data.end_session_url);
    assert.equal(left.location, `${RETURN_URL}&state=bye`, left.html);
    assert.deepEqual(
      [...visitor.cookies.keys()].filter((name) => name.includes("session") && !name.endsWith(".sig")),
      [],
    );
    const asked = await sandbox.authorize(customer);
    assert.match((await visitor.go(asked.authorization_url, sandbox.url)).html, /Sandbox sign-in/);
    // once more, with nobody signed in
    assert.equal((await visitor.get(out.body.data.end_session_url)).location, `${RETURN_URL}&state=bye`);
  });

  it("needs no page with the e-mail address as a hint, whoever was signed in before", async () => {
    const customer = await sandbox.customer();
    const other = await sandbox.customer();
    await sandbox.person(customer);
    await sandbox.person(customer, { email: "bob@acme.example", name: "Bob" });
    await sandbox.person(other, { email: "carol@other.example", name: "Carol" });
    const visitor = createVisitor();
    for (const [at, email] of [
      [customer, "ada@acme.example"],
      [customer, "BOB@acme.example"],
      [other, "carol@other.example"],
      [customer, "ada@acme.example"],
    ] as const) {
      const { authorization_url: url } = await sandbox.authorize(at, { login_hint: email });
      const { user } = await sandbox.exchange(arrivedWith(await visitor.go(url, sandbox.url)));
      assert.deepEqual([user.email, user.customer_id], [email.toLowerCase(), at]);
    }
    for (const prompt of ["login", "consent"]) {
      const { authorization_url: url } = await sandbox.authorize(customer, {
        login_hint: "bob@acme.example",
        prompt,
      });
      assert.equal(
        (await sandbox.exchange(arrivedWith(await visitor.go(url, sandbox.url)))).user.name,
        "Bob",
      );
    }
    const chosen = await sandbox.authorize(customer, {
      login_hint: "ada@acme.example",
      prompt: "select_account",
    });
    assert.match((await visitor.go(chosen.authorization_url, sandbox.url)).html, /Sandbox sign-in/);
  });

  it("takes whatever provider is configured as it is given, and goes on to sign in at its own", async () => {
    const customer = await sandbox.customer();
    await sandbox.person(customer);
    const reached: string[] = [];
    const server = createServer((socket) => {
      reached.push(String(socket.remotePort));
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const path = `/customers/${customer}/idp`;
    const secret = { client_id: "app", client_secret: "a secret" };
    const signIn = async (url: string) =>
      (await sandbox.exchange(arrivedWith(await createVisitor().go(url, sandbox.url)))).user;
    const hint = { login_hint: "ada@acme.example" };
    const { port } = server.address() as AddressInfo;
    try {
      const { id: known } = await signIn((await sandbox.authorize(customer, hint)).authorization_url);
      const given: readonly (readonly [body: object, issuer: string])[] = [
        [{ type: "okta", domain: "acme.okta.example" }, "https://acme.okta.example"],
        [{ type: "oidc", domain: `127.0.0.1:${port}` }, `https://127.0.0.1:${port}`],
        [{ type: "entra", domain: "acme.example" }, "https://login.microsoftonline.com/acme.example/v2.0"],
        [{ type: "google", domain: "acme.example", verify: false }, "https://accounts.google.com"],
      ];
      for (const [index, [body, issuer]] of given.entries()) {
        const { authorization_url: underWay } = await sandbox.authorize(customer, hint);
        const answer = await sandbox.post(path, { ...secret, ...body });
        assert.equal(answer.status, index === 0 ? 201 : 200, answer.text);
        const { data, warnings } = answer.body;
        assert.deepEqual([data.issuer, data.verified_at], [issuer, null]);
        assert.deepEqual(
          warnings.map(({ code }: { code: string }) => code),
          ["NOT_USED_IN_SANDBOX"],
        );
        assert.deepEqual((await sandbox.request("GET", path)).body.data, data);
        // whoever was on the way when it changed arrives too, and everybody stays who they were
        assert.equal((await signIn(underWay)).id, known);
        const { authorization_url: url } = await sandbox.authorize(customer, hint);
        assert.ok(url.startsWith(`${sandbox.url}/idp/auth?`), url);
        assert.equal((await signIn(url)).id, known);
      }
      assert.deepEqual(reached, [], "nothing is asked of what is configured");

      for (const [more, field] of [
        [{ type: "saml" }, "type"],
        [{ type: "oidc", domain: "http://idp.example" }, "domain"],
        [{ type: "oidc", domain: "idp.example/path" }, "domain"],
        [{ type: "keycloak", domain: "idp.example" }, "realm"],
        [{ type: "oidc", domain: "idp.example", client_id: "" }, "client_id"],
      ] as const) {
        const refused = await sandbox.post(path, { ...secret, ...more });
        assert.deepEqual([refused.status, refused.body.error.details.fields[0].path], [422, field]);
      }
      const foreign = bearer((await makeKey(sandbox, { customerId: await sandbox.customer() })).secret);
      const hidden = await sandbox.request("POST", path, {
        headers: foreign,
        body: { ...secret, type: "okta", domain: "acme.okta.example" },
      });
      assert.deepEqual([hidden.status, hidden.body.error.code], [404, "INVALID_CUSTOMER"]);

      // scopes are those that are configured, as in production
      await sandbox.post(path, {
        ...secret,
        type: "oidc",
        domain: "idp.example",
        scopes: ["email", "app.read"],
      });
      const { authorization_url: scoped } = await sandbox.authorize(customer, {
        ...hint,
        scopes: ["app.read"],
      });
      assert.equal((await signIn(scoped)).email, null);
      const unknown = await sandbox.post("/auth/authorize", {
        customer_id: customer,
        return_url: RETURN_URL,
        scopes: ["groups"],
      });
      assert.deepEqual([unknown.status, unknown.body.error.details.fields[0].path], [422, "scopes.0"]);
      // nor is anybody somebody else who was added beforehand
      const people = await sandbox.request("GET", `/sandbox/people?customer_id=${customer}`);
      const subject = people.body.data.find(({ name }: { name: string }) => name === "Ada").id;
      const twice = await sandbox.post(`/customers/${customer}/users`, { subject });
      assert.deepEqual([twice.status, twice.body.error.code], [409, "DUPLICATE"]);

      assert.equal((await sandbox.request("DELETE", path)).status, 200);
      assert.equal((await sandbox.request("GET", path)).body.error.code, "IDP_NOT_CONFIGURED");
      assert.equal((await signIn((await sandbox.authorize(customer, hint)).authorization_url)).id, known);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("can be cancelled, and asks nobody where nobody may be asked", async () => {
    const customer = await sandbox.customer();
    await sandbox.person(customer);
    const visitor = createVisitor();
    const { authorization_url: url } = await sandbox.authorize(customer);
    const shown = await visitor.go(url, sandbox.url);
    const sent = await visitor.follow(await visitor.post(shown.url, { cancel: "1" }), sandbox.url);
    const parameters = arrivedWith(sent);
    assert.deepEqual(
      [parameters.get("error"), parameters.get("reason")],
      ["access_denied", "PROVIDER_REFUSED"],
    );
    const silent = await sandbox.authorize(customer, { prompt: "none", login_hint: "ada@acme.example" });
    const refused = arrivedWith(await visitor.go(silent.authorization_url, sandbox.url));
    assert.equal(refused.get("error"), "login_required");
  });

  it("shows a hundred people, and finds the others", async () => {
    const customer = await sandbox.customer();
    await sandbox.database.db("sandbox_people").insert(
      Array.from({ length: 130 }, (_, index) => ({
        id: `per_many${index}`,
        customer_id: customer,
        email: `p${index}@many.example`,
        name: `Person ${String(index).padStart(3, "0")} 50%`,
        permissions: "[]",
        attributes: "{}",
        amr: "[]",
        created_at: new Date(),
      })),
    );
    const visitor = createVisitor();
    const { authorization_url: url } = await sandbox.authorize(customer);
    const shown = await visitor.go(url, sandbox.url);
    assert.equal(shown.html.match(/name="login"/g)?.length, 100);
    assert.match(shown.html, /3\d more not shown/);
    const found = await visitor.get(`${shown.url}?q=SON+129`);
    assert.equal(found.html.match(/name="login"/g)?.length, 1);
    assert.match(found.html, /p129@many\.example/);
    assert.match((await visitor.get(`${shown.url}?q=%25%25`)).html, /No matching person found/);
    const arrived = await visitor.follow(
      await visitor.post(`${shown.url}?q=x`, { login: "p129@many.example" }),
      sandbox.url,
    );
    assert.ok(arrivedWith(arrived).has("code"));
  });

  it("goes on at another instance, and after a restart", async () => {
    const customer = await sandbox.customer();
    await sandbox.person(customer);
    const { database, masterKey, url: publicUrl } = sandbox;
    const other = await startSandbox({ database, masterKey, settings: { publicUrl } });
    const at = (url: string | null) => String(url).replace(sandbox.url, other.url);
    try {
      const visitor = createVisitor();
      const { authorization_url: url } = await sandbox.authorize(customer);
      const shown = await visitor.go(url, sandbox.url);
      const picked = await visitor.post(at(shown.url), { login: "ada@acme.example" });
      assert.equal(picked.status, 303, picked.html);
      assert.ok(picked.location?.startsWith(`${sandbox.url}/idp/auth/`), String(picked.location));
      const resumed = await visitor.get(at(picked.location));
      assert.ok(resumed.location?.startsWith(`${sandbox.url}/v1/auth/callback?`), resumed.html);
      const back = await visitor.get(at(resumed.location));
      assert.equal((await sandbox.exchange(arrivedWith(back))).user.email, "ada@acme.example");
    } finally {
      await other.close();
    }
  });

  it("works where the public address leads nowhere from here", async () => {
    const behind = await startSandbox({ settings: { publicUrl: "https://sandbox.gatehouse.example" } });
    try {
      const customer = await behind.customer();
      await behind.person(customer);
      const visitor = createVisitor();
      const here = (url: string | null) =>
        String(url).replace("https://sandbox.gatehouse.example", behind.url);
      const { authorization_url: url } = await behind.authorize(customer, { login_hint: "ada@acme.example" });
      assert.ok(url.startsWith("https://sandbox.gatehouse.example/idp/auth?"), url);
      let seen = await visitor.get(here(url));
      assert.ok(
        seen.headers.getSetCookie().every((cookie) => /; secure/i.test(cookie)),
        "secure cookies",
      );
      for (let step = 0; step < 5 && !String(seen.location).startsWith(RETURN_URL); step += 1) {
        const { origin } = new URL(String(seen.location));
        assert.ok([behind.url, "https://sandbox.gatehouse.example"].includes(origin), origin);
        seen = await visitor.get(here(seen.location));
      }
      const answer = await behind.post("/auth/token", { code: arrivedWith(seen).get("code") });
      assert.equal(answer.body.data.user.email, "ada@acme.example", answer.text);
      assert.equal(decodeJwt(answer.body.data.access_token).iss, "https://sandbox.gatehouse.example");
    } finally {
      await behind.close();
    }
  });

  it("keeps nothing in the clear that lets anybody in", async () => {
    const customer = await sandbox.customer();
    await sandbox.person(customer);
    const visitor = createVisitor();
    const { authorization_url: url } = await sandbox.authorize(customer, { login_hint: "ada@acme.example" });
    await visitor.go(url, sandbox.url);
    const stored = JSON.stringify([
      await sandbox.database.db("sandbox_provider_state"),
      await sandbox.database.db("sandbox_provider_keys"),
    ]);
    const values = [...visitor.cookies.values()].filter((value) => value.length > 15);
    assert.ok(values.length > 0);
    for (const value of values) assert.ok(!stored.includes(value), value);
    assert.doesNotMatch(stored, /"d"|accountId|ada@acme/);
  });
});
