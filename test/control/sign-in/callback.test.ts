import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import { startHostileProvider } from "../../support/providers/hostile-provider.ts";
import { createBrowser } from "../../support/sign-in.ts";
import { startSignInBench, told, type SignInBench } from "../support/sign-in.ts";

describe("a browser that nobody has sent to the callback of sign-in", () => {
  let bench: SignInBench;
  let skip = 0;
  before(async () => {
    bench = await startSignInBench({ clock: () => Date.now() + skip });
  });
  after(() => bench.close());
  beforeEach(() => {
    skip = 0;
  });

  const callback = (query: string, headers: Record<string, string> = {}) =>
    bench.request("GET", `/auth/callback?${query}`, { as: null, headers });

  const html = { accept: "text/html" };

  it("is told so on a page that repeats nothing of the request", async () => {
    const answer = await callback("state=%3Cscript%3E&code=x&return_url=https://evil.example", html);
    assert.equal(answer.status, 400);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/html/);
    assert.equal(answer.headers.get("location"), null);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.doesNotMatch(answer.text, /script|evil/);
  });

  it("is told so by the usual error where it is a program", async () => {
    assert.deepEqual(told(await callback("state=unknown&code=x")), [400, "INVALID_STATE"]);
    assert.deepEqual(told(await callback("code=x")), [400, "INVALID_STATE"]);
    assert.deepEqual(told(await callback("")), [400, "INVALID_STATE"]);
    assert.deepEqual(told(await callback(`state=${"x".repeat(5_000)}`)), [400, "INVALID_STATE"]);
    assert.deepEqual(told(await callback("state=a&state=b")), [400, "INVALID_PARAMETER"]);
    assert.deepEqual(told(await callback("state=%00")), [400, "INVALID_PARAMETER"]);
  });

  it("brings signed UserInfo without numbers that are not exact, and only where the signature is good", async () => {
    const provider = await startHostileProvider();
    try {
      const discovery = (honest: object) => ({ ...honest, userinfo_signing_alg_values_supported: ["RS256"] });
      // the library makes 9007199254740991 of it, which may be another account's number
      const said = '{"sub":"mallory","name":"A","department":9007199254740990.6,"role":"r"}';
      const claims = async (payload: string) => {
        provider.behave({ discovery, signedUserInfo: { payload } });
        const { access_token: token } = await bench.signIn(await bench.customer(provider));
        const { name, role, department } = decodeJwt(token);
        return [name, role, department];
      };
      assert.deepEqual(await claims(said), ["A", "r", undefined]);
      const exact = '{"sub":"mallory","department":9007199254740990,"role":1e2}';
      assert.deepEqual(await claims(exact), [undefined, 100, 9007199254740990]);
      provider.behave({ discovery, signedUserInfo: { payload: exact, foreignKey: true } });
      const customer = await bench.customer(provider, { verify: false });
      assert.deepEqual((await bench.arrive(customer)).get("reason"), "PROVIDER_FAILED");
    } finally {
      await provider.close();
    }
  });

  it("brings no time of authentication from the future: no policy of age and no `max_age` accepts it", async () => {
    const provider = await startHostileProvider();
    try {
      const [free, strict] = [await bench.customer(provider), await bench.customer(provider)];
      await bench.policy(strict, { max_session_duration: 600 });
      const seconds = Math.floor(Date.now() / 1000);
      // a clock that is ahead, one that cannot be right, milliseconds
      for (const [auth_time, isKnown] of [
        [seconds + 250, true],
        [seconds + 400, false],
        [seconds * 1000, false],
      ] as const) {
        provider.behave({ claims: (claims) => ({ ...claims, auth_time }) });
        assert.equal((await bench.arrive(strict)).get("reason"), isKnown ? null : "SESSION_TOO_OLD");
        const asked = await bench.arrive(free, { more: { max_age: 300 } });
        assert.equal(asked.get("reason"), isKnown ? null : "PROVIDER_FAILED");
      }
      assert.equal((await bench.signIn(free)).session["auth_time"], null);
    } finally {
      await provider.close();
    }
  });

  it("may not come twice with one state", async () => {
    const customer = await bench.customer();
    const { authorization_url: url, state } = await bench.authorize(customer);
    const arrived = await createBrowser().walk(url, { until: "https://app.example.com/" });
    const again = arrived.visited.at(-1) ?? "";
    assert.match(again, /\/v1\/auth\/callback\?.*state=/);
    assert.deepEqual(told(await callback(new URL(again).search.slice(1))), [400, "INVALID_STATE"]);
    assert.deepEqual(told(await callback(`state=${state}&error=access_denied`)), [400, "INVALID_STATE"]);
    assert.equal(await sessionsOf(customer), 1);
  });

  it("may not come with a state that was changed by a letter, in other case, or with more", async () => {
    const customer = await bench.customer();
    const { state } = await bench.authorize(customer);
    const other = state.startsWith("A") ? "B" : "A";
    for (const tampered of [
      `${other}${state.slice(1)}`,
      `${state} `,
      `${state}%27`,
      state.slice(0, -1),
      ` ${state}`,
    ])
      assert.deepEqual(told(await callback(`state=${tampered}&code=x`)), [400, "INVALID_STATE"]);
  });

  it("may not come after ten minutes", async () => {
    const customer = await bench.customer();
    const { state } = await bench.authorize(customer);
    skip = 600_000;
    assert.deepEqual(told(await callback(`state=${state}&code=x`)), [400, "INVALID_STATE"]);
  });

  it("is sent nowhere when the return URL is no longer the customer's", async () => {
    const customer = await bench.customer();
    const { authorization_url: url } = await bench.authorize(customer);
    await bench.request("PUT", `/customers/${customer}`, {
      body: { allowed_return_urls: ["https://other.example/"] },
    });
    const arrived = await createBrowser().walk(url, { until: "https://app.example.com/" });
    assert.equal(arrived.kind, "shown");
    assert.equal(await sessionsOf(customer), 0);
  });

  async function sessionsOf(customer: string): Promise<number> {
    const list = await bench.request("GET", `/sessions?customer_id=${customer}`);
    return list.body.pagination.total_items as number;
  }

  it("can finish a sign-in once more where the first attempt failed before the provider was asked", async () => {
    const { authorization_url: url } = await bench.authorize(await bench.customer());
    const arrived = await createBrowser().walk(url, { until: `${bench.url}/v1/auth/callback` });
    assert.equal(arrived.kind, "sent");
    const finish = () => callback(arrived.url.searchParams.toString());
    const { db } = bench.database;
    await db.raw("alter table customer_idps rename to customer_idps_away");
    try {
      assert.ok((await finish()).status >= 500);
    } finally {
      await db.raw("alter table customer_idps_away rename to customer_idps");
    }
    assert.match((await finish()).headers.get("location") ?? "", /[?&]code=/);
    assert.equal((await finish()).status, 400, "and only once");
  });
});
