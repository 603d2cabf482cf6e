import assert from "node:assert/strict";
import { arrivedWith, createVisitor, RETURN_URL, startSandbox, type Sandbox } from "../support/sandbox.ts";

describe("the sandbox's provider, attacked", () => {
  let sandbox: Sandbox;
  let customer: string;
  let other: string;
  before(async () => {
    sandbox = await startSandbox();
    customer = await sandbox.customer();
    other = await sandbox.customer({ name: "Other", allowed_return_urls: ["https://other.example/back"] });
    await sandbox.person(customer);
    await sandbox.person(other, { email: "mallory@other.example", name: "Mallory" });
  });
  after(() => sandbox.close());

  /** The page to pick somebody, in a browser of its own. */
  async function start(more: object = {}) {
    const visitor = createVisitor();
    const { authorization_url: url } = await sandbox.authorize(customer, more);
    return { visitor, url, shown: await visitor.go(url, sandbox.url) };
  }

  it("signs nobody of another customer in, neither by hint nor by form", async () => {
    const { visitor, shown } = await start({ login_hint: "mallory@other.example" });
    assert.equal(shown.status, 200);
    assert.match(shown.html, /nobody at Acme has the e-mail address mallory@other\.example/);
    assert.doesNotMatch(shown.html, /Mallory/);
    for (const login of ["mallory@other.example", "", "nobody", "x\u0000", "%"]) {
      const picked = await visitor.post(shown.url, { login });
      assert.equal(picked.status, 400, login);
      assert.match(picked.html, /choose a person at Acme/);
    }
    assert.equal((await visitor.post(shown.url, {})).status, 400);
  });

  it("gives no customer the code of another, whatever the browser makes of the address", async () => {
    const { url } = await start();
    const changed = new URL(url);
    changed.searchParams.set("client_id", other);
    changed.searchParams.set("login_hint", "mallory@other.example");
    const arrived = arrivedWith(await createVisitor().go(changed.href, sandbox.url));
    assert.deepEqual([arrived.get("code"), arrived.get("reason")], [null, "PROVIDER_FAILED"]);
  });

  it("does not take a session for another customer's", async () => {
    const visitor = createVisitor();
    const theirs = await sandbox.authorize(other, {
      return_url: "https://other.example/back",
      login_hint: "mallory@other.example",
    });
    assert.match(String((await visitor.go(theirs.authorization_url, sandbox.url)).location), /code=/);
    const { authorization_url: url } = await sandbox.authorize(customer);
    assert.match((await visitor.go(url, sandbox.url)).html, /Sandbox sign-in[\s\S]*Ada/);
    const silent = await sandbox.authorize(customer, { prompt: "none" });
    assert.equal(
      arrivedWith(await visitor.go(silent.authorization_url, sandbox.url)).get("error"),
      "login_required",
    );
  });

  it("knows an interaction by its path and its cookie together", async () => {
    const { visitor, shown } = await start();
    const { visitor: stranger, shown: theirs } = await start();
    for (const address of [
      theirs.url,
      `${shown.url}x`,
      shown.url.replace(/[\w-]{5}$/, "AAAAA"),
      `${sandbox.url}/idp/interaction/..%2F..`,
    ]) {
      for (const seen of [
        await visitor.get(address),
        await visitor.post(address, { login: "ada@acme.example" }),
      ]) {
        assert.equal(seen.status, 400, `${address} ${seen.html}`);
        assert.match(seen.html, /this sign-in has ended or was not started in this browser/);
      }
    }
    assert.equal((await createVisitor().post(shown.url, { login: "ada@acme.example" })).status, 400);
    for (const [name, value] of visitor.cookies)
      if (name.includes("interaction") && !name.endsWith(".sig")) stranger.cookies.set(name, value);
    // the signature is of another value
    assert.equal((await stranger.get(shown.url)).status, 400);
    assert.equal((await visitor.get(shown.url)).status, 200);
  });

  it("shows names and hints as text", async () => {
    const script = `<script>alert("1")</script>`;
    const victim = await sandbox.customer({ name: script });
    await sandbox.person(victim, {
      ...{ email: "x'y@acme.example", name: `"><img src=x onerror=alert(1)>`, role: script },
      ...{ department: `' onclick='x`, amr: ["<b>"] },
    });
    const visitor = createVisitor();
    const { authorization_url: url } = await sandbox.authorize(victim, { login_hint: `${script}@x` });
    const shown = await visitor.go(url, sandbox.url);
    const searched = await visitor.get(`${shown.url}?q=${encodeURIComponent(`">${script}`)}`);
    const picked = await visitor.post(shown.url, { login: script });
    for (const { html } of [shown, searched, picked]) {
      assert.match(html, /&lt;script&gt;/);
      assert.doesNotMatch(html, /<script|<img|<b>|onclick='/i);
    }
    const broken = await visitor.get(`${sandbox.url}/idp/auth?client_id=${encodeURIComponent(script)}`);
    assert.equal(broken.status, 400);
    assert.doesNotMatch(broken.html, /<script/i);
    assert.match(broken.headers.get("content-security-policy") ?? "", /^default-src 'none'/);
  });

  it("sends a browser that signs out nowhere but to the customer's own addresses", async () => {
    const { url } = await start();
    const visitor = createVisitor();
    const hinted = new URL(url);
    hinted.searchParams.set("login_hint", "ada@acme.example");
    const answer = await sandbox.post("/auth/token", {
      code: arrivedWith(await visitor.go(hinted.href, sandbox.url)).get("code"),
    });
    const out = await sandbox.request("DELETE", "/auth/logout", {
      body: { session_id: answer.body.data.session.id, post_logout_return_url: RETURN_URL },
    });
    const ended = new URL(out.body.data.end_session_url);
    assert.equal(ended.origin + ended.pathname, `${sandbox.url}/idp/session/end`);
    for (const evil of [
      "https://evil.example/",
      "https://other.example/back",
      `${RETURN_URL}&x=1`,
      "javascript:alert(1)",
    ]) {
      ended.searchParams.set("post_logout_redirect_uri", evil);
      const seen = await visitor.get(ended.href);
      assert.deepEqual([seen.status, seen.location], [400, null], evil);
    }
    // without proof that the application wants it, the person is asked, and goes nowhere
    const bare = await visitor.get(
      `${sandbox.url}/idp/session/end?post_logout_redirect_uri=https://evil.example/`,
    );
    assert.deepEqual([bare.status, bare.location], [200, null]);
    assert.match(bare.html, /Do you want to sign out/);
    assert.doesNotMatch(bare.html, /<script|evil/i);
    ended.searchParams.delete("post_logout_redirect_uri");
    ended.searchParams.set("id_token_hint", `${ended.searchParams.get("id_token_hint") ?? ""}x`);
    assert.equal((await visitor.get(ended.href)).status, 400);
  });

  it("believes no header that says where it is", async () => {
    const { url } = await start();
    const answer = await fetch(url, {
      redirect: "manual",
      headers: { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" },
    });
    assert.doesNotMatch([...answer.headers].join("\n"), /evil/);
    const discovery = await fetch(`${sandbox.url}/idp/.well-known/openid-configuration`, {
      headers: { "x-forwarded-host": "evil.example" },
    });
    const text = await discovery.text();
    assert.doesNotMatch(text, /evil/);
    assert.equal(JSON.parse(text).token_endpoint, `${sandbox.url}/idp/token`);
  });

  it("is a provider for Gatehouse alone", async () => {
    for (const [path, body] of [
      ["/idp/reg", {}],
      ["/idp/token", { grant_type: "client_credentials" }],
      ["/idp/token", { grant_type: "authorization_code", code: "x", client_id: customer }],
    ] as const) {
      const answer = await fetch(`${sandbox.url}${path}`, {
        method: "POST",
        body: new URLSearchParams(body),
      });
      assert.ok([400, 401, 404].includes(answer.status), `${path} ${answer.status}`);
    }
    const { url } = await start();
    const without = new URL(url);
    for (const name of ["code_challenge", "code_challenge_method"]) without.searchParams.delete(name);
    assert.equal(arrivedWith(await createVisitor().go(without.href, sandbox.url)).get("code"), null);
    const elsewhere = new URL(url);
    elsewhere.searchParams.set("redirect_uri", "https://evil.example/");
    const seen = await createVisitor().get(elsewhere.href);
    assert.deepEqual([seen.status, seen.location], [400, null]);
  });
});
