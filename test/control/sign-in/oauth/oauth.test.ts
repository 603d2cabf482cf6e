import assert from "node:assert/strict";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import * as oidc from "openid-client";
import {
  basic,
  clientOf,
  KEY,
  refusal,
  startOAuthBench,
  type Credentials,
  type OAuthBench,
} from "../../support/oauth.ts";
import { RETURN_URL, SIGN_IN_KEY, type Tokens } from "../../support/sign-in.ts";

describe("the OAuth endpoints", () => {
  let bench: OAuthBench;
  before(async () => {
    bench = await startOAuthBench();
  });
  after(() => bench.close());
  beforeEach(() => {
    bench.reset();
  });

  const discover = (client: Credentials, algorithm: "oidc" | "oauth2", authentication?: oidc.ClientAuth) =>
    oidc.discovery(
      new URL(bench.url),
      client.id,
      { client_secret: client.secret },
      authentication ?? oidc.ClientSecretBasic(client.secret),
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- the mark is to make it stand out
      { algorithm, execute: [oidc.allowInsecureRequests] },
    );

  it("are what the metadata names, each member of it, and nothing else", async () => {
    const read = async (name: string) =>
      (await (await fetch(`${bench.url}/.well-known/${name}`)).json()) as Record<string, unknown>;
    const metadata = await read("openid-configuration");
    assert.deepEqual(await read("oauth-authorization-server"), metadata);
    const tokens = await bench.signIn(bench.customerId);
    const client = await bench.machine();
    const url = (name: string) => String(metadata[name]);
    const post = (at: string, form: object, headers: Readonly<Record<string, string>> = {}) =>
      fetch(at, { method: "POST", headers, body: new URLSearchParams({ ...form }) });
    const posted = (of: Credentials) => ({ client_id: of.id, client_secret: of.secret });
    /** Each way of authentication that is named works, and there are no others. */
    const authenticates = async (name: string, of: Credentials, form: object) => {
      assert.deepEqual(metadata[`${name}_auth_methods_supported`], [
        "client_secret_basic",
        "client_secret_post",
      ]);
      assert.equal((await post(url(name), form, basic(of))).status, 200);
      assert.equal((await post(url(name), { ...form, ...posted(of) })).status, 200);
      assert.equal((await post(url(name), { ...form, client_id: of.id })).status, 401);
    };
    const token = { token: "unknown" };
    const grant = { grant_type: "client_credentials" };
    const info = (await (
      await fetch(url("userinfo_endpoint"), { headers: { authorization: `Bearer ${tokens.access_token}` } })
    ).json()) as Record<string, unknown>;
    const exercised: Record<string, () => unknown> = {
      issuer: () => {
        assert.equal(url("issuer"), bench.url);
      },
      jwks_uri: () => jwtVerify(tokens.access_token, createRemoteJWKSet(new URL(url("jwks_uri")))),
      token_endpoint: () => authenticates("token_endpoint", client, grant),
      token_endpoint_auth_methods_supported: () => undefined,
      introspection_endpoint: () => authenticates("introspection_endpoint", KEY, token),
      introspection_endpoint_auth_methods_supported: () => undefined,
      revocation_endpoint: () => authenticates("revocation_endpoint", KEY, token),
      revocation_endpoint_auth_methods_supported: () => undefined,
      userinfo_endpoint: () => {
        assert.equal(info["sub"], tokens.user.id);
      },
      claims_supported: () => {
        assert.deepEqual(Object.keys(info).sort(), [...(metadata["claims_supported"] as string[])].sort());
      },
      scopes_supported: () => {
        assert.deepEqual(
          [...(metadata["scopes_supported"] as string[])].sort(),
          tokens.scope.split(" ").sort(),
        );
      },
      end_session_endpoint: async () => {
        const at = `${url("end_session_endpoint")}?id_token_hint=${tokens.id_token}`;
        assert.equal((await fetch(at)).status, 200);
      },
      response_types_supported: () => {
        assert.deepEqual(metadata["response_types_supported"], []);
      },
      grant_types_supported: async () => {
        for (const type of metadata["grant_types_supported"] as string[])
          assert.equal((await post(url("token_endpoint"), { grant_type: type }, basic(client))).status, 200);
        for (const type of ["authorization_code", "refresh_token", "password", "implicit"]) {
          const answer = await post(url("token_endpoint"), { grant_type: type, code: "x" }, basic(client));
          assert.equal(((await answer.json()) as { error: string }).error, "unsupported_grant_type");
        }
      },
      // one user is the same `sub` to every client
      subject_types_supported: async () => {
        assert.deepEqual(metadata["subject_types_supported"], ["public"]);
        const again = await bench.exchange(await bench.arrive(bench.customerId));
        assert.equal(decodeJwt(again.body.data.id_token as string).sub, tokens.user.id);
      },
      id_token_signing_alg_values_supported: () => {
        assert.deepEqual(metadata["id_token_signing_alg_values_supported"], [
          decodeProtectedHeader(tokens.id_token).alg,
        ]);
      },
      service_documentation: () => {
        assert.equal(url("service_documentation"), `${bench.url}/docs`);
      },
    };
    assert.deepEqual(Object.keys(metadata).sort(), Object.keys(exercised).sort());
    for (const exercise of Object.values(exercised)) await exercise();
  });

  it("work with an independent client library, from discovery on", async () => {
    const tokens = await bench.signIn(bench.customerId);
    const client = await bench.machine({ customer_id: bench.customerId });
    for (const algorithm of ["oidc", "oauth2"] as const)
      for (const authentication of [undefined, oidc.ClientSecretPost(client.secret)]) {
        const configuration = await discover(client, algorithm, authentication);
        const granted = await oidc.clientCredentialsGrant(configuration, { scope: "reports:read" });
        assert.deepEqual([granted.token_type, granted.scope], ["bearer", "reports:read"]);
        const keys = createRemoteJWKSet(new URL(configuration.serverMetadata().jwks_uri ?? ""));
        const expected = { issuer: bench.url, audience: "gatehouse", typ: "at+jwt", subject: client.id };
        const { payload } = await jwtVerify(granted.access_token, keys, expected);
        assert.equal(payload["customer_id"], bench.customerId);
      }
    const application = await discover(KEY, "oidc");
    const { active, sub, username } = await oidc.tokenIntrospection(application, tokens.access_token);
    assert.deepEqual([active, sub, username], [true, tokens.user.id, undefined]);
    const info = await oidc.fetchUserInfo(application, tokens.access_token, tokens.user.id);
    assert.equal(info.email, "alice@acme.example");
    const logout = oidc.buildEndSessionUrl(application, {
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: RETURN_URL,
      state: "later",
    });
    const answer = await fetch(logout, { redirect: "manual" });
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, `${RETURN_URL}&state=later`]);
    assert.deepEqual(await oidc.tokenIntrospection(application, tokens.refresh_token), { active: false });
    const second = await bench.signIn(bench.customerId);
    await oidc.tokenRevocation(application, second.refresh_token);
    assert.deepEqual(await oidc.tokenIntrospection(application, second.access_token), { active: false });
    await assert.rejects(oidc.fetchUserInfo(application, second.access_token, second.user.id));
  });

  it("come with an ID token of each sign-in and refresh, which is good for no request", async () => {
    const tokens = await bench.signIn(bench.customerId);
    const next = (await bench.refresh(tokens.refresh_token)).body.data as Tokens;
    for (const { id_token: token, access_token: access } of [tokens, next]) {
      const { iat, exp, ...claims } = decodeJwt(token);
      assert.deepEqual([iat, exp], [decodeJwt(access).iat, decodeJwt(access).exp]);
      assert.deepEqual(claims, {
        iss: bench.url,
        sub: tokens.user.id,
        aud: SIGN_IN_KEY.id,
        sid: tokens.session.id,
        amr: ["pwd"],
      });
      assert.equal(decodeProtectedHeader(token).typ, "JWT");
      assert.deepEqual(await bench.introspect(token), { active: false });
      assert.deepEqual(refusal(await bench.userInfo(token)), [401, "invalid_token"]);
    }
  });

  describe("as their standards have it", () => {
    it("authenticate clients in one way, and say nothing of what is wrong", async () => {
      const token = { token: "x" };
      const client = await bench.machine();
      const wrong = [
        {},
        basic({ ...KEY, secret: "x" }),
        basic({ ...KEY, id: "key_other" }),
        basic({ ...client, secret: `${client.secret}x` }),
        basic({ id: "cli_00000000000000000000000000", secret: client.secret }),
        { authorization: "Basic !" },
        { authorization: `Bearer ${KEY.secret}` },
      ];
      for (const headers of wrong) {
        const answer = await bench.ask("/introspect", token, headers);
        assert.deepEqual(refusal(answer), [401, "invalid_client"], JSON.stringify(headers));
        assert.match(answer.headers.get("www-authenticate") ?? "", /^Basic /);
      }
      const inBody = { client_id: KEY.id, client_secret: KEY.secret };
      assert.equal((await bench.ask("/introspect", { ...token, ...inBody }, {})).status, 200);
      assert.equal((await bench.ask("/introspect", { ...token, client_id: KEY.id })).status, 200);
      for (const form of [
        { ...token, ...inBody },
        { ...token, client_id: "key_other" },
      ])
        assert.deepEqual(refusal(await bench.ask("/introspect", form)), [400, "invalid_request"]);
      const reader = clientOf({ ...SIGN_IN_KEY, scope: "configuration" });
      assert.deepEqual(refusal(await bench.ask("/introspect", token, basic(reader))), [
        400,
        "unauthorized_client",
      ]);
    });

    it("take forms alone, with each parameter once, in the body", async () => {
      for (const path of ["/token", "/introspect", "/revoke"]) {
        for (const body of ["token=x&token=y", "token=%ff", "token=%00", "token=é", "token=", ""])
          assert.deepEqual(refusal(await bench.ask(path, body)), [400, "invalid_request"], `${path} ${body}`);
        for (const type of [
          "application/json",
          "text/plain",
          "application/x-www-form-urlencoded; charset=latin1",
        ])
          assert.deepEqual(
            refusal(await bench.ask(path, "token=x", { ...basic(KEY), "content-type": type })),
            [400, "invalid_request"],
          );
        assert.deepEqual(refusal(await bench.ask(`${path}?token=x`, "token=x")), [400, "invalid_request"]);
        assert.deepEqual(refusal(await bench.ask(path, `token=${"x".repeat(70_000)}`)), [
          413,
          "invalid_request",
        ]);
        const get = await bench.ask(path, "", basic(KEY), "GET");
        assert.deepEqual([...refusal(get), get.headers.get("allow")], [405, "invalid_request", "POST"]);
      }
      // RFC 6749, section 3.2: what is not known is ignored
      assert.equal((await bench.ask("/revoke", { token: "x", audience: "y" })).status, 200);
    });

    it("are counted with the Authentication API: who is known by id, all others by address", async () => {
      bench.counted.length = 0;
      await bench.ask("/introspect", { token: "x" });
      await bench.ask("/introspect", { token: "x" }, {});
      await bench.ask("/introspect", "token=x&token=x");
      await bench.ask("/token", "", {}, "DELETE");
      assert.deepEqual(
        bench.counted,
        [SIGN_IN_KEY.id, ...Array<string>(3).fill("ip:127.0.0.1")].map((subject) => [
          "authentication",
          subject,
        ]),
      );
      bench.limited = true;
      for (const answer of [
        await bench.ask("/introspect", { token: "x" }),
        await bench.userInfo(undefined),
      ]) {
        assert.deepEqual(refusal(answer), [429, "temporarily_unavailable"]);
        assert.equal(answer.headers.get("retry-after"), "1");
        assert.equal(answer.headers.get("x-ratelimit-limit"), "7");
      }
    });
  });
});
