import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import { compileClaims } from "../../../../src/identity/claims.ts";
import type { ValueObject } from "../../../../src/policy/index.ts";
import { FULL_KEY } from "../../../support/control.ts";
import {
  basic,
  clientOf,
  HOUR,
  limitedTo,
  refusal,
  KEY,
  startOAuthBench,
  type Credentials,
  type OAuthBench,
} from "../../support/oauth.ts";
import { OTHER_KEY, SIGN_IN_KEY, told, type Tokens } from "../../support/sign-in.ts";

describe("tokens at the OAuth endpoints", () => {
  let bench: OAuthBench;
  before(async () => {
    bench = await startOAuthBench();
  });
  after(() => bench.close());
  beforeEach(() => {
    bench.reset();
  });

  describe("introspection", () => {
    it("tells what an access token and a refresh token are", async () => {
      const tokens = await bench.signIn(bench.customerId);
      const { iat, exp, jti } = decodeJwt(tokens.access_token);
      const about = {
        active: true,
        scope: tokens.scope,
        client_id: SIGN_IN_KEY.id,
        iss: bench.url,
        sub: tokens.user.id,
        sid: tokens.session.id,
        customer_id: bench.customerId,
        principal_type: "user",
      };
      const answer = await bench.ask("/introspect", {
        token: tokens.access_token,
        token_type_hint: "refresh_token",
      });
      assert.deepEqual(answer.body, {
        ...about,
        ...{ token_type: "Bearer", iat, exp, jti, aud: "gatehouse", amr: ["pwd"] },
      });
      assert.equal(answer.headers.get("cache-control"), "no-store");
      assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
      const { iat: made, exp: until, ...refresh } = await bench.introspect(tokens.refresh_token);
      assert.deepEqual(refresh, about);
      assert.ok(Math.abs(Number(until) - Number(made) - tokens.refresh_expires_in) <= 1);
    });

    it("says no more than that a token is not active", async () => {
      const tokens = await bench.signIn(bench.customerId);
      const [head, body, signature] = tokens.access_token.split(".");
      const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${body}.`;
      const claims = JSON.parse(Buffer.from(body ?? "", "base64url").toString()) as object;
      const forged = Buffer.from(JSON.stringify({ ...claims, scope: "admin" })).toString("base64url");
      for (const token of [
        ...["x", "ghr_", "..", "\u00e9", "' or 1=1 --", "x".repeat(40_000)],
        ...[none, `${head}.${forged}.${signature}`, `${tokens.access_token}A`],
      ])
        assert.deepEqual(await bench.introspect(token), { active: false }, token.slice(0, 50));
      // one that is used up ends nothing by being asked about
      const next = (await bench.refresh(tokens.refresh_token)).body.data as Tokens;
      assert.deepEqual(await bench.introspect(tokens.refresh_token), { active: false });
      assert.equal((await bench.introspect(next.refresh_token))["active"], true);
      bench.skip = HOUR;
      assert.deepEqual(await bench.introspect(next.access_token), { active: false });
      assert.equal((await bench.introspect(next.refresh_token))["active"], true);
      bench.skip = 25 * HOUR;
      assert.deepEqual(await bench.introspect(next.refresh_token), { active: false });
    });

    it("counts session, user, customer and policies as they are now", async () => {
      const own = await bench.customer();
      const tokens = await bench.signIn(own);
      const states = async () => [
        (await bench.introspect(tokens.access_token))["active"],
        (await bench.introspect(tokens.refresh_token))["active"],
        (await bench.userInfo(tokens.access_token)).status,
      ];
      const good = [true, true, 200];
      const bad = [false, false, 401];
      assert.deepEqual(await states(), good);
      const policy = await bench.policy(own, { mfa_required: true });
      assert.deepEqual(await states(), bad);
      await bench.request("DELETE", `/customers/${own}/policies/${policy}`);
      assert.deepEqual(await states(), good);
      await bench.request("PUT", `/users/${tokens.user.id}`, { body: { status: "suspended" } });
      assert.deepEqual(await states(), bad);
      await bench.request("PUT", `/users/${tokens.user.id}`, { body: { status: "active" } });
      // a session that ended with the user does not come back
      assert.deepEqual(await states(), bad);
      const client = await bench.machine({ customer_id: own });
      const token = await bench.tokenFor(client);
      assert.equal((await bench.introspect(token))["active"], true);
      await bench.request("PUT", `/customers/${own}`, { body: { status: "suspended" } });
      assert.deepEqual(await bench.introspect(token), { active: false });
      assert.deepEqual(
        refusal(await bench.ask("/token", { grant_type: "client_credentials" }, basic(client))),
        [401, "invalid_client"],
      );
    });

    it("tells no later end than a policy has for the session", async () => {
      const own = await bench.customer();
      const provedAt = Math.floor(Date.now() / 1000) - 60;
      bench.provider.users.set("early", { claims: {}, authTime: provedAt });
      const tokens = await bench.signIn(own, { login: "early", more: { max_age: 3600 } });
      const ends = () =>
        Promise.all(
          [tokens.access_token, tokens.refresh_token].map(
            async (token) => (await bench.introspect(token))["exp"],
          ),
        );
      const [before] = await ends();
      assert.equal(before, decodeJwt(tokens.access_token).exp);
      await bench.policy(own, { max_session_duration: 600 });
      assert.deepEqual(await ends(), [provedAt + 600, provedAt + 600]);
    });

    it("shows a key that is limited to one customer that customer's tokens alone", async () => {
      const tokens = await bench.signIn(bench.customerId);
      const ofCustomer = await bench.tokenFor(await bench.machine({ customer_id: bench.customerId }));
      const ofNobody = await bench.tokenFor(await bench.machine());
      const seenBy = async (key: Credentials) => {
        const all = [tokens.access_token, tokens.refresh_token, ofCustomer, ofNobody];
        return Promise.all(all.map(async (token) => (await bench.introspect(token, key))["active"]));
      };
      assert.deepEqual(await seenBy(limitedTo(bench.customerId)), [true, true, true, false]);
      assert.deepEqual(await seenBy(limitedTo(bench.otherId)), [false, false, false, false]);
      assert.deepEqual(await seenBy(clientOf(OTHER_KEY)), [true, true, true, true]);
    });
  });

  it("have no scope of users but those that mean something here, whatever a customer's own key has its provider asked for", async () => {
    const own = await bench.customer();
    const asked = [
      "openid",
      "profile",
      "email",
      "groups",
      "offline_access",
      "customers:delete",
      "reports:write",
    ];
    const configured = await bench.request("POST", `/customers/${own}/idp`, {
      as: { ...FULL_KEY, id: "key_limited", scope: "configuration", customerId: own },
      body: {
        type: "oidc",
        domain: bench.provider.issuer,
        client_id: bench.provider.clientId,
        client_secret: bench.provider.clientSecret,
        scopes: asked,
      },
    });
    assert.equal(configured.status, 200, configured.text);
    // the provider is asked for them
    const { authorization_url: url } = await bench.authorize(own);
    assert.equal(new URL(url).searchParams.get("scope"), asked.join(" "));
    const scopesOf = async ({ access_token: token, refresh_token, scope, session: { id } }: Tokens) => {
      const claims = decodeJwt(token);
      const reading = compileClaims({})(claims as ValueObject);
      assert.ok(reading.ok);
      const told = (await bench.request("GET", `/sessions/${id}`)).body.data.scope as string;
      const introspected = [await bench.introspect(token), await bench.introspect(refresh_token)];
      const read = (reading.attributes.user["scopes"] as readonly string[]).join(" ");
      return new Set([scope, claims["scope"], read, told, ...introspected.map((answer) => answer["scope"])]);
    };
    const meant = new Set(["openid profile email groups"]);
    const tokens = await bench.signIn(own);
    assert.deepEqual(await scopesOf(tokens), meant);
    assert.ok(tokens.id_token);
    const foreign = await bench.signIn(own, { more: { scopes: ["reports:write", "customers:delete"] } });
    assert.deepEqual(await scopesOf(foreign), new Set(["openid"]));
    // sessions that began when all of it was kept
    await bench.database
      .db("sessions")
      .where({ id: tokens.session.id })
      .update({ scope: asked.join(" ") });
    assert.deepEqual(await scopesOf(tokens), meant);
    const next = (await bench.refresh(tokens.refresh_token)).body.data as Tokens;
    assert.deepEqual(await scopesOf(next), meant);
  });

  describe("revocation", () => {
    it("ends the session of a refresh token or an access token, once, and tells gateways", async () => {
      for (const name of ["refresh_token", "access_token"] as const) {
        const tokens = await bench.signIn(bench.customerId);
        bench.forget();
        const both = await Promise.all([1, 2].map(() => bench.ask("/revoke", { token: tokens[name] })));
        for (const { status, text } of both) assert.deepEqual([status, text], [200, ""]);
        assert.deepEqual(
          bench.changes.map(({ action, target, actor }) => [action, target.id, actor.id]),
          [["session.revoked", tokens.session.id, SIGN_IN_KEY.id]],
        );
        assert.deepEqual(
          bench.told.map((change) => change.type === "session_ended" && change.session_id),
          [tokens.session.id],
        );
        assert.equal((await bench.ask("/revoke", { token: tokens[name] })).status, 200);
        assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [401, "SESSION_ENDED"]);
        assert.deepEqual(refusal(await bench.userInfo(tokens.access_token)), [401, "invalid_token"]);
      }
    });

    it("leaves alone what is unknown, and what is another customer's", async () => {
      const tokens = await bench.signIn(bench.customerId);
      bench.forget();
      for (const token of ["unknown", tokens.id_token, tokens.session.id])
        assert.equal((await bench.ask("/revoke", { token })).status, 200);
      for (const token of [tokens.access_token, tokens.refresh_token])
        assert.equal((await bench.ask("/revoke", { token }, basic(limitedTo(bench.otherId)))).status, 200);
      assert.deepEqual(bench.changes, []);
      assert.equal((await bench.introspect(tokens.access_token))["active"], true);
      assert.equal(
        (await bench.ask("/revoke", { token: tokens.access_token }, basic(limitedTo(bench.customerId))))
          .status,
        200,
      );
      assert.deepEqual(await bench.introspect(tokens.access_token), { active: false });
    });

    it("ends the session of an access token that has expired, or that a policy refuses for now", async () => {
      const own = await bench.customer();
      const refused = await bench.signIn(own);
      const expired = await bench.signIn(bench.customerId);
      const policy = await bench.policy(own, { mfa_required: true });
      const revoke = async (token: string, key: Credentials) => {
        assert.equal((await bench.ask("/revoke", { token }, basic(key))).status, 200);
      };
      for (const { tokens, skip, known } of [
        { tokens: refused, skip: 0, known: [refused.session.id] },
        // gateways refuse it by itself
        { tokens: expired, skip: HOUR / 2, known: [] },
      ]) {
        const { access_token: token } = tokens;
        bench.skip = skip;
        bench.forget();
        assert.deepEqual(await bench.introspect(token), { active: false });
        await revoke(token, limitedTo(bench.otherId));
        // a changed claim is no claim of ours, at whatever time
        const [head, , signature] = token.split(".");
        const forged = Buffer.from(JSON.stringify({ ...decodeJwt(token), exp: 9_999_999_999 })).toString(
          "base64url",
        );
        await revoke(`${head}.${forged}.${signature}`, KEY);
        assert.equal(bench.changes.length, 0);
        await revoke(token, KEY);
        assert.deepEqual(
          bench.changes.map(({ action, target }) => [action, target.id]),
          [["session.revoked", tokens.session.id]],
        );
        assert.deepEqual(
          bench.told.map((change) => change.type === "session_ended" && change.session_id),
          known,
        );
      }
      await bench.request("DELETE", `/customers/${own}/policies/${policy}`);
      for (const { refresh_token: token } of [refused, expired])
        assert.deepEqual(told(await bench.refresh(token)), [401, "SESSION_ENDED"]);
    });

    it("ends nothing where the key is revoked before the commit", async () => {
      const { refresh_token: token } = await bench.signIn(bench.customerId);
      bench.revoked = "at commit";
      assert.deepEqual(refusal(await bench.ask("/revoke", { token })), [401, "invalid_client"]);
      bench.revoked = "no";
      assert.equal((await bench.introspect(token))["active"], true);
    });

    it("is not for machines' tokens, which it tells nobody but who may see them", async () => {
      const token = await bench.tokenFor(await bench.machine({ customer_id: bench.customerId }));
      assert.deepEqual(refusal(await bench.ask("/revoke", { token })), [400, "unsupported_token_type"]);
      assert.equal((await bench.ask("/revoke", { token }, basic(limitedTo(bench.otherId)))).status, 200);
    });
  });

  describe("userinfo", () => {
    it("answers by the scopes of the token, and by GET and POST", async () => {
      const all = await bench.signIn(bench.customerId);
      const { updated_at: updatedAt, ...claims } = (await bench.userInfo(all.access_token)).body;
      assert.ok(Number.isInteger(updatedAt));
      assert.deepEqual(claims, {
        sub: all.user.id,
        name: "Alice",
        email: "alice@acme.example",
        groups: ["staff"],
      });
      const few = await bench.signIn(bench.customerId, { more: { scopes: ["email"] } });
      const authorization = `Bearer ${few.access_token}`;
      const answer = await bench.ask("/userinfo", "", { authorization });
      assert.deepEqual(answer.body, { sub: few.user.id, email: "alice@acme.example" });
      assert.equal(answer.headers.get("cache-control"), "no-store");
    });

    it("says by RFC 6750 what is wrong", async () => {
      const { access_token: token, refresh_token: refresh } = await bench.signIn(bench.customerId);
      const nobody = await bench.userInfo(undefined);
      assert.equal(nobody.status, 401);
      assert.equal(nobody.headers.get("www-authenticate"), 'Bearer realm="gatehouse"');
      for (const bad of ["x", refresh]) {
        const answer = await bench.userInfo(bad);
        assert.deepEqual(refusal(answer), [401, "invalid_token"]);
        assert.match(
          answer.headers.get("www-authenticate") ?? "",
          /^Bearer realm="gatehouse", error="invalid_token"/,
        );
      }
      const twice = await bench.userInfo(undefined, { authorization: `Bearer ${token}, Bearer ${token}` });
      assert.deepEqual(refusal(twice), [400, "invalid_request"]);
      // neither a machine nor a key is a user; a token in the address is none
      const mine = await bench.userInfo(await bench.tokenFor(await bench.machine()));
      assert.deepEqual(refusal(mine), [403, "insufficient_scope"]);
      assert.match(mine.headers.get("www-authenticate") ?? "", /error="insufficient_scope".*scope="openid"/);
      assert.equal((await bench.userInfo(KEY.secret)).status, 401);
      assert.equal((await fetch(`${bench.url}/oauth2/userinfo?access_token=${token}`)).status, 401);
    });
  });
});
