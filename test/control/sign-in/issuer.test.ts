import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose";
import { makeAccessToken, type TokenFacts } from "../../../src/control/sign-in/issuer/access-token.ts";
import { createKeyring } from "../../../src/control/sign-in/issuer/keyring.ts";
import { wellKnownRouter } from "../../../src/control/sign-in/oauth/well-known.ts";
import type { StoredChange } from "../../../src/control/platform/unit.ts";
import { resolveOptions } from "../../../src/identity/options.ts";
import { startControl, type RunningControl } from "../../support/control.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("the issuer", () => {
  let control: RunningControl;
  let changes: StoredChange[];
  let now: number;
  beforeEach(async () => {
    now = Date.parse("2026-03-01T00:00:00Z");
    changes = [];
    control = await start();
  });
  afterEach(() => control.close());

  function start(more: Parameters<typeof startControl>[0] = {}): Promise<RunningControl> {
    return startControl({
      clock: () => now,
      settings: { signingKeySeconds: 30 * 86_400, accessTokenSeconds: 900 },
      routes: () => [],
      beside: (context, parts) => [wellKnownRouter(context, parts)],
      writers: {
        changes(_trx, added) {
          changes.push(...added);
          return Promise.resolve();
        },
      },
      ...more,
    });
  }

  const facts = (): TokenFacts => ({
    issuer: control.url,
    audience: "gatehouse",
    userId: "usr_1",
    customerId: "cus_1",
    sessionId: "ses_1",
    clientId: "key_1",
    tokenId: "jti-1",
    scope: "openid",
    amr: ["pwd"],
    acr: undefined,
    authTime: undefined,
    issuedAt: now / 1000,
    expiresAt: now / 1000 + 900,
  });
  const get = async (path: string, of = control) => {
    const answer = await fetch(`${of.url}${path}`);
    return { answer, body: (await answer.json()) as Record<string, unknown> };
  };
  const jwks = async (of = control) =>
    (await get("/.well-known/jwks.json", of)).body as unknown as JSONWebKeySet & {
      keys: Record<string, unknown>[];
    };
  const kids = async (of = control) => (await jwks(of)).keys.map(({ kid }) => kid);
  const verify = (token: string, keys: JSONWebKeySet) =>
    jwtVerify(token, createLocalJWKSet(keys), {
      issuer: control.url,
      audience: "gatehouse",
      typ: "at+jwt",
      currentDate: new Date(now),
    });

  it("publishes its metadata in both forms, and says how long a copy is good", async () => {
    for (const name of ["openid-configuration", "oauth-authorization-server"]) {
      const { answer, body } = await get(`/.well-known/${name}`);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("cache-control"), "public, max-age=300");
      assert.equal(answer.headers.get("access-control-allow-origin"), "*");
      assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
      assert.equal(body["issuer"], control.url);
      assert.equal(body["jwks_uri"], `${control.url}/.well-known/jwks.json`);
      // browsers are sent to no endpoint here: what is not served is not promised
      assert.ok(!("authorization_endpoint" in body));
      assert.deepEqual(body["id_token_signing_alg_values_supported"], ["ES256"]);
    }
  });

  it("publishes public keys alone", async () => {
    const { keys } = await jwks();
    assert.equal(keys.length, 1);
    const { kid, x, y, ...rest } = keys[0]!;
    for (const text of [kid, x, y]) assert.match(String(text), /^[\w-]{43}$/);
    assert.deepEqual(rest, { kty: "EC", crv: "P-256", alg: "ES256", use: "sig" });
  });

  it("signs what the published keys verify", async () => {
    const { token } = await makeAccessToken(await createKeyring(control.context).signingKey(), facts(), {});
    const { payload } = await verify(token, await jwks());
    assert.equal(payload.sub, "usr_1");
    const foreign = await start();
    try {
      await assert.rejects(verify(token, await jwks(foreign)), { code: "ERR_JWKS_NO_MATCHING_KEY" });
    } finally {
      await foreign.close();
    }
  });

  it("rotates: a key is published before it signs, and stays until its last token has expired", async () => {
    const keyring = createKeyring(control.context);
    const first = (await keyring.signingKey()).kid;
    const old = await makeAccessToken(await keyring.signingKey(), facts(), {});
    now += 30 * DAY - HOUR - MINUTE;
    assert.deepEqual(await kids(), [first]);
    now += 2 * MINUTE;
    const published = await kids();
    assert.equal(published.length, 2);
    const second = published[1];
    assert.equal((await keyring.signingKey()).kid, first);
    now += HOUR - 2 * MINUTE;
    assert.equal((await keyring.signingKey()).kid, first);
    const last = await makeAccessToken(await keyring.signingKey(), facts(), {});
    now += 2 * MINUTE;
    assert.equal((await keyring.signingKey()).kid, second);
    assert.deepEqual(await kids(), [first, second]);
    await verify(last.token, await jwks());
    await assert.rejects(verify(old.token, await jwks()), { code: "ERR_JWT_EXPIRED" });
    now += 900_000 + 5 * MINUTE;
    assert.deepEqual(await kids(), [second]);
    assert.deepEqual(
      changes.map(({ action, target, actor }) => [action, target.id, actor.kind]),
      [
        ["signing_key.created", first, "system"],
        ["signing_key.created", second, "system"],
        ["signing_key.removed", first, "system"],
      ],
    );
    assert.ok(!JSON.stringify(changes).includes('"d"'));
  });

  it("publishes a key before it signs after a long standstill, too", async () => {
    const keyring = createKeyring(control.context);
    const first = (await keyring.signingKey()).kid;
    now += 400 * DAY;
    assert.equal((await keyring.signingKey()).kid, first);
    assert.equal((await kids()).length, 2);
    now += HOUR;
    assert.notEqual((await keyring.signingKey()).kid, first);
  });

  it("has one set of keys, however many instances begin or rotate at once", async () => {
    const masterKey = randomBytes(32);
    const options = { database: control.database, masterKey };
    const instances = await Promise.all([1, 2, 3, 4].map(() => start(options)));
    try {
      const keyrings = instances.map(({ context }) => createKeyring(context));
      const all = async () =>
        new Set((await Promise.all(keyrings.map((ring) => ring.signingKey()))).map(({ kid }) => kid));
      assert.equal((await all()).size, 1);
      for (let round = 0; round < 3; round += 1) {
        now += 30 * DAY;
        await all();
        now += HOUR;
        assert.equal((await all()).size, 1);
        const sets = await Promise.all(instances.map((instance) => kids(instance)));
        for (const set of sets) assert.deepEqual(set, sets[0]);
        assert.equal(sets[0]?.length, 2);
      }
    } finally {
      for (const instance of instances) await instance.close();
    }
  });

  it("keeps private keys sealed", async () => {
    await jwks();
    const [row] = await control.database.db("signing_keys").select();
    assert.match(row.private_jwk, /^v1\./);
    const stranger = await start({ database: control.database, masterKey: randomBytes(32) });
    try {
      await assert.rejects(createKeyring(stranger.context).signingKey());
    } finally {
      await stranger.close();
    }
  });

  it("lets no attribute take the place of a claim", async () => {
    const key = await createKeyring(control.context).signingKey();
    const forged = Object.fromEntries(
      [
        "iss",
        "aud",
        "sub",
        "exp",
        "nbf",
        "iat",
        "jti",
        "client_id",
        "sid",
        "customer_id",
        "scope",
        "amr",
        "acr",
        "principal_type",
      ]
        .concat("auth_time", "cnf", "act", "azp", "id", "events")
        .map((name) => [name, "forged"]),
    );
    const { token } = await makeAccessToken(key, facts(), { ...forged, role: "clerk" });
    const { payload } = await verify(token, await jwks());
    assert.doesNotMatch(JSON.stringify(payload), /forged/);
    assert.deepEqual([payload.sub, payload["sid"], payload["role"]], ["usr_1", "ses_1", "clerk"]);
    assert.ok(!("auth_time" in payload) && !("acr" in payload) && !("nbf" in payload));
  });

  it("keeps tokens below 8 KB, leaves out the largest attributes whole, and says which", async () => {
    const key = await createKeyring(control.context).signingKey();
    const groups = Array.from({ length: 400 }, (_, at) => `group-${at}-ü`);
    const { token, leftOut } = await makeAccessToken(key, facts(), {
      role: "clerk",
      notes: "x".repeat(4_000),
      groups,
      permissions: ["read"],
    });
    assert.ok(token.length < 8_192, `${token.length}`);
    assert.deepEqual(leftOut, ["groups"]);
    const { payload } = await verify(token, await jwks());
    assert.deepEqual([payload["role"], payload["permissions"]], ["clerk", ["read"]]);
    assert.equal(String(payload["notes"]).length, 4_000);
  });

  it("tells of ended sessions for as long as the most tolerant gateway takes a token", () => {
    const options = { issuer: "https://idp.example", audience: "x", clockToleranceSeconds: 301 };
    assert.throws(() => resolveOptions(options), /300/);
  });
});
