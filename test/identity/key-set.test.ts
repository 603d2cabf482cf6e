import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { importKeySet, selectKeys } from "../../src/identity/key-set.ts";
import { ALGORITHMS } from "../../src/identity/index.ts";
import { createSigner, createSubject, json, startServer, type Signer, type TestServer } from "./support.ts";

const ALL = new Set(ALGORITHMS);

describe("identity: which keys are used", () => {
  let ec: Signer;
  let rsa: Signer;
  let server: TestServer;

  before(async () => {
    [ec, rsa] = await Promise.all([createSigner("ES256", "ec"), createSigner("RS256", "rsa")]);
    server = await startServer(json({ keys: [] }));
  });
  after(() => server.close());

  const without = (jwk: object, ...names: string[]) =>
    Object.fromEntries(Object.entries(jwk).filter(([name]) => !names.includes(name)));

  const verify = async (keys: readonly object[], token: string) => {
    server.respond = json({ keys });
    const { verifier } = createSubject({ jwks: server.origin });
    await verifier.start();
    verifier.close();
    const result = await verifier.verify(token);
    return result.ok ? "ok" : result.reason;
  };

  for (const algorithm of ALGORITHMS) {
    it(`verifies ${algorithm}`, async () => {
      const signer = await createSigner(algorithm, "key");
      assert.equal(await verify([signer.publicJwk], await signer.sign()), "ok");
      const bare = without(signer.publicJwk, "alg", "use");
      assert.equal(await verify([bare], await signer.sign()), "ok", "by type and curve");
    });
  }

  const rejected: Record<string, (jwk: object) => object> = {
    "for encryption": (jwk) => ({ ...jwk, use: "enc" }),
    "whose operations are others": (jwk) => ({ ...jwk, key_ops: ["encrypt"] }),
    "whose operations are no list": (jwk) => ({ ...jwk, key_ops: "verify" }),
    "for another algorithm": (jwk) => ({ ...jwk, alg: "ES384" }),
    "for an algorithm that is no name": (jwk) => ({ ...jwk, alg: 256 }),
    "whose alg is symmetric": (jwk) => ({ ...jwk, alg: "HS256" }),
    "of another type": (jwk) => ({ ...jwk, kty: "RSA" }),
    "on another curve": (jwk) => ({ ...jwk, crv: "P-384", alg: undefined }),
    "off its curve": (jwk) => ({ ...jwk, x: "AAAA" }),
    "without coordinates": (jwk) => without(jwk, "y"),
    "whose kid is a number": (jwk) => ({ ...jwk, kid: 7 }),
    "with private parts": () => ec.privateJwk,
    "with a secret beside it": (jwk) => ({ ...jwk, k: "c2VjcmV0" }),
    "that is symmetric": () => ({ kty: "oct", k: "c2VjcmV0", kid: "ec" }),
  };
  for (const [what, change] of Object.entries(rejected)) {
    it(`does not use a key ${what}`, async () => {
      assert.equal(await verify([change(ec.publicJwk), rsa.publicJwk], await ec.sign()), "TOKEN_KEY_UNKNOWN");
    });
  }

  it("uses a key whose operations include verify", async () => {
    assert.equal(await verify([{ ...ec.publicJwk, key_ops: ["verify"] }], await ec.sign()), "ok");
  });

  it("does not use RSA keys under 2048 bits, nor with an exponent of 1", async () => {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const weak = { ...publicKey.export({ format: "jwk" }), kid: "weak" };
    const trivial = { ...rsa.publicJwk, e: "AQ", kid: "trivial" };
    const { keys, suspicious } = await importKeySet({ keys: [weak, trivial, rsa.publicJwk] }, ALL);
    assert.deepEqual(
      keys.map(({ id }) => id),
      ["rsa"],
    );
    assert.deepEqual(suspicious.length, 2);
  });

  it("warns of keys that should not be published, without their content", async () => {
    server.respond = json({
      keys: [
        ec.publicJwk,
        ec.privateJwk,
        { kty: "oct", k: "c2VjcmV0" },
        "key",
        { ...rsa.publicJwk, use: "enc" },
      ],
    });
    const { verifier, log } = createSubject({ jwks: server.origin });
    await verifier.start();
    verifier.close();
    const warnings = log.lines.filter(({ level }) => level === "warn");
    assert.deepEqual(warnings, [
      {
        level: "warn",
        fields: {
          source: `${server.origin}/`,
          ignored: ["key 2: contains private parts", "key 3: is symmetric", "key 4: is not an object"],
        },
        message: "ignored unusable keys of the issuer",
      },
    ]);
  });

  it("finds the key of a token without kid only where there is no choice", async () => {
    const token = await ec.sign({}, { kid: undefined });
    const other = await createSigner("ES256", "other");
    assert.equal(await verify([ec.publicJwk, rsa.publicJwk], token), "ok");
    assert.equal(await verify([without(ec.publicJwk, "kid"), rsa.publicJwk], token), "ok");
    assert.equal(await verify([ec.publicJwk, other.publicJwk], token), "TOKEN_KEY_UNKNOWN");
    assert.equal(await verify([rsa.publicJwk], token), "TOKEN_KEY_UNKNOWN");
  });

  it("does not take a key without kid for one that is named", async () => {
    assert.equal(await verify([without(ec.publicJwk, "kid")], await ec.sign()), "TOKEN_KEY_UNKNOWN");
  });

  it("tries each of several keys of one name", async () => {
    const twin = await createSigner("ES256", "ec");
    const stranger = await createSigner("ES256", "ec");
    for (const signer of [ec, twin]) {
      assert.equal(await verify([ec.publicJwk, twin.publicJwk], await signer.sign()), "ok");
    }
    assert.equal(
      await verify([ec.publicJwk, twin.publicJwk], await stranger.sign()),
      "TOKEN_SIGNATURE_INVALID",
    );
    assert.equal(
      await verify([ec.publicJwk, twin.publicJwk], await twin.sign({ aud: "x" })),
      "TOKEN_AUDIENCE_MISMATCH",
    );
  });

  it("counts a key that is listed twice once, and compares sets by what is usable in them", async () => {
    const once = await importKeySet({ keys: [ec.publicJwk, { kty: "oct", k: "AA" }] }, ALL);
    const twice = await importKeySet({ keys: [ec.publicJwk, { ...ec.publicJwk, x5t: "AA" }] }, ALL);
    assert.equal(twice.keys.length, 1);
    assert.equal(once.fingerprint, twice.fingerprint);
    assert.equal(selectKeys(twice, { algorithm: "ES256", keyId: undefined }).length, 1);
  });

  it("refuses algorithms that are known and not configured", async () => {
    server.respond = json({ keys: [ec.publicJwk, rsa.publicJwk] });
    const { verifier } = createSubject({ jwks: server.origin, algorithms: ["ES256"] });
    await verifier.start();
    verifier.close();
    assert.equal(verifier.status().keys, 1);
    assert.equal((await verifier.verify(await ec.sign())).ok, true);
    const result = await verifier.verify(await rsa.sign());
    assert.equal(result.ok ? undefined : result.reason, "TOKEN_ALGORITHM_NOT_ALLOWED");
  });
});
