import assert from "node:assert/strict";
import { ALGORITHMS, createTokenVerifier, type IdentityOptions } from "../../src/identity/index.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { createLog, createSigner, createSubject, json, startServer } from "./support.ts";

const GOOD = { issuer: "https://issuer.example", audience: "api" };

const create = (options: Partial<IdentityOptions>) => () =>
  createTokenVerifier({ ...GOOD, ...options }, { metrics: createMetrics(), log: createLog() });

describe("identity: options", () => {
  const refused: [name: string, options: Partial<IdentityOptions>][] = [
    ...[
      "none",
      "None",
      "HS256",
      "HS384",
      "HS512",
      "ES256K",
      "dir",
      "RSA-OAEP",
      "rs256",
      "",
      "constructor",
    ].map((algorithm): [string, Partial<IdentityOptions>] => [
      "algorithms",
      { algorithms: ["RS256", algorithm] },
    ]),
    ["algorithms", { algorithms: [] }],
    ["audience", { audience: "" }],
    ["audience", { audience: [] }],
    ["audience", { audience: ["api", ""] }],
    ["issuer", { issuer: "" }],
    ["issuer", { issuer: "issuer" }],
    ["issuer", { issuer: "http://issuer.example" }],
    ["issuer", { issuer: "http://127.0.0.1.example" }],
    ["issuer", { issuer: "http://localhost.example" }],
    ["issuer", { issuer: "ftp://127.0.0.1" }],
    ["issuer", { issuer: "https://user:secret@issuer.example" }],
    ["issuer", { issuer: "https://issuer.example?tenant=1" }],
    ["issuer", { issuer: "https://issuer.example#a" }],
    ["jwks", { jwks: "" }],
    ["jwks", { jwks: "http://keys.example/jwks" }],
    ["jwks", { jwks: "https://user:secret@keys.example/jwks" }],
    ["jwks", { jwks: "https://" }],
    ["clockToleranceSeconds", { clockToleranceSeconds: 301 }],
    ["clockToleranceSeconds", { clockToleranceSeconds: -1 }],
    ["clockToleranceSeconds", { clockToleranceSeconds: NaN }],
    ["clockToleranceSeconds", { clockToleranceSeconds: Infinity }],
    ["cooldownMs", { cooldownMs: 0 }],
    ["refreshIntervalMs", { refreshIntervalMs: 2 ** 31 }],
    ["maxStaleMs", { maxStaleMs: Infinity }],
    ["requestTimeoutMs", { requestTimeoutMs: 1.5 }],
    ["maxTokenBytes", { maxTokenBytes: 0 }],
    ["cacheSize", { cacheSize: 0 }],
    ["cacheTtlMs", { cacheTtlMs: -1 }],
    ["tokenTypes", { tokenTypes: [] }],
    ["claims", { claims: { "user.__proto__": "a" } }],
    ["claims", { claims: { user: "a" } }],
    ["claims", { claims: { "user.": "a" } }],
    ["claims", { claims: { "user.a.b": "a" } }],
    ["claims", { claims: { "request.path": "a" } }],
    ["claims", { claims: { "user.role": "" } }],
  ];
  for (const [name, options] of refused) {
    it(`refuses ${JSON.stringify(options, (_key, value: unknown) => (typeof value === "number" ? String(value) : value))}`, () => {
      assert.throws(
        create(options),
        (error) => error instanceof TypeError && error.message.includes(`\`${name}\``),
      );
    });
  }

  it("never repeats credentials", () => {
    assert.throws(
      create({ jwks: "https://user:secret@keys.example" }),
      (error) => !String(error).includes("secret"),
    );
  });

  it("accepts what is safe", () => {
    for (const options of [
      {},
      { issuer: "http://127.0.0.1:8080", audience: ["a", "b"] },
      { issuer: "http://localhost/realm" },
      { issuer: "http://[::1]:8080" },
      { issuer: "http://issuer.example", jwks: "./jwks.json" },
      { jwks: "http://localhost:8080/jwks" },
      { algorithms: ALGORITHMS },
      { clockToleranceSeconds: 0 },
    ]) {
      assert.doesNotThrow(create(options));
    }
  });

  it("lets one of several audiences do, and types be chosen", async () => {
    const signer = await createSigner("ES256", "key");
    const server = await startServer(json({ keys: [signer.publicJwk] }));
    const { verifier } = createSubject({ jwks: server.origin, audience: ["a", "b"], tokenTypes: ["at+JWT"] });
    await verifier.start();
    verifier.close();
    await server.close();
    const reasonOf = async (claims: object, header: object) => {
      const result = await verifier.verify(await signer.sign({ ...claims }, { ...header }));
      return result.ok ? "ok" : result.reason;
    };
    assert.equal(await reasonOf({ aud: "b" }, { typ: "at+jwt" }), "ok");
    assert.equal(await reasonOf({ aud: ["x", "a"] }, { typ: "application/AT+JWT" }), "ok");
    assert.equal(await reasonOf({ aud: "ab" }, { typ: "at+jwt" }), "TOKEN_AUDIENCE_MISMATCH");
    assert.equal(await reasonOf({ aud: "b" }, { typ: "JWT" }), "TOKEN_TYPE_NOT_ALLOWED");
    assert.equal(await reasonOf({ aud: "b" }, {}), "TOKEN_TYPE_NOT_ALLOWED");
  });
});
