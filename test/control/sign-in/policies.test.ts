import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import { startHostileProvider, type HostileProvider } from "../../support/providers/hostile-provider.ts";
import { createBrowser } from "../../support/sign-in.ts";
import { RETURN_URL, SIGN_IN_KEY, startSignInBench, told, type SignInBench } from "../support/sign-in.ts";

const challengeOf = ({ headers }: { readonly headers: Headers }) => headers.get("www-authenticate") ?? "";

/** Metadata of a provider whose ID tokens never hold `auth_time`. */
const NEVER_TELLS = (honest: object) => ({ ...honest, claims_supported: ["sub"] });

describe("policies, suspended customers and users at sign-in", () => {
  let bench: SignInBench;
  let hostile: HostileProvider;
  let customer: string;
  let skip = 0;
  const now = () => Date.now() + skip;
  before(async () => {
    bench = await startSignInBench({ clock: now, settings: { trustedProxies: ["127.0.0.1"] } });
    hostile = await startHostileProvider();
  });
  after(() => Promise.all([bench.close(), hostile.close()]));
  beforeEach(async () => {
    skip = 0;
    hostile.behave({});
    customer = await bench.customer();
    bench.provider.users.set("alice", { claims: { email: "alice@acme.example" }, amr: ["pwd"] });
    bench.forget();
  });

  const refusal = async (options: Parameters<SignInBench["arrive"]>[1] = {}) => {
    const arrived = await bench.arrive(customer, options);
    assert.equal(arrived.get("code"), null);
    return [arrived.get("error"), arrived.get("reason")];
  };
  const announced = () => bench.events.map(({ type, data }) => [type, data.reason]);
  const suspend = (path: string, status = "suspended") => bench.request("PUT", path, { body: { status } });

  const refused: readonly (readonly [what: string, conditions: object, reason: string])[] = [
    ["one factor", { mfa_required: true }, "MFA_REQUIRED"],
    [
      "a domain that is not allowed",
      { allowed_email_domains: ["other.example"] },
      "EMAIL_DOMAIN_NOT_ALLOWED",
    ],
    ["an address that is not allowed", { allowed_ip_ranges: ["10.0.0.0/8"] }, "CLIENT_ADDRESS_NOT_ALLOWED"],
  ];
  for (const [what, conditions, reason] of refused)
    it(`does not sign in with ${what}, and announces that a policy was violated`, async () => {
      await bench.policy(customer, conditions);
      bench.forget();
      assert.deepEqual(await refusal(), ["access_denied", reason]);
      assert.deepEqual(announced(), [
        ["policy.violated", reason],
        ["user.authentication_failed", reason],
      ]);
      const list = await bench.request("GET", `/sessions?customer_id=${customer}`);
      assert.equal(list.body.pagination.total_items, 0);
    });

  const admitted: readonly (readonly [what: string, conditions: object])[] = [
    ["two factors", { mfa_required: true }],
    ["a domain that is allowed, in other case", { allowed_email_domains: ["acme.example"] }],
    ["an address that is allowed, as the trusted proxy says", { allowed_ip_ranges: ["203.0.113.0/24"] }],
    ["an authentication that is recent", { max_session_duration: 600 }],
  ];
  for (const [what, conditions] of admitted)
    it(`signs in with ${what}`, async () => {
      await bench.policy(customer, conditions);
      bench.provider.users.set("alice", { claims: { email: "Alice@ACME.example" }, amr: ["pwd", "otp"] });
      const { session } = await bench.signIn(customer, { headers: { "x-forwarded-for": "203.0.113.7" } });
      assert.equal(session["ip_address"], "203.0.113.7");
    });

  it("needs an e-mail address that the provider does not call unverified", async () => {
    await bench.policy(customer, { allowed_email_domains: ["acme.example"] });
    const email = "alice@acme.example";
    for (const verified of [false, "false"]) {
      bench.provider.users.set("alice", { claims: { email, email_verified: verified } });
      assert.deepEqual(await refusal(), ["access_denied", "EMAIL_DOMAIN_NOT_ALLOWED"]);
    }
    bench.provider.users.set("alice", { claims: {} });
    assert.deepEqual(await refusal(), ["access_denied", "EMAIL_DOMAIN_NOT_ALLOWED"]);
    bench.provider.users.set("alice", { claims: { email, email_verified: true } });
    assert.ok((await bench.signIn(customer)).session.id);
  });

  it("asks the provider how old the authentication is, and refuses one that is too old", async () => {
    await bench.policy(customer, { max_session_duration: 600 });
    const { authorization_url: url } = await bench.authorize(customer);
    assert.equal(new URL(url).searchParams.get("max_age"), "600");
    const stricter = await bench.authorize(customer, { max_age: 60 });
    assert.equal(new URL(stricter.authorization_url).searchParams.get("max_age"), "60");
    // a policy that is made stricter while the user signs in
    const authTime = Math.floor(Date.now() / 1000) - 100;
    bench.provider.users.set("alice", { authTime });
    const { session } = await bench.signIn(customer);
    assert.equal(Date.parse(String(session["auth_time"])), authTime * 1000);
    assert.equal(Date.parse(String(session["expires_at"])), (authTime + 600) * 1000);
    skip = 550_000;
    assert.deepEqual(await refusal(), ["access_denied", "SESSION_TOO_OLD"]);
  });

  it("needs an authentication as recent as the application asks for", async () => {
    bench.provider.users.set("alice", { authTime: Math.floor(Date.now() / 1000) - 50 });
    assert.ok((await bench.signIn(customer, { more: { max_age: 300 } })).session["auth_time"]);
  });

  it("takes the strictest of several policies", async () => {
    await bench.policy(customer, { max_session_duration: 3_600 });
    await bench.policy(customer, { max_session_duration: 900, mfa_required: true });
    await bench.policy(customer, { mfa_required: false });
    assert.deepEqual(await refusal(), ["access_denied", "MFA_REQUIRED"]);
    bench.provider.users.set("alice", { amr: ["mfa"] });
    const tokens = await bench.signIn(customer);
    assert.ok(tokens.refresh_expires_in <= 900);
    assert.deepEqual(decodeJwt(tokens.access_token)["amr"], ["mfa"]);
  });

  it("makes no tokens that outlive the session", async () => {
    await bench.policy(customer, { max_session_duration: 60 });
    const tokens = await bench.signIn(customer);
    const { exp, iat, auth_time: authTime } = decodeJwt(tokens.access_token);
    assert.equal(exp, Number(authTime) + 60);
    assert.equal(tokens.expires_in, exp - iat!);
    assert.ok(tokens.refresh_expires_in <= 60);
  });

  it("is refused for a user who is suspended, whatever else holds", async () => {
    const { user } = await bench.signIn(customer);
    await suspend(`/users/${user.id}`);
    bench.forget();
    assert.deepEqual(await refusal(), ["access_denied", "USER_SUSPENDED"]);
    assert.deepEqual(announced(), [["user.authentication_failed", "USER_SUSPENDED"]]);
    assert.equal(bench.events[0]?.userId, user.id);
    await suspend(`/users/${user.id}`, "active");
    assert.equal((await bench.signIn(customer)).user.id, user.id);
  });

  it("is refused for a customer that is suspended while the user is at the provider", async () => {
    const { authorization_url: url } = await bench.authorize(customer);
    await suspend(`/customers/${customer}`);
    const arrived = await createBrowser().walk(url, { until: "https://app.example.com/" });
    assert.ok(arrived.kind === "sent" && arrived.url.searchParams.get("reason") === "CUSTOMER_SUSPENDED");
  });

  it("makes no tokens of a code when the customer or user is suspended meanwhile", async () => {
    const first = await bench.arrive(customer);
    await suspend(`/customers/${customer}`);
    assert.deepEqual(told(await bench.exchange(first)), [403, "CUSTOMER_SUSPENDED"]);
    await suspend(`/customers/${customer}`, "active");
    const late = await bench.exchange(first);
    assert.deepEqual(told(late), [401, "SESSION_ENDED"]);
    assert.equal(late.body.error.details.reason, "customer_suspended");

    const second = await bench.arrive(customer);
    const users = await bench.request("GET", `/customers/${customer}/users`);
    const [{ id }] = users.body.data;
    await suspend(`/users/${id}`);
    assert.deepEqual(told(await bench.exchange(second)), [403, "USER_SUSPENDED"]);
    await suspend(`/users/${id}`, "active");
    assert.deepEqual(told(await bench.exchange(second)), [401, "SESSION_ENDED"]);

    const third = await bench.arrive(customer);
    assert.equal((await bench.request("DELETE", `/users/${id}`)).status, 200);
    assert.deepEqual(told(await bench.exchange(third)), [401, "SESSION_ENDED"]);
    const fourth = await bench.arrive(customer);
    assert.equal((await bench.request("DELETE", `/customers/${customer}`)).status, 200);
    assert.deepEqual(told(await bench.exchange(fourth)), [401, "SESSION_ENDED"]);
  });

  it("evaluates policies that came after the sign-in when the code is exchanged", async () => {
    const arrived = await bench.arrive(customer);
    const policy = await bench.policy(customer, { mfa_required: true });
    bench.forget();
    const answer = await bench.exchange(arrived);
    assert.deepEqual(told(answer), [401, "POLICY_VIOLATED"]);
    assert.equal(answer.body.error.details.reason, "MFA_REQUIRED");
    assert.match(challengeOf(answer), /error="insufficient_user_authentication"/);
    assert.deepEqual(announced(), [["policy.violated", "MFA_REQUIRED"]]);
    // the code is not used up: what was in the way is put right
    await bench.request("DELETE", `/customers/${customer}/policies/${policy}`);
    assert.equal((await bench.exchange(arrived)).status, 200);
  });

  it("counts a class of authentication that the customer's provider calls multi-factor", async () => {
    const strict = await bench.customer(undefined, { mfa_acr_values: ["urn:2fa", "phr"] });
    await bench.policy(strict, { mfa_required: true });
    const { authorization_url: url } = await bench.authorize(strict);
    assert.equal(new URL(url).searchParams.get("acr_values"), "urn:2fa phr");
    bench.provider.users.set("alice", { amr: ["pwd"], acr: "phr" });
    const tokens = await bench.signIn(strict);
    assert.equal(tokens.session["acr"], "phr");
    assert.equal(decodeJwt(tokens.access_token)["acr"], "phr");
    assert.equal((await bench.refresh(tokens.refresh_token)).status, 200);
    bench.provider.users.set("alice", { amr: ["pwd"], acr: "urn:2fa:ifpossible" });
    const arrived = await bench.arrive(strict);
    assert.deepEqual([arrived.get("reason"), arrived.get("acr_values")], ["MFA_REQUIRED", "urn:2fa phr"]);
    // the same class at another customer says nothing
    bench.provider.users.set("alice", { amr: ["pwd"], acr: "phr" });
    await bench.policy(customer, { mfa_required: true });
    assert.deepEqual(await refusal(), ["access_denied", "MFA_REQUIRED"]);
  });

  it("does not count from now on what is silent about its time, as somebody took `max_age` out of the address", async () => {
    bench.provider.users.set("alice", { authTime: Math.floor(Date.now() / 1000) - 86_400 });
    const arrive = async (more: object, ...without: readonly string[]) => {
      const url = new URL((await bench.authorize(customer, more)).authorization_url);
      for (const name of without) {
        assert.ok(url.searchParams.has(name), name);
        url.searchParams.delete(name);
      }
      const arrived = await createBrowser().walk(url.href, { until: "https://app.example.com/" });
      assert.ok(arrived.kind === "sent", JSON.stringify(arrived));
      return arrived.url.searchParams;
    };
    // of the application, where no policy asks for anything
    for (const more of [{ max_age: 30 }, { max_age: 30, prompt: "login" }])
      assert.equal((await arrive(more, ...Object.keys(more))).get("reason"), "PROVIDER_FAILED");
    // what nobody knows is not told as now
    const prompted = await bench.exchange(await arrive({ prompt: "login" }, "prompt"));
    assert.equal(prompted.body.data.session.auth_time, null);
    await bench.policy(customer, { max_session_duration: 60 });
    for (const more of [{}, { prompt: "login" }, { prompt: "select_account" }])
      assert.equal((await arrive(more, "max_age", ...Object.keys(more))).get("reason"), "SESSION_TOO_OLD");
    // nor where the provider was never asked what it can tell
    await bench.database.db("customer_idps").where({ customer_id: customer }).update({ capabilities: null });
    assert.equal((await arrive({}, "max_age")).get("reason"), "SESSION_TOO_OLD");
  });

  it("takes the sign-in itself for its time where the provider never says and was asked to prompt", async () => {
    hostile.behave({ claims: ({ auth_time: _, ...claims }) => claims, discovery: NEVER_TELLS });
    const silent = await bench.customer(hostile);
    assert.equal((await bench.signIn(silent)).session["auth_time"], null);
    const asked = await bench.signIn(silent, { more: { prompt: "login" } });
    assert.ok(asked.session["auth_time"] !== null);
    await bench.policy(silent, { max_session_duration: 600 });
    const before = now();
    const { session, access_token: token } = await bench.signIn(silent);
    const at = Date.parse(String(session["auth_time"]));
    assert.ok(before <= at && at <= now());
    assert.equal(decodeJwt(token)["auth_time"], Math.floor(at / 1000));
    // nobody can have proved anything where nothing may be shown
    const quiet = await bench.arrive(silent, { more: { prompt: "none" } });
    assert.equal(quiet.get("reason"), "SESSION_TOO_OLD");
    // the application's prompt stands beside ours, and not in its place
    for (const prompt of ["select_account", "consent"]) {
      const { authorization_url: url } = await bench.authorize(silent, { prompt });
      assert.equal(new URL(url).searchParams.get("prompt"), `login ${prompt}`);
      assert.ok((await bench.signIn(silent, { more: { prompt } })).session["auth_time"] !== null);
    }
    // a time that is said counts, whatever it is
    for (const auth_time of [0, 0.5]) {
      hostile.behave({ claims: (claims) => ({ ...claims, auth_time }) });
      assert.equal((await bench.arrive(silent)).get("reason"), "SESSION_TOO_OLD");
    }
  });

  it("answers a challenge, which narrows what policies ask for and cannot widen it", async () => {
    const strict = await bench.customer(undefined, { mfa_acr_values: ["urn:2fa", "phr"] });
    await bench.policy(strict, { mfa_required: true, max_session_duration: 600 });
    const asked = async (more: object) => {
      const { searchParams } = new URL((await bench.authorize(strict, more)).authorization_url);
      return ["acr_values", "max_age", "prompt", "login_hint"].map((name) => searchParams.get(name));
    };
    assert.deepEqual(
      await asked({ acr_values: "phr", max_age: 60, prompt: "login", login_hint: "a@b.example" }),
      [...["phr", "60", "login", "a@b.example"]],
    );
    assert.deepEqual(await asked({ acr_values: "urn:1fa", max_age: 86_400 }), [
      ...["urn:2fa phr", "600", null, null],
    ]);
    const free = new URL((await bench.authorize(customer, { acr_values: "urn:1fa" })).authorization_url);
    assert.equal(free.searchParams.get("acr_values"), "urn:1fa");
    const invalid: readonly (readonly [string, unknown])[] = [
      ["acr_values", ""],
      ["acr_values", "a  b"],
      ["acr_values", ' a"b'],
      ["acr_values", "a\u0001"],
      ["acr_values", ["phr"]],
      ["acr_values", "x".repeat(1001)],
      ["acr_values", "a ".repeat(20) + "a"],
      ["max_age", -1],
      ["max_age", "60"],
      ["prompt", "login none"],
      ["login_hint", "a\nb"],
    ];
    for (const [name, value] of invalid) {
      const answer = await bench.request("POST", "/auth/authorize", {
        as: SIGN_IN_KEY,
        body: { customer_id: strict, return_url: RETURN_URL, [name]: value },
      });
      assert.deepEqual(told(answer), [422, "VALIDATION_FAILED"], `${name}: ${JSON.stringify(value)}`);
      assert.equal(answer.body.error.details.fields[0].path, name);
    }
  });

  describe("at refresh", () => {
    it("is refused while a policy is violated, and goes on when it is put right", async () => {
      const tokens = await bench.signIn(customer);
      for (const [, conditions, reason] of refused) {
        const policy = await bench.policy(customer, conditions);
        bench.forget();
        const answer = await bench.refresh(tokens.refresh_token);
        assert.deepEqual(told(answer), [reason === "MFA_REQUIRED" ? 401 : 403, "POLICY_VIOLATED"]);
        assert.equal(answer.body.error.details.reason, reason);
        assert.deepEqual(announced(), [["policy.violated", reason]]);
        const { user, session } = bench.events[0]?.data ?? {};
        assert.deepEqual([user?.id, session?.id], [tokens.user.id, tokens.session.id]);
        await bench.request("DELETE", `/customers/${customer}/policies/${policy}`);
      }
      assert.equal((await bench.refresh(tokens.refresh_token)).status, 200);
    });

    it("ends a session that has become too old for a policy", async () => {
      const tokens = await bench.signIn(customer, { more: { max_age: 3_600 } });
      const expired = await bench.signIn(customer, { more: { max_age: 3_600 } });
      await bench.policy(customer, { max_session_duration: 600 });
      skip = 660_000;
      bench.forget();
      const answer = await bench.refresh(tokens.refresh_token);
      assert.deepEqual(told(answer), [401, "POLICY_VIOLATED"]);
      assert.match(challengeOf(answer), /error="insufficient_user_authentication", .*, max_age="600"$/);
      assert.partialDeepStrictEqual(answer.body.error.details, { reason: "SESSION_TOO_OLD", max_age: 600 });
      assert.deepEqual(announced(), [
        ["policy.violated", "SESSION_TOO_OLD"],
        ["session.revoked", "session_too_old"],
      ]);
      assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [401, "SESSION_ENDED"]);
      skip += 90_000_000;
      assert.deepEqual(told(await bench.refresh(expired.refresh_token)), [401, "POLICY_VIOLATED"]);
      assert.deepEqual(told(await bench.refresh(expired.refresh_token)), [401, "SESSION_ENDED"]);
    });

    it("is refused where nobody knows how old the authentication is and a policy asks", async () => {
      const tokens = await bench.signIn(customer);
      assert.equal(tokens.session["auth_time"], null);
      await bench.policy(customer, { max_session_duration: 3_600 });
      assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [401, "POLICY_VIOLATED"]);
    });

    it("does not make a session younger that is as old as its own sign-in", async () => {
      hostile.behave({ claims: ({ auth_time: _, ...claims }) => claims, discovery: NEVER_TELLS });
      const silent = await bench.customer(hostile);
      await bench.policy(silent, { max_session_duration: 600 });
      const tokens = await bench.signIn(silent);
      const { auth_time: first } = decodeJwt(tokens.access_token);
      assert.equal(first, Math.floor(Date.parse(String(tokens.session["auth_time"])) / 1000));
      skip = 500_000;
      const later = await bench.refresh(tokens.refresh_token);
      assert.equal(decodeJwt(later.body.data.access_token)["auth_time"], first);
      skip = 660_000;
      const refused = await bench.refresh(later.body.data.refresh_token);
      assert.equal(refused.body.error.details.reason, "SESSION_TOO_OLD");
    });

    it("asks for what counts at the customer's provider, as a gateway does", async () => {
      const okta = await bench.customer(undefined, { mfa_acr_values: ["urn:2fa", "phr"] });
      const tokens = await bench.signIn(okta);
      await bench.policy(okta, { mfa_required: true, max_session_duration: 900 });
      const answer = await bench.refresh(tokens.refresh_token);
      assert.match(challengeOf(answer), /, acr_values="urn:2fa phr", max_age="900"$/);
      const { acr_values, max_age } = answer.body.error.details;
      assert.deepEqual([acr_values, max_age], ["urn:2fa phr", 900]);
    });

    it("is refused for suspended customers and users, whose sessions do not come back", async () => {
      const first = await bench.signIn(customer);
      await suspend(`/customers/${customer}`);
      assert.deepEqual(told(await bench.refresh(first.refresh_token)), [403, "CUSTOMER_SUSPENDED"]);
      await suspend(`/customers/${customer}`, "active");
      assert.deepEqual(told(await bench.refresh(first.refresh_token)), [401, "SESSION_ENDED"]);
      const second = await bench.signIn(customer);
      await suspend(`/users/${second.user.id}`);
      assert.deepEqual(told(await bench.refresh(second.refresh_token)), [403, "USER_SUSPENDED"]);
      await suspend(`/users/${second.user.id}`, "active");
      assert.deepEqual(told(await bench.refresh(second.refresh_token)), [401, "SESSION_ENDED"]);
    });

    it("brings what is known of the user now", async () => {
      const tokens = await bench.signIn(customer);
      await bench.request("PUT", `/users/${tokens.user.id}`, { body: { attributes: { role: "auditor" } } });
      const answer = await bench.refresh(tokens.refresh_token);
      assert.equal(decodeJwt(answer.body.data.access_token)["role"], "auditor");
      assert.equal(answer.body.data.user.role, "auditor");
    });
  });
});
