import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { UnsecuredJWT, decodeJwt, type JWTPayload } from "jose";
import { refusedByProvider } from "../../../src/control/sign-in/failure.ts";
import {
  startHostileProvider,
  type HostileProvider,
  type Misbehaviour,
} from "../../support/providers/hostile-provider.ts";
import { startIdentityProvider, type IdentityProvider } from "../../support/providers/identity-provider.ts";
import { createBrowser } from "../../support/sign-in.ts";
import { RETURN_URL, SIGN_IN_KEY, startSignInBench, told, type SignInBench } from "../support/sign-in.ts";

describe("sign-in with a provider that does wrong", () => {
  let bench: SignInBench;
  let hostile: HostileProvider;
  before(async () => {
    bench = await startSignInBench();
    hostile = await startHostileProvider();
  });
  after(async () => {
    await hostile.close();
    await bench.close();
  });
  beforeEach(() => {
    hostile.behave({});
    hostile.received.length = 0;
    bench.forget();
  });

  /** What the application is told, as [error, reason]; asserts that nobody was signed in. */
  async function refusalOf(customer: string, login?: string): Promise<(string | null)[]> {
    const arrived = await bench.arrive(customer, login === undefined ? {} : { login });
    assert.equal(arrived.get("code"), null);
    assert.ok(arrived.get("state") !== null);
    assert.ok(!bench.events.some(({ type }) => type === "user.authenticated"));
    const list = await bench.request("GET", `/sessions?customer_id=${customer}`);
    assert.equal(list.body.pagination.total_items, 0);
    return [arrived.get("error"), arrived.get("reason")];
  }

  const failed = ["server_error", "PROVIDER_FAILED"];

  it("signs in when it does none", async () => {
    const customer = await bench.customer(hostile);
    const { access_token: token } = await bench.signIn(customer);
    assert.equal(decodeJwt(token)["customer_id"], customer);
  });

  const hour = 3_600;
  const wrongs: readonly (readonly [what: string, wrong: Misbehaviour])[] = [
    ["an ID token of another issuer", { claims: (claims) => ({ ...claims, iss: "https://idp.example" }) }],
    ["an ID token for another client", { claims: (claims) => ({ ...claims, aud: "another" }) }],
    [
      "an ID token for several clients, authorized for another",
      { claims: (claims) => ({ ...claims, aud: ["gatehouse", "another"], azp: "another" }) },
    ],
    ["an ID token with another nonce", { claims: (claims) => ({ ...claims, nonce: "another" }) }],
    ["an ID token without a nonce", { claims: (claims) => without(claims, "nonce") }],
    ["an ID token that has expired", { claims: (claims) => ({ ...claims, exp: claims.iat! - hour }) }],
    ["an ID token without an end", { claims: (claims) => without(claims, "exp") }],
    ["an ID token that is not valid yet", { claims: (claims) => ({ ...claims, nbf: claims.iat! + hour }) }],
    ["an ID token without a subject", { claims: (claims) => without(claims, "sub") }],
    ["an ID token with an endless subject", { claims: (claims) => ({ ...claims, sub: "x".repeat(256) }) }],
    ["an ID token with a subject of two lines", { claims: (claims) => ({ ...claims, sub: "a\nb" }) }],
    ["an ID token that is not signed", { idToken: (token) => new UnsecuredJWT(decodeJwt(token)).encode() }],
    [
      "an ID token with another payload than was signed",
      {
        idToken: (token) => {
          const [head = "", , signature = ""] = token.split(".");
          const payload = { ...decodeJwt(token), role: "admin" };
          return `${head}.${Buffer.from(JSON.stringify(payload)).toString("base64url")}.${signature}`;
        },
      },
    ],
    ["an ID token signed by a key that it does not publish", { foreignKey: true }],
    ["an ID token that is none", { idToken: () => "a.b.c" }],
    ["UserInfo of another subject", { userInfo: () => ({ sub: "admin", role: "admin" }) }],
    ["UserInfo that is no object", { userInfo: () => ["admin"] }],
    [
      "an answer of another issuer (RFC 9207)",
      { answer: (parameters) => withIss(parameters, "https://idp.example") },
    ],
    [
      "an answer without the issuer that it promises (RFC 9207)",
      {
        answer(parameters) {
          parameters.delete("iss");
          return parameters;
        },
      },
    ],
    [
      "an answer without a code",
      {
        answer(parameters) {
          parameters.delete("code");
          return parameters;
        },
      },
    ],
    ["a token answer that is garbage", { token: (response) => void response.end("<html>") }],
    [
      "a token answer of megabytes",
      {
        token(response) {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify({ access_token: "x".repeat(2_000_000), token_type: "Bearer" }));
        },
      },
    ],
    [
      "a token answer without an ID token",
      {
        token(response) {
          response.writeHead(200, { "content-type": "application/json" });
          response.end('{"access_token":"x","token_type":"Bearer"}');
        },
      },
    ],
    ["an error at the token endpoint", { token: (response) => void response.writeHead(500).end() }],
    ["a connection that it cuts", { token: (response) => void response.destroy() }],
    [
      "a token endpoint that sends elsewhere",
      { token: (response) => void response.writeHead(307, { location: `${hostile.issuer}/token` }).end() },
    ],
  ];
  for (const [what, wrong] of wrongs)
    it(`does not with ${what}`, async () => {
      const customer = await bench.customer(hostile);
      bench.forget();
      hostile.behave(wrong);
      assert.deepEqual(await refusalOf(customer), failed);
      assert.deepEqual(
        bench.events.map(({ type, data }) => [type, data.reason]),
        [["user.authentication_failed", "PROVIDER_FAILED"]],
      );
    });

  it("does not with an authentication that is older than was asked for, or of no time that is one", async () => {
    const customer = await bench.customer(hostile);
    const old = Math.floor(Date.now() / 1000) - hour;
    for (const authTime of [old, 0, "now", null, -1]) {
      hostile.behave({ claims: (claims) => ({ ...claims, auth_time: authTime }) });
      const arrived = await bench.arrive(customer, { more: { max_age: 300 } });
      assert.deepEqual([arrived.get("error"), arrived.get("reason")], failed, String(authTime));
    }
    // silent: it does not say that it never tells the time, so not even the sign-in itself is one
    hostile.behave({ claims: (claims) => without(claims, "auth_time") });
    for (const prompt of ["none", "login"]) {
      const quiet = await bench.arrive(customer, { more: { max_age: 300, prompt } });
      assert.deepEqual([quiet.get("error"), quiet.get("reason")], failed, prompt);
    }
  });

  it("gives up on one that does not answer, and the browser hears of it", async () => {
    const customer = await bench.customer(hostile);
    hostile.behave({ token: () => undefined });
    assert.deepEqual(await refusalOf(customer), failed);
  });

  it("does not with claims that PostgreSQL cannot hold, that are objects, or that are endless: these stay out", async () => {
    hostile.behave({
      claims: (claims) => ({
        ...claims,
        name: "a\u0000b",
        email: "x@evil\r\nbcc: all@acme.example",
        role: "x".repeat(2_000),
        roles: Array.from({ length: 500 }, (_, at) => `r${at}`),
        department: { toString: "sales" },
        groups: ["staff", "\ud800"],
        permissions: ["read"],
      }),
    });
    const { access_token: token } = await bench.signIn(await bench.customer(hostile));
    const { name, email, role, roles, department, groups, permissions } = decodeJwt(token);
    assert.deepEqual([name, email, role, roles, department, groups], Array(6).fill(undefined));
    assert.deepEqual(permissions, ["read"]);
  });

  const authorize = async (provider: Pick<HostileProvider, "issuer" | "clientId" | "clientSecret">) => {
    const customer = await bench.customer(provider, { verify: false });
    const body = { customer_id: customer, return_url: RETURN_URL };
    return () => bench.request("POST", "/auth/authorize", { as: SIGN_IN_KEY, body });
  };

  const metadata: readonly (readonly [what: string, discovery: NonNullable<Misbehaviour["discovery"]>])[] = [
    ["are empty", () => ({})],
    ["name another issuer", (honest) => ({ ...honest, issuer: "https://idp.example" })],
    ["name the issuer with a slash", (honest) => ({ ...honest, issuer: `${String(honest["issuer"])}/` })],
    ["send browsers to a script", (honest) => ({ ...honest, authorization_endpoint: "javascript:alert(1)" })],
    ["send browsers nowhere", (honest) => ({ ...honest, authorization_endpoint: "not a URL" })],
  ];
  for (const [what, discovery] of metadata)
    it(`answers 502 to authorize when its metadata ${what}`, async () => {
      const provider = await startHostileProvider();
      try {
        provider.behave({ discovery });
        const refused = await (await authorize(provider))();
        assert.deepEqual(told(refused), [502, "IDP_FAILED"]);
      } finally {
        await provider.close();
      }
    });

  it("is asked for its metadata again after it has failed", async () => {
    const provider = await startHostileProvider();
    try {
      provider.behave({ discovery: () => ({}) });
      const ask = await authorize(provider);
      assert.deepEqual(told(await ask()), [502, "IDP_FAILED"]);
      provider.behave({});
      assert.equal((await ask()).status, 200);
    } finally {
      await provider.close();
    }
  });

  it("believes the ID token more than UserInfo, and how somebody proved who they are by it alone", async () => {
    const authTime = Math.floor(Date.now() / 1000) - 100;
    hostile.behave({
      claims: (claims) => ({ ...without(claims, "auth_time"), role: "clerk", email: "a@acme.example" }),
      userInfo: (claims) => ({
        ...claims,
        role: "admin",
        department: "sales",
        email: "b@acme.example",
        amr: ["mfa"],
        acr: "high",
        auth_time: authTime,
      }),
    });
    const { access_token: token } = await bench.signIn(await bench.customer(hostile));
    const { role, department, email, amr, acr, auth_time: time } = decodeJwt(token);
    assert.deepEqual([role, department, email], ["clerk", "sales", "a@acme.example"]);
    assert.deepEqual([amr, acr, time], [[], undefined, undefined]);
  });

  it("answers 502 to authorize when nobody is there", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await new Promise((resolve) => server.close(resolve));
    const refused = await (await authorize({ issuer, clientId: "x", clientSecret: "y" }))();
    assert.deepEqual(told(refused), [502, "IDP_FAILED"]);
    assert.doesNotMatch(refused.text, /127\.0\.0\.1|ECONNREFUSED/);
  });
});

