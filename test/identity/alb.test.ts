import assert from "node:assert/strict";
import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { createAlbVerifier, type AlbOptions } from "../../src/identity/index.ts";
import { readAlbSigner } from "../../src/identity/alb-signer.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { AUDIENCE, createLog, ISSUER, startServer, type TestServer } from "./support.ts";

const ARN = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/app/my-app/0123456789abcdef";
const OTHER = ARN.replace("123456789012", "999999999999");
const KID = "12345678-1234-1234-1234-123456789012";
const padded = (text: string) => {
  const plain = Buffer.from(text).toString("base64url");
  return plain.padEnd(Math.ceil(plain.length / 4) * 4, "=");
};

describe("identity: tokens of AWS load balancers", () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  let keys: Record<string, string | number>;
  let server: TestServer;
  before(async () => {
    server = await startServer((request, response) => {
      const key = keys[request.url ?? ""] ?? 404;
      if (typeof key === "number") response.statusCode = key;
      response.end(typeof key === "string" ? key : "");
    });
  });
  after(() => server.close());
  beforeEach(() => {
    keys = { [`/${KID}`]: pem(pair.publicKey) };
    server.requests.length = 0;
  });
  const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
  const soon = () => Math.floor(Date.now() / 1000) + 120;

  const tokenOf = (
    header: object = {},
    payload: object = {},
    { pad = padded, key = pair.privateKey } = {},
  ) => {
    const head = { typ: "JWT", kid: KID, alg: "ES256", iss: ISSUER, client: "c-1", signer: ARN, exp: soon() };
    const claims = { sub: "u-1", email: "a@b.example", username: "u-1", exp: soon(), iss: ISSUER };
    const signed = `${pad(JSON.stringify({ ...head, ...header }))}.${pad(JSON.stringify({ ...claims, ...payload }))}`;
    const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
    return `${signed}.${pad === padded ? `${signature.toString("base64url")}==` : signature.toString("base64url")}`;
  };
  let skew = 0;
  const create = (options: Partial<AlbOptions> = {}, clock = () => Date.now() + skew) =>
    createAlbVerifier(
      { signers: [ARN], keysUrl: server.origin, ...options },
      { issuer: ISSUER, audience: AUDIENCE },
      { metrics: createMetrics(), log: createLog(), clock },
    );
  const reasonOf = async (token: string, verifier = create()) => {
    const result = await verifier.verify(token);
    return result.ok ? result.identity.userId : result.reason;
  };

  it("are accepted as AWS writes them, padded, and without padding", async () => {
    const verifier = create();
    const result = await verifier.verify(tokenOf());
    assert.ok(result.ok);
    assert.deepEqual({ ...result.identity.user }, { id: "u-1", email: "a@b.example" });
    const plain = (text: string) => Buffer.from(text).toString("base64url");
    assert.equal(await reasonOf(tokenOf({}, {}, { pad: plain }), verifier), "u-1");
    assert.deepEqual(server.requests, [`/${KID}`]);
  });

  const hostile: Record<string, [expected: string, token: () => string]> = {
    "of another load balancer, whose keys are the same": [
      "TOKEN_ISSUER_MISMATCH",
      () => tokenOf({ signer: OTHER }),
    ],
    "without a signer": ["TOKEN_ISSUER_MISMATCH", () => tokenOf({ signer: undefined })],
    "with a list of signers": ["TOKEN_ISSUER_MISMATCH", () => tokenOf({ signer: [OTHER, ARN] })],
    "of another region": [
      "TOKEN_ISSUER_MISMATCH",
      () => tokenOf({ signer: ARN.replace("eu-central-1", "us-east-1") }),
    ],
    "of another issuer": ["TOKEN_ISSUER_MISMATCH", () => tokenOf({ iss: "https://evil.example" })],
    "of another issuer by its payload": [
      "TOKEN_ISSUER_MISMATCH",
      () => tokenOf({}, { iss: "https://evil.example" }),
    ],
    "without a signature": ["TOKEN_ALGORITHM_NOT_ALLOWED", () => tokenOf({ alg: "none" })],
    "by an HMAC with the public key": ["TOKEN_ALGORITHM_NOT_ALLOWED", () => tokenOf({ alg: "HS256" })],
    "by another algorithm": ["TOKEN_ALGORITHM_NOT_ALLOWED", () => tokenOf({ alg: "RS256" })],
    "with an extension": ["TOKEN_MALFORMED", () => tokenOf({ crit: ["exp"] })],
    "that has expired": ["TOKEN_EXPIRED", () => tokenOf({ exp: soon() - 300 })],
    "that has expired by its payload": ["TOKEN_EXPIRED", () => tokenOf({}, { exp: soon() - 300 })],
    "that never expires": ["TOKEN_CLAIMS_INVALID", () => tokenOf({ exp: undefined })],
    "that expires at no time": ["TOKEN_CLAIMS_INVALID", () => tokenOf({}, { exp: "never" })],
    "without a subject": ["TOKEN_CLAIMS_INVALID", () => tokenOf({}, { sub: undefined })],
    "bound to a key": ["TOKEN_PROOF_REQUIRED", () => tokenOf({}, { cnf: { jkt: "k" } })],
    "signed by somebody else": [
      "TOKEN_SIGNATURE_INVALID",
      () =>
        tokenOf({}, {}, { pad: padded, key: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey }),
    ],
    "with another payload": [
      "TOKEN_SIGNATURE_INVALID",
      () => tokenOf().replace(/\.[^.]+\./, `.${padded(JSON.stringify({ sub: "admin", exp: soon() }))}.`),
    ],
    "with a signature in DER": [
      "TOKEN_MALFORMED",
      () => `${tokenOf().split(".").slice(0, 2).join(".")}.${padded("x".repeat(70))}`,
    ],
    "with half of its padding": ["TOKEN_MALFORMED", () => tokenOf().replace(/==$/, "=")],
    "with a fourth part": ["TOKEN_MALFORMED", () => `${tokenOf()}.x`],
    "that names a key twice": [
      "TOKEN_MALFORMED",
      () => tokenOf().replace(/^[^.]+/, padded(`{"kid":"a","kid":"${KID}","alg":"ES256"}`)),
    ],
  };
  for (const [what, [expected, token]] of Object.entries(hostile))
    it(`are refused ${what}`, async () => {
      assert.equal(await reasonOf(token()), expected);
    });

  it("choose no address by their key's name", async () => {
    const names = [
      ...[
        "../../evil",
        "..%2f..%2fevil",
        `${KID}/../x`,
        `${KID}?x`,
        `${KID}#x`,
        `@evil.example/${KID}`,
        "//evil.example",
      ],
      ...[KID.toUpperCase().replace("1", "A"), `${KID}\n`, "", 7, null, undefined, [KID]],
    ];
    for (const kid of names) assert.equal(await reasonOf(tokenOf({ kid })), "TOKEN_MALFORMED", String(kid));
    assert.deepEqual(server.requests, []);
    const url = readAlbSigner(ARN).keyUrl(KID).href;
    assert.equal(url, `https://public-keys.auth.elb.eu-central-1.amazonaws.com/${KID}`);
    const gov = readAlbSigner(ARN.replace("aws", "aws-us-gov").replace("eu-central-1", "us-gov-west-1"));
    assert.equal(
      gov.keyUrl(KID).href,
      `https://s3-us-gov-west-1.amazonaws.com/aws-elb-public-keys-prod-us-gov-west-1/${KID}`,
    );
    for (const arn of [
      ...["", "arn:aws:iam::123456789012:role/x", ARN.replace("eu-central-1", "evil.example/")],
      ...[ARN.replace("/app/", "/net/"), `${ARN}/x`, `${ARN}\n`],
    ])
      assert.throws(() => readAlbSigner(arn), TypeError, arn);
  });

  it("name a configured client, where clients are configured", async () => {
    const verifier = create({ clients: ["c-2"] });
    assert.equal(await reasonOf(tokenOf(), verifier), "TOKEN_AUDIENCE_MISMATCH");
    assert.equal(await reasonOf(tokenOf({ client: ["c-2"] }), verifier), "TOKEN_AUDIENCE_MISMATCH");
    assert.equal(await reasonOf(tokenOf({ client: "c-2" }), verifier), "u-1");
  });

  it("need a key on P-256 in PEM, which is not sought elsewhere", async () => {
    const other = generateKeyPairSync("ec", { namedCurve: "P-384" });
    for (const key of [
      pem(other.publicKey),
      "{}",
      pem(generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey),
      500,
    ]) {
      keys[`/${KID}`] = key;
      assert.equal(await reasonOf(tokenOf()), "IDENTITY_NOT_READY");
    }
    for (const status of [403, 404]) {
      keys[`/${KID}`] = status;
      assert.equal(await reasonOf(tokenOf()), "TOKEN_KEY_UNKNOWN");
    }
    const answer = server.respond;
    server.respond = (_request, response) => response.writeHead(302, { location: "/elsewhere" }).end();
    assert.equal(await reasonOf(tokenOf()), "IDENTITY_NOT_READY");
    server.respond = answer;
    assert.ok(!server.requests.includes("/elsewhere"));
  });

  it("cause few requests, however many keys they make up, and are cached until they expire", async () => {
    const verifier = create();
    const good = tokenOf();
    await Promise.all([verifier.verify(good), verifier.verify(good)]);
    for (let index = 10; index < 50; index += 1)
      await verifier.verify(tokenOf({ kid: KID.replace(/^../, String(index)) }));
    assert.equal(server.requests.length, 10);
    assert.equal(verifier.cached(good)?.ok, true);
    skew = 200_000;
    assert.equal(verifier.cached(good), undefined);
    assert.equal(await reasonOf(good, verifier), "TOKEN_EXPIRED");
    skew = 0;
  });

  it("of one network, with keys that are made up, do not keep those of others from a new key", async () => {
    const now = Date.now();
    const verifier = create({}, () => now);
    const ofKey = (prefix: number) => tokenOf({ kid: KID.replace(/^../, String(prefix)) });
    for (let index = 20; index < 60; index += 1) await verifier.verify(ofKey(index), "203.0.113.7");
    assert.equal(server.requests.length, 10);
    const refused = await verifier.verify(tokenOf(), "203.0.113.7");
    assert.equal(refused.ok ? "" : refused.reason, "IDENTITY_NOT_READY");
    assert.equal((await verifier.verify(tokenOf(), "2001:db8:0:1")).ok, true);
  });

  it("cause few requests in total, from however many networks they come", async () => {
    // the budget grows with time
    const now = Date.now();
    const verifier = create({}, () => now);
    for (let index = 200; index < 400; index += 1)
      await verifier.verify(tokenOf({ kid: KID.replace(/^.../, String(index)) }), `203.0.113.${index}`);
    assert.equal(server.requests.length, 100);
  });
});
