import assert from "node:assert/strict";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { arrivedWith, createVisitor, RETURN_URL, startSandbox, type Sandbox } from "./support/sandbox.ts";

describe("sign-in in the sandbox", () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await startSandbox();
  });
  after(() => sandbox.close());

  const exchange = async (parameters: URLSearchParams) => {
    const answer = await sandbox.post("/auth/token", { code: parameters.get("code") });
    assert.equal(answer.status, 200, `${parameters.toString()} ${answer.text}`);
    return answer.body.data;
  };

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
    const tokens = await exchange(parameters);
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
      const { user } = await exchange(arrivedWith(await visitor.go(url, sandbox.url)));
      assert.deepEqual([user.email, user.customer_id], [email.toLowerCase(), at]);
    }
    for (const prompt of ["login", "consent"]) {
      const { authorization_url: url } = await sandbox.authorize(customer, {
        login_hint: "bob@acme.example",
        prompt,
      });
      assert.equal((await exchange(arrivedWith(await visitor.go(url, sandbox.url)))).user.name, "Bob");
    }
    const chosen = await sandbox.authorize(customer, {
      login_hint: "ada@acme.example",
      prompt: "select_account",
    });
    assert.match((await visitor.go(chosen.authorization_url, sandbox.url)).html, /Sandbox sign-in/);
  });

  it("takes people of every customer, and a policy's idea of how they prove who they are", async () => {
    const customer = await sandbox.customer();
    await sandbox.person(null, { email: "sam@platform.example", name: "Sam", amr: ["pwd", "mfa"] });
    await sandbox.person(customer);
    const policy = await sandbox.post("/policies", {
      ...{ name: "MFA", type: "authentication" },
      conditions: { mfa_required: true, max_session_duration: 3600 },
    });
    await sandbox.post(`/customers/${customer}/policies`, { policy_ids: [policy.body.data.id] });
    const arrive = async (login_hint: string) => {
      const { authorization_url: url } = await sandbox.authorize(customer, { login_hint });
      return arrivedWith(await createVisitor().go(url, sandbox.url));
    };
    assert.equal((await arrive("ada@acme.example")).get("reason"), "MFA_REQUIRED");
    assert.equal((await exchange(await arrive("sam@platform.example"))).user.name, "Sam");
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
    assert.match(shown.html, /There are 3\d more/);
    const found = await visitor.get(`${shown.url}?q=SON+129`);
    assert.equal(found.html.match(/name="login"/g)?.length, 1);
    assert.match(found.html, /p129@many\.example/);
    assert.match((await visitor.get(`${shown.url}?q=%25%25`)).html, /There is nobody of that name/);
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
      assert.equal((await exchange(arrivedWith(back))).user.email, "ada@acme.example");
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