describe("sign-in with two providers", () => {
  let bench: SignInBench;
  let hostile: HostileProvider;
  let other: IdentityProvider;
  before(async () => {
    bench = await startSignInBench();
    hostile = await startHostileProvider();
    other = await startIdentityProvider({ redirectUri: `${bench.url}/v1/auth/callback` });
  });
  after(async () => {
    await other.close();
    await hostile.close();
    await bench.close();
  });

  const callback = (parameters: URLSearchParams) =>
    bench.request("GET", `/auth/callback?${parameters.toString()}`, { as: null });

  /** Walks up to the callback, and not into it. */
  async function answerOf(customer: string): Promise<URLSearchParams> {
    const { authorization_url: url } = await bench.authorize(customer);
    const arrived = await createBrowser().walk(url, { until: `${bench.url}/v1/auth/callback` });
    assert.equal(arrived.kind, "sent");
    return arrived.url.searchParams;
  }

  it("brings no code of the one to the other (mix-up; RFC 9700, section 4.4)", async () => {
    const honest = await answerOf(await bench.customer());
    assert.equal(honest.get("iss"), bench.provider.issuer);
    // the flow was begun at the hostile provider, which has sent the browser on to the honest one
    const { state } = await bench.authorize(await bench.customer(hostile));
    honest.set("state", state);
    const answer = await callback(honest);
    assert.equal(answer.status, 303);
    assert.match(answer.headers.get("location") ?? "", /error=server_error.*reason=PROVIDER_FAILED/);
    assert.deepEqual(hostile.received, []);
  });

  it("takes no code of one flow in another, of the same provider or not (PKCE, nonce)", async () => {
    const customer = await bench.customer();
    const first = await answerOf(customer);
    const second = await answerOf(customer);
    second.set("code", first.get("code") ?? "");
    const answer = await callback(second);
    assert.match(answer.headers.get("location") ?? "", /reason=PROVIDER_FAILED/);
    const foreign = await answerOf(await bench.customer(other));
    foreign.set("code", first.get("code") ?? "");
    assert.match((await callback(foreign)).headers.get("location") ?? "", /reason=PROVIDER_FAILED/);
  });

  it("ends a flow whose provider was configured anew meanwhile", async () => {
    const customer = await bench.customer();
    const answer = await answerOf(customer);
    const put = await bench.request("POST", `/customers/${customer}/idp`, {
      body: {
        type: "oidc",
        domain: other.issuer,
        client_id: other.clientId,
        client_secret: other.clientSecret,
        scopes: ["openid"],
      },
    });
    assert.equal(put.status, 200, put.text);
    assert.match((await callback(answer)).headers.get("location") ?? "", /reason=PROVIDER_CHANGED/);
    // and the new one works
    const { session } = await bench.signIn(customer, { more: { scopes: [] } });
    assert.ok(session.id);
  });

  it("passes on what the provider refuses, and nothing that breaks a header", async () => {
    const customer = await bench.customer();
    bench.forget();
    const arrived = await bench.arrive(customer, { login: "nobody" });
    assert.deepEqual([...arrived.keys()], ["tenant", "error", "error_description", "reason", "state"]);
    assert.deepEqual([arrived.get("error"), arrived.get("reason")], ["access_denied", "PROVIDER_REFUSED"]);
    const [event] = bench.events;
    assert.equal(event?.type, "user.authentication_failed");
    assert.equal(event.data.detail, "access_denied: nobody?of that name");
  });

  it("keeps no address by which a provider names whom it refuses", () => {
    const says =
      "AADSTS50105: The user 'ada.lovelace@mail.example', or <x/y%40mail.example>, is not assigned";
    const { detail } = refusedByProvider("access_denied", says);
    assert.equal(detail, "access_denied: AADSTS50105: The user *** or <x/*** is not assigned");
  });

  it("passes on no code of an error that it does not know", async () => {
    const { state } = await bench.authorize(await bench.customer());
    const answer = await callback(
      new URLSearchParams({
        state,
        iss: bench.provider.issuer,
        error: "x\r\nset-cookie: a=b",
        error_description: "\r\nlocation: https://evil.example",
      }),
    );
    assert.equal(answer.status, 303);
    const location = new URL(answer.headers.get("location") ?? "");
    assert.equal(location.searchParams.get("error"), "server_error");
    assert.equal(location.origin, "https://app.example.com");
    assert.equal(answer.headers.get("set-cookie"), null);
    assert.doesNotMatch(location.href, /evil|cookie/);
  });

  it("asks a provider without a session silently, and hears that somebody must log in", async () => {
    const arrived = await bench.arrive(await bench.customer(), { more: { prompt: "none" } });
    assert.deepEqual([arrived.get("error"), arrived.get("reason")], ["login_required", "PROVIDER_REFUSED"]);
  });

  it("notes one line of a user agent, and what a trusted proxy says of the address", async () => {
    const customer = await bench.customer();
    const { session } = await bench.signIn(customer, {
      headers: { "user-agent": `x${"y".repeat(900)}`, "x-forwarded-for": "203.0.113.7" },
    });
    assert.equal(String(session["user_agent"]).length, 500);
    // nobody is trusted here
    assert.equal(session["ip_address"], "127.0.0.1");
  });
});

function withIss(parameters: URLSearchParams, iss: string): URLSearchParams {
  parameters.set("iss", iss);
  return parameters;
}

function without(claims: JWTPayload, name: string): JWTPayload {
  return Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name));
}
