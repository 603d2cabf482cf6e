import assert from "node:assert/strict";
import { createTokenVerifier, type IdentityOptions } from "../../src/identity/index.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import {
  AUDIENCE,
  createLog,
  createSigner,
  createSubject,
  ISSUER,
  json,
  startServer,
  valueOf,
  type Signer,
  type Subject,
  type TestServer,
} from "./support.ts";

describe("identity: remembered tokens", () => {
  let signer: Signer;
  let server: TestServer;

  before(async () => {
    signer = await createSigner("ES256", "key");
    server = await startServer(json({ keys: [signer.publicJwk] }));
  });
  after(() => server.close());

  const start = async (options: Partial<IdentityOptions> = {}) => {
    const subject = createSubject({ jwks: server.origin, ...options });
    await subject.verifier.start();
    subject.verifier.close();
    return subject;
  };
  /** Unix seconds by the subject's clock. */
  const nowOf = ({ skew }: Subject) => Math.floor((Date.now() + skew) / 1000);
  const reasonOf = async ({ verifier }: Subject, token: string) => {
    const result = await verifier.verify(token);
    return result.ok ? "ok" : result.reason;
  };
  const counts = async ({ metrics }: Subject) => ({
    hits: await valueOf(metrics, "gatehouse_cache_hits_total", { cache: "tokens" }),
    misses: await valueOf(metrics, "gatehouse_cache_misses_total", { cache: "tokens" }),
    evictions: await valueOf(metrics, "gatehouse_cache_evictions_total", { cache: "tokens" }),
  });

  it("knows a token without waiting once it was verified", async () => {
    const subject = await start();
    const token = await signer.sign();
    assert.equal(subject.verifier.cached(token), undefined);
    const verified = await subject.verifier.verify(token);
    assert.equal(subject.verifier.cached(token), verified);
    assert.equal(await subject.verifier.verify(token), verified);
    assert.deepEqual(await counts(subject), { hits: 2, misses: 1, evictions: 0 });
  });

  it("goes by the whole token", async () => {
    const subject = await start();
    const token = await signer.sign();
    await subject.verifier.verify(token);
    const other = `${token.slice(0, -2)}${token.endsWith("AA") ? "BB" : "AA"}`;
    for (const near of [other, token.slice(0, -1), `${token}A`, token.toLowerCase(), ` ${token}`]) {
      assert.equal(subject.verifier.cached(near), undefined);
      assert.notEqual(await reasonOf(subject, near), "ok");
    }
  });

  it("verifies a token that several ask for at once one time", async () => {
    const subject = await start();
    const token = await signer.sign();
    const results = await Promise.all(Array.from({ length: 50 }, () => subject.verifier.verify(token)));
    assert.equal(new Set(results).size, 1);
    assert.deepEqual(await counts(subject), { hits: 0, misses: 50, evictions: 0 });
  });

  for (const tolerance of [0, 30]) {
    it(`lets a token go at the same moment as the verification, with ${tolerance} s of tolerance`, async () => {
      const options = { clockToleranceSeconds: tolerance, cacheTtlMs: 86_400_000, maxStaleMs: 86_400_000 };
      for (const fraction of [0, 0.5]) {
        const subject = await start(options);
        const exp = nowOf(subject) + 100 + fraction;
        const token = await signer.sign({ exp });
        assert.equal(await reasonOf(subject, token), "ok");
        const end = (Math.ceil(exp) + tolerance) * 1000;
        for (const [ms, expected] of [
          [end - 1, "ok"],
          [end, "TOKEN_EXPIRED"],
        ] as const) {
          subject.now = ms;
          assert.equal(subject.verifier.cached(token)?.ok, expected === "ok" || undefined);
          const fresh = await start(options);
          fresh.now = ms;
          assert.equal(await reasonOf(fresh, token), expected, `verified ${end - ms} ms before the end`);
        }
      }
    });
  }

  it("says so when a remembered token expires", async () => {
    const subject = await start();
    const token = await signer.sign({ exp: nowOf(subject) + 60 });
    assert.equal(await reasonOf(subject, token), "ok");
    subject.skew = 91_000;
    assert.equal(subject.verifier.cached(token), undefined);
    assert.equal(await reasonOf(subject, token), "TOKEN_EXPIRED");
    assert.deepEqual(subject.verifier.cached(token), {
      ok: false,
      reason: "TOKEN_EXPIRED",
      detail: "the token has expired",
    });
  });

  it("does not remember a token beyond the limit of time", async () => {
    const subject = await start({ cacheTtlMs: 5000 });
    const token = await signer.sign();
    await subject.verifier.verify(token);
    subject.skew = 4000;
    assert.equal(subject.verifier.cached(token)?.ok, true);
    subject.skew = 6000;
    assert.equal(subject.verifier.cached(token), undefined);
    assert.equal(await reasonOf(subject, token), "ok");
    assert.deepEqual(await counts(subject), { hits: 1, misses: 2, evictions: 0 });
  });

  it("does not use a remembered token before its time, when the clock is set back", async () => {
    const subject = await start();
    const token = await signer.sign({ nbf: nowOf(subject) });
    await subject.verifier.verify(token);
    subject.skew = -60_000;
    assert.equal(subject.verifier.cached(token), undefined);
    assert.equal(await reasonOf(subject, token), "TOKEN_NOT_YET_VALID");
  });

  it("does not remember that a token is not valid yet", async () => {
    const subject = await start();
    for (const early of [{ nbf: nowOf(subject) + 35 }, { iat: nowOf(subject) + 35 }]) {
      subject.skew = 0;
      const token = await signer.sign(early);
      assert.equal(await reasonOf(subject, token), "TOKEN_NOT_YET_VALID");
      subject.skew = 6000;
      assert.equal(await reasonOf(subject, token), "ok");
    }
  });

  it("remembers refused tokens for a short time", async () => {
    const subject = await start();
    const token = (await signer.sign()).replace(/.{8}$/, "AAAAAAAA");
    assert.equal(await reasonOf(subject, token), "TOKEN_SIGNATURE_INVALID");
    assert.equal(subject.verifier.cached(token)?.ok, false);
    subject.skew = 9000;
    assert.equal(subject.verifier.cached(token)?.ok, false);
    subject.skew = 11_000;
    assert.equal(subject.verifier.cached(token), undefined);
  });

  it("remembers an unknown key until it would be looked for again", async () => {
    const subject = await start();
    const token = await signer.sign({}, { kid: "unknown" });
    assert.equal(await reasonOf(subject, token), "TOKEN_KEY_UNKNOWN");
    subject.skew = 29_000;
    assert.equal(subject.verifier.cached(token)?.ok, false);
    subject.skew = 31_000;
    assert.equal(subject.verifier.cached(token), undefined);
  });

  it("does not remember what is too large, nor that keys were missing", async () => {
    const subject = await start();
    const large = "a".repeat(20_000);
    await subject.verifier.verify(large);
    assert.equal(subject.verifier.cached(large), undefined);

    const unready = createSubject({ jwks: server.origin });
    const token = await signer.sign();
    assert.equal(await reasonOf(unready, token), "IDENTITY_NOT_READY");
    await unready.verifier.start();
    unready.verifier.close();
    assert.equal(await reasonOf(unready, token), "ok");
  });

  it("pushes out the least recently used, and counts it", async () => {
    const subject = await start({ cacheSize: 2 });
    const [a, b, c] = await Promise.all(["a", "b", "c"].map((sub) => signer.sign({ sub })));
    await subject.verifier.verify(a!);
    await subject.verifier.verify(b!);
    assert.equal(subject.verifier.cached(a!)?.ok, true);
    await subject.verifier.verify(c!);
    assert.equal(subject.verifier.cached(b!), undefined);
    assert.equal(subject.verifier.cached(a!)?.ok, true);
    assert.equal((await counts(subject)).evictions, 1);
  });

  it("is bounded by bytes: long tokens leave room for fewer", async () => {
    const subject = await start({ cacheSize: 50 });
    const tokens: string[] = [];
    for (let index = 0; index < 12; index++) {
      const token = await signer.sign({ padding: "x".repeat(8_000), index });
      tokens.push(token);
      await subject.verifier.verify(token);
    }
    const kept = tokens.filter((token) => subject.verifier.cached(token)?.ok === true);
    // 200 KiB hold six tokens that weigh three times their 11,000 characters
    assert.deepEqual(kept, tokens.slice(-6));
    assert.equal((await counts(subject)).evictions, 6);
  });

  it("is bounded by bytes for refused tokens, too", async () => {
    const subject = await start({ cacheSize: 50 });
    const token = await signer.sign();
    await subject.verifier.verify(token);
    const made = Array.from({ length: 40 }, (_, index) =>
      `${token}${"A".repeat(16_000)}${index}`.slice(-16_000),
    );
    for (const bad of made) await subject.verifier.verify(bad);
    const kept = made.filter((bad) => subject.verifier.cached(bad) !== undefined);
    assert.ok(kept.length > 0 && kept.length < 14, String(kept.length));
    assert.equal(subject.verifier.cached(token)?.ok, true);
  });

  it("does not push out good tokens for bad ones", async () => {
    const subject = await start({ cacheSize: 4 });
    const token = await signer.sign();
    await subject.verifier.verify(token);
    for (let index = 0; index < 100; index++) await subject.verifier.verify(`bad-${index}`);
    assert.equal(subject.verifier.cached(token)?.ok, true);
  });

  it("refuses a token when verification itself fails, says so in the log, and tries again", async () => {
    const metrics = createMetrics();
    const log = createLog();
    let calls = -Infinity;
    const clock = () => {
      if (++calls === 3) throw new Error("no time"); // after the two that look into the cache
      return Date.now();
    };
    const verifier = createTokenVerifier(
      { issuer: ISSUER, audience: AUDIENCE, jwks: server.origin },
      { metrics, log, clock },
    );
    await verifier.start();
    verifier.close();
    const token = await signer.sign();
    calls = 0;
    const result = await verifier.verify(token);
    assert.equal(result.ok ? undefined : result.reason, "TOKEN_SIGNATURE_INVALID");
    assert.equal(log.lines.at(-1)?.message, "unexpected error while verifying a token");
    assert.equal((await verifier.verify(token)).ok, true);
  });
});
