import assert from "node:assert/strict";
import { createHmac, createPublicKey } from "node:crypto";
import { UnsecuredJWT } from "jose";
import type { IdentityFailure } from "../../src/identity/index.ts";
import {
  AUDIENCE,
  createSigner,
  createSubject,
  encode,
  goodClaims,
  json,
  signText,
  startServer,
  type Signer,
  type Subject,
  type TestServer,
} from "./support.ts";

const now = () => Math.floor(Date.now() / 1000);

type Row = readonly [what: string, token: () => Promise<string> | string];

describe("identity: every failure has its own code", () => {
  let rsa: Signer;
  let ec: Signer;
  let stranger: Signer;
  let server: TestServer;
  let subject: Subject;

  before(async () => {
    [rsa, ec, stranger] = await Promise.all([
      createSigner("RS256", "rsa"),
      createSigner("ES256", "ec"),
      createSigner("ES256", "ec"),
    ]);
    server = await startServer(json({ keys: [rsa.publicJwk, ec.publicJwk] }));
    subject = createSubject({ jwks: `${server.origin}/keys` });
    await subject.verifier.start();
  });
  after(async () => {
    subject.verifier.close();
    await server.close();
  });

  /** A token with one segment replaced. */
  const patched = async (index: 0 | 1 | 2, patch: (segment: string) => string) => {
    const segments = (await ec.sign()).split(".");
    segments[index] = patch(segments[index]!);
    return segments.join(".");
  };
  const unsigned = (header: object, signature = "") =>
    `${encode(JSON.stringify(header))}.${encode(JSON.stringify(goodClaims()))}.${signature}`;
  const text = (payload: string) => signText(ec, payload);
  const claimsText = (extra: string) => `${JSON.stringify(goodClaims()).slice(0, -1)},${extra}}`;
  const ecHeader = (extra: string) => encode(`{"alg":"ES256","kid":"ec",${extra}}`);

  const failures = {
    TOKEN_TOO_LARGE: [
      ["longer than the limit, though signed", () => ec.sign({ padding: "x".repeat(17 * 1024) })],
      ["endless", () => "a".repeat(1_000_000)],
    ],
    TOKEN_MALFORMED: [
      ["empty", () => ""],
      ["a word", () => "secret"],
      ["two segments", () => patched(2, () => "").then((token) => token.slice(0, -1))],
      ["four segments", () => ec.sign().then((token) => `${token}.AAAA`)],
      ["five segments (encrypted)", () => `${ecHeader('"enc":"A256GCM"')}.a.b.c.d`],
      ["no signature", () => patched(2, () => "")],
      ["padded", () => patched(2, (segment) => `${segment}==`)],
      ["base64 instead of base64url", () => patched(1, (segment) => `${segment.slice(0, -1)}+`)],
      [
        "a line break in the payload",
        () => patched(1, (segment) => `${segment.slice(0, 4)}\n${segment.slice(4)}`),
      ],
      ["another spelling of the same signature", () => patched(2, respell)],
      ["a header that is not JSON", () => patched(0, () => encode("alg=ES256"))],
      ["a header that is a list", () => patched(0, () => encode('["ES256"]'))],
      [
        "a header that is not UTF-8",
        () => patched(0, () => encode(Buffer.from('{"alg":"ES256","kid":"ec","x":"\xff"}', "latin1"))),
      ],
      ["a header with a byte order mark", () => patched(0, () => encode('\ufeff{"alg":"ES256","kid":"ec"}'))],
      ["a header with a repeated member", () => patched(0, () => ecHeader('"alg":"ES256"'))],
      ["a kid that is a number", () => ec.sign({}, { kid: 7 })],
      ["a kid that is null", () => ec.sign({}, { kid: null })],
      [
        "crit with an extension nobody knows",
        () => ec.sign({}, { crit: ["x-gatehouse"], "x-gatehouse": true }),
      ],
      ["crit that is empty", () => signText(ec, JSON.stringify(goodClaims()), { crit: [] })],
      ["a payload that is not encoded (RFC 7797)", () => signText(ec, "{}", { crit: ["b64"], b64: false })],
      ["a payload that is not JSON", () => text("alice")],
      ["a payload that is a list", () => text("[]")],
      ["a payload that is null", () => text("null")],
      ["a payload that is not UTF-8", () => signText(ec, Buffer.from(claimsText('"x":"\xff"'), "latin1"))],
      ["a payload with a byte order mark", () => text(`\ufeff${JSON.stringify(goodClaims())}`)],
      ["a repeated claim", () => text(claimsText('"sub":"mallory"'))],
      ["a repeated claim, once escaped", () => text(claimsText('"s\\u0075b":"mallory"'))],
      ["a repeated member inside a claim", () => text(claimsText('"realm":{"a":1,"a":2}'))],
      ["a repeated __proto__", () => text(claimsText('"__proto__":{},"__proto__":{}'))],
      ["nested too deep", () => text(claimsText(`"deep":${"[".repeat(40)}${"]".repeat(40)}`))],
    ],
    TOKEN_ALGORITHM_NOT_ALLOWED: [
      ["none", () => new UnsecuredJWT(goodClaims()).encode()],
      ...["none", "None", "NONE", "nOnE", "", " none", "none "].map((alg): Row => [
        `alg ${JSON.stringify(alg)}`,
        () => unsigned({ alg, kid: "ec" }),
      ]),
      ["none with a signature", () => unsigned({ alg: "none" }, "AAAA")],
      ["no alg", () => unsigned({ kid: "ec" })],
      ["alg null", () => unsigned({ alg: null })],
      ["a list as alg", () => unsigned({ alg: ["ES256"] })],
      [
        "alg in another case",
        () => ec.sign().then((token) => token.replace(/^[^.]+/, encode('{"alg":"es256"}'))),
      ],
      ["an algorithm from the prototype", () => unsigned({ alg: "constructor" }, "AAAA")],
      ...["HS256", "HS384", "HS512"].map((alg): Row => [
        `${alg} signed with the public key as PEM`,
        () => confused(alg),
      ]),
      ["HS256 signed with the public key as JWK", () => hmac("HS256", JSON.stringify(rsa.publicJwk))],
      ["HS256 signed with nothing", () => hmac("HS256", "")],
      ["ES256K", () => unsigned({ alg: "ES256K", kid: "ec" }, "AAAA")],
    ],
    TOKEN_TYPE_NOT_ALLOWED: [
      ...["dpop+jwt", "logout+jwt", "secevent+jwt", "application/dpop+jwt", "application/JWT/x"].map(
        (typ): Row => [`typ ${typ}`, () => ec.sign({}, { typ })],
      ),
      ["a typ that is no string", () => ec.sign({}, { typ: 7 })],
      ["a typ that is null", () => ec.sign({}, { typ: null })],
    ],
    TOKEN_KEY_UNKNOWN: [
      ["a kid nobody has", () => ec.sign({}, { kid: "nobody" })],
      ["an empty kid", () => ec.sign({}, { kid: "" })],
      ["the kid of a key of another type", () => ec.sign({}, { kid: "rsa" })],
      [
        "another algorithm than the key's own",
        () => createSigner("RS512", "rsa").then((other) => other.sign()),
      ],
      ["PS256 with a key for RS256", () => createSigner("PS256", "rsa").then((other) => other.sign())],
      [
        "no kid, and no key for the algorithm",
        () => createSigner("EdDSA", "x").then((other) => other.sign({}, { kid: undefined })),
      ],
    ],
    TOKEN_SIGNATURE_INVALID: [
      ["signed by another key", () => stranger.sign()],
      ["a changed payload", () => patched(1, () => encode(JSON.stringify(goodClaims({ sub: "admin" }))))],
      ["a changed header", () => patched(0, () => ecHeader('"typ":"JWT"'))],
      ["an empty ECDSA signature of zeros", () => patched(2, () => encode(Buffer.alloc(64)))],
      ["a short signature", () => patched(2, () => "AAAA")],
      ["its own key in jwk", () => stranger.sign({}, { jwk: stranger.publicJwk })],
      ["an address of its own keys in jku", () => stranger.sign({}, { jku: `${server.origin}/stranger` })],
      ["an address of a certificate in x5u", () => stranger.sign({}, { x5u: `${server.origin}/stranger` })],
      ["a certificate in x5c", () => stranger.sign({}, { x5c: ["MIIB"] })],
    ],
    TOKEN_ISSUER_MISMATCH: [
      ["another issuer", () => ec.sign({ iss: "https://evil.example" })],
      ["a longer issuer", () => ec.sign({ iss: "https://issuer.example/" })],
      ["the issuer in another case", () => ec.sign({ iss: "https://ISSUER.example" })],
      ["a list with the issuer", () => ec.sign({ iss: ["https://issuer.example"] })],
    ],
    TOKEN_AUDIENCE_MISMATCH: [
      ["another audience", () => ec.sign({ aud: "https://other.example" })],
      ["a list of others", () => ec.sign({ aud: ["a", "b"] })],
      ["an empty list", () => ec.sign({ aud: [] })],
      ["a part of the audience", () => ec.sign({ aud: "https://api" })],
      ["an object with the audience", () => ec.sign({ aud: { 0: AUDIENCE } })],
    ],
    TOKEN_EXPIRED: [
      ["a minute ago", () => ec.sign({ exp: now() - 60 })],
      ["just beyond the tolerance", () => ec.sign({ exp: now() - 30 })],
      ["in 1970", () => ec.sign({ exp: 0 })],
      ["before time", () => ec.sign({ exp: -1 })],
    ],
    TOKEN_PROOF_REQUIRED: [
      ["bound to a DPoP key", () => ec.sign({ cnf: { jkt: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" } })],
      [
        "bound to a client certificate",
        () => ec.sign({ cnf: { "x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9" } }),
      ],
      ["bound to a key in full", () => ec.sign({ cnf: { jwk: stranger.publicJwk } })],
      ["bound to a key by name", () => ec.sign({ cnf: { kid: "ec" } })],
      ...[null, {}, [], "", "none", false, 0, { jkt: null }, { unknown: 1 }].map((cnf): Row => [
        `cnf ${JSON.stringify(cnf)}`,
        () => ec.sign({ cnf }),
      ]),
      ["cnf in a value that is left out", () => text(claimsText('"cnf":[1e999]'))],
      ["cnf that is left out itself", () => text(claimsText('"cnf":12345678901234567890123'))],
      ["cnf spelled with an escape", () => text(claimsText('"\\u0063nf":{}'))],
    ],
    TOKEN_NOT_YET_VALID: [
      ["nbf in the future", () => ec.sign({ nbf: now() + 60 })],
      ["iat in the future", () => ec.sign({ iat: now() + 60 })],
    ],
    TOKEN_CLAIMS_INVALID: [
      ...["iss", "aud", "exp", "sub"].map((name): Row => [
        `no ${name}`,
        () => ec.sign({ [name]: undefined }),
      ]),
      ["exp as text", () => ec.sign({ exp: String(now() + 600) })],
      ["exp null", () => ec.sign({ exp: null })],
      ["exp without end", () => text(claimsText("").replace(/"exp":\d+,\}$/, '"exp":1e999}'))],
      ["exp after the last date", () => ec.sign({ exp: 1e15 })],
      ["nbf as text", () => ec.sign({ nbf: "0" })],
      ["iat as text", () => ec.sign({ iat: "0" })],
      ["iat null", () => ec.sign({ iat: null })],
      ["sub as a number", () => ec.sign({ sub: 42 })],
      ["sub as a list", () => ec.sign({ sub: ["alice"] })],
      ["sub null", () => ec.sign({ sub: null })],
      ["sub empty", () => ec.sign({ sub: "" })],
      ["sub with a line break", () => ec.sign({ sub: "alice\r\nx-user-role: admin" })],
      ["sub with NUL", () => ec.sign({ sub: "alice\u0000" })],
      ["sub with a C1 control", () => ec.sign({ sub: "alice\u0085" })],
      [
        "sub with half a surrogate pair",
        () =>
          text(`{"iss":"https://issuer.example","aud":"${AUDIENCE}","exp":${now() + 60},"sub":"\\ud800"}`),
      ],
    ],
  } satisfies Partial<Record<IdentityFailure, readonly Row[]>>;

  for (const [reason, rows] of Object.entries(failures)) {
    describe(reason, () => {
      for (const [what, token] of rows) {
        it(what, async () => {
          const text = await token();
          const before = server.requests.length;
          const result = await subject.verifier.verify(text);
          assert.ok(!result.ok);
          const { detail } = result;
          assert.equal(result.reason, reason, detail);
          assert.match(detail, /^[\x20-\x7e]{5,120}$/);
          for (const part of text.split(".").filter((segment) => segment.length > 8)) {
            assert.ok(!detail.includes(part), "the detail holds a part of the token");
          }
          assert.deepEqual(
            server.requests.slice(before).filter((path) => path !== "/keys"),
            [],
            "an address was taken from the token",
          );
        });
      }
    });
  }

  it("IDENTITY_NOT_READY: no key was ever loaded", async () => {
    const { verifier } = createSubject({ jwks: `${server.origin}/keys` });
    assert.equal(verifier.ready(), false);
    const result = await verifier.verify(await ec.sign());
    assert.equal(result.ok ? undefined : result.reason, "IDENTITY_NOT_READY");
    assert.equal(verifier.cached(await ec.sign()), undefined);
  });

  it("what is malformed is so without keys", async () => {
    const { verifier } = createSubject({ jwks: `${server.origin}/keys` });
    const result = await verifier.verify("secret");
    assert.equal(result.ok ? undefined : result.reason, "TOKEN_MALFORMED");
  });

  it("never writes a token to the log", async () => {
    const written = JSON.stringify(subject.log.lines);
    assert.ok(!written.includes((await ec.sign()).split(".")[0]!));
  });

  function confused(alg: string): string {
    const pem = createPublicKey({ key: rsa.publicJwk, format: "jwk" }).export({
      type: "spki",
      format: "pem",
    });
    return hmac(alg, pem);
  }

  function hmac(alg: string, secret: string | Buffer): string {
    const input = `${encode(JSON.stringify({ alg, kid: "rsa", typ: "JWT" }))}.${encode(JSON.stringify(goodClaims()))}`;
    return `${input}.${createHmac(`sha${alg.slice(2)}`, secret)
      .update(input)
      .digest("base64url")}`;
  }
});

/** Changes the bits of the last character that stand for nothing: 64 bytes leave four of them in 86 characters. */
function respell(segment: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(segment.at(-1)!);
  const other = `${segment.slice(0, -1)}${alphabet[last + 1]!}`;
  assert.deepEqual(Buffer.from(other, "base64url"), Buffer.from(segment, "base64url"));
  return other;
}
