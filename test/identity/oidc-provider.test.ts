import assert from "node:assert/strict";
import { decodeProtectedHeader } from "jose";
import Provider, { type Adapter } from "oidc-provider";
import {
  AUDIENCE,
  createSigner,
  createSubject,
  startServer,
  until,
  type Signer,
  type Subject,
  type TestServer,
} from "./support.ts";

const CLIENT = { client_id: "reports", client_secret: "a-secret-of-the-test" };

/** Nothing has to be found again: clients are configured, and tokens carry all they say. */
class NoStorage implements Adapter {
  upsert = () => Promise.resolve();
  find = () => Promise.resolve(undefined);
  findByUserCode = () => Promise.resolve(undefined);
  findByUid = () => Promise.resolve(undefined);
  consume = () => Promise.resolve();
  destroy = () => Promise.resolve();
  revokeByGrantId = () => Promise.resolve();
}

/** A real OpenID provider: discovery, key set, token endpoint. Its keys are rotated by building it anew. */
describe("identity: with a real OpenID provider", () => {
  let server: TestServer;
  let signers: Record<"RS256" | "ES256" | "EdDSA", Signer>;
  let provider: Provider;
  let subject: Subject;

  const install = (keys: readonly Signer[], algorithm: "RS256" | "ES256" | "EdDSA") => {
    provider = new Provider(server.origin, {
      adapter: NoStorage,
      ttl: { ClientCredentials: 600, IdToken: 600 },
      jwks: { keys: keys.map(({ privateJwk }) => privateJwk) },
      clients: [
        {
          ...CLIENT,
          grant_types: ["client_credentials"],
          redirect_uris: [],
          response_types: [],
          id_token_signed_response_alg: algorithm,
        },
      ],
      cookies: { keys: ["a-secret-of-the-test"] },
      enabledJWA: { idTokenSigningAlgValues: ["RS256", "ES256", "EdDSA"] },
      extraTokenClaims: () => ({ role: "manager", "https://example.com/groups": ["a", "b"] }),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context, audience) => ({
            audience,
            scope: "read write",
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: algorithm } },
          }),
        },
      },
    });
    const handle = provider.callback();
    server.respond = (request, response) => void handle(request, response);
  };

  const accessToken = async (resource = AUDIENCE) => {
    const response = await fetch(`${server.origin}/token`, {
      method: "POST",
      body: new URLSearchParams({ ...CLIENT, grant_type: "client_credentials", resource, scope: "read" }),
    });
    const { access_token: token } = (await response.json()) as { access_token?: string };
    assert.ok(token, `the provider answered ${response.status}`);
    return token;
  };
  const signedByProvider = async (use: "idtoken" | "logout") => {
    const client = await provider.Client.find(CLIENT.client_id);
    // what the library has and its types leave out
    const IdToken = provider.IdToken as unknown as new (
      claims: object,
      context: { readonly client: object | undefined; readonly ctx: undefined },
    ) => { scope: string; issue(options: { use: "idtoken" | "logout" }): Promise<string> };
    const token = new IdToken({ sub: "alice" }, { client, ctx: undefined });
    token.scope = "openid";
    return token.issue({ use });
  };
  const create = (audience = AUDIENCE) => {
    subject = createSubject({
      issuer: server.origin,
      audience,
      refreshIntervalMs: 20,
      claims: { "user.groups": "https://example.com/groups" },
    });
    return subject.verifier;
  };
  const fetches = () => server.requests.filter((path) => path === "/jwks").length;

  before(async () => {
    server = await startServer(() => undefined);
    const [RS256, ES256, EdDSA] = await Promise.all(
      ["RS256", "ES256", "EdDSA"].map((alg) => createSigner(alg, `${alg}-key`)),
    );
    signers = { RS256: RS256!, ES256: ES256!, EdDSA: EdDSA! };
  });
  afterEach(() => {
    subject.verifier.close();
  });
  after(() => server.close());

  for (const algorithm of ["RS256", "ES256", "EdDSA"] as const) {
    it(`verifies its ${algorithm} access tokens, with keys found by discovery`, async () => {
      install([signers.RS256, signers.ES256, signers.EdDSA], algorithm);
      const verifier = create();
      await verifier.start();
      const token = await accessToken();
      assert.equal(decodeProtectedHeader(token).alg, algorithm);
      assert.equal(decodeProtectedHeader(token).typ, "at+jwt");
      const result = await verifier.verify(token);
      assert.ok(result.ok, JSON.stringify(result));
      assert.equal(result.identity.userId, "reports");
      assert.deepEqual(
        { ...result.identity.user },
        { id: "reports", role: "manager", groups: ["a", "b"], scopes: ["read"] },
      );
    });
  }

  it("verifies its ID tokens where the client is the audience, and refuses its logout tokens", async () => {
    install([signers.RS256, signers.ES256], "ES256");
    const verifier = create(CLIENT.client_id);
    await verifier.start();
    const result = await verifier.verify(await signedByProvider("idtoken"));
    assert.equal(result.ok && result.identity.userId, "alice");
    const logout = await verifier.verify(await signedByProvider("logout"));
    assert.equal(logout.ok ? undefined : logout.reason, "TOKEN_TYPE_NOT_ALLOWED");
    const foreign = await verifier.verify(await accessToken());
    assert.equal(foreign.ok ? undefined : foreign.reason, "TOKEN_AUDIENCE_MISMATCH");
  });

  it("follows a rotation without a restart", async () => {
    install([signers.RS256], "RS256");
    const verifier = create();
    await verifier.start();
    const before = await accessToken();
    assert.equal((await verifier.verify(before)).ok, true);

    install([signers.ES256, signers.RS256], "ES256");
    assert.equal((await verifier.verify(await accessToken())).ok, true, "the new key");
    assert.equal((await verifier.verify(before)).ok, true, "the old key, still published");

    install([signers.ES256], "ES256");
    const count = fetches();
    await until(() => fetches() > count + 1, "a refresh");
    const result = await verifier.verify(before);
    assert.equal(result.ok ? undefined : result.reason, "TOKEN_KEY_UNKNOWN", "the old key, withdrawn");
    assert.equal((await verifier.verify(await accessToken())).ok, true);
  });
});
