import assert from "node:assert/strict";
import { createHmac, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import {
  bearer,
  startGuardedApplication,
  type GuardedApplication,
} from "../../support/upstreams/guarded-application.ts";
import { startIssuer } from "../../support/providers/issuer.ts";
import { rawGet } from "../../support/raw-http.ts";

describe("end to end: hostile tokens and bodies through Envoy", () => {
  let application: GuardedApplication;
  before(async () => {
    application = await startGuardedApplication();
  });
  after(() => application.stop());
  const send = (request: string) => application.send(request);

  describe("tokens", () => {
    const refused = async (name: string, token: string, code: string) => {
      const { status, body, passed } = await send(rawGet("/admin/x", [bearer(token)]));
      assert.deepEqual([name, status, passed], [name, 401, 0]);
      assert.ok(body.includes(code), `${name}: ${body}`);
    };
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

    it("lets the right one in", async () => {
      assert.equal(
        (await send(rawGet("/admin/x", [bearer(await application.issuer.token({ role: "admin" }))]))).status,
        200,
      );
    });

    it("refuses stale and foreign ones", async () => {
      const now = Math.floor(Date.now() / 1000);
      await refused(
        "expired",
        await application.issuer.token({ role: "admin", exp: now - 3600 }),
        "TOKEN_EXPIRED",
      );
      await refused(
        "early",
        await application.issuer.token({ role: "admin", nbf: now + 3600 }),
        "TOKEN_NOT_YET_VALID",
      );
      await refused(
        "audience",
        await application.issuer.token({ role: "admin", aud: "other" }),
        "TOKEN_AUDIENCE_MISMATCH",
      );
      await refused(
        "issuer",
        await application.issuer.token({ role: "admin", iss: "http://other.test" }),
        "TOKEN_ISSUER_MISMATCH",
      );
      const foreign = await startIssuer();
      await refused(
        "foreign key",
        await foreign.token({ role: "admin", iss: application.issuer.url }),
        "TOKEN_SIGNATURE_INVALID",
      );
      await refused(
        "unknown key",
        await foreign.token({ role: "admin", iss: application.issuer.url }, { kid: "nobody" }),
        "TOKEN_KEY_UNKNOWN",
      );
      await foreign.close();
    });

    it("refuses confused algorithms and keys that a token brings along", async () => {
      const jwk = application.issuer.publicKeys()[0]!;
      const claims = part({
        iss: application.issuer.url,
        aud: application.issuer.audience,
        sub: "u",
        role: "admin",
        exp: Math.floor(Date.now() / 1000) + 600,
      });
      const pem = createPublicKey({ key: jwk, format: "jwk" }).export({ format: "pem", type: "spki" });
      for (const secret of [pem, JSON.stringify(jwk)]) {
        const head = part({ alg: "HS256", kid: jwk.kid });
        const mac = createHmac("sha256", secret).update(`${head}.${claims}`).digest("base64url");
        await refused("HS256 by the public key", `${head}.${claims}.${mac}`, "TOKEN_ALGORITHM_NOT_ALLOWED");
      }
      for (const alg of ["none", "None", "NONE", "nOnE", ""]) {
        await refused(alg, `${part({ alg, kid: jwk.kid })}.${claims}.`, "TOKEN_");
        await refused(alg, `${part({ alg, kid: jwk.kid })}.${claims}.AAAA`, "TOKEN_");
      }
      const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const ownJwk = own.publicKey.export({ format: "jwk" });
      const head = part({
        alg: "ES256",
        kid: jwk.kid,
        jwk: ownJwk,
        jku: "http://127.0.0.1:1/jwks",
        x5u: "http://127.0.0.1:1/c",
      });
      const signature = sign("sha256", Buffer.from(`${head}.${claims}`), {
        key: own.privateKey,
        dsaEncoding: "ieee-p1363",
      });
      await refused(
        "own key",
        `${head}.${claims}.${signature.toString("base64url")}`,
        "TOKEN_SIGNATURE_INVALID",
      );
    });

    it("refuses what is no token", async () => {
      const good = await application.issuer.token({ role: "admin" });
      for (const token of [
        "x",
        "a.b",
        "a.b.c",
        `${good}.x`,
        good.slice(0, -2),
        `${good}=`,
        "null",
        "eyJhbGciOiJFUzI1NiJ9..x",
      ]) {
        await refused(token.slice(0, 20), token, "TOKEN_");
      }
    });
  });

  describe("bodies that a rule reads", () => {
    const post = (body: string, headers: readonly string[] = ["Content-Type: application/json"]) =>
      send(
        [
          "POST /orders HTTP/1.1",
          "Host: app.test",
          "Connection: close",
          ...headers,
          `Content-Length: ${body.length}`,
          "",
          body,
        ].join("\r\n"),
      );

    it("permits what the rule permits, and hands the body on unchanged", async () => {
      const body = '{ "amount" : 5.0, "text": "5.00" }';
      assert.equal((await post(body)).status, 200);
      assert.equal(application.upstream.seen.at(-1)!.body, body);
    });

    it("denies what it does not permit or cannot know", async () => {
      for (const body of ['{"amount":100}', '{"amount":"5"}', "{}", "[]", "5", '{"amount":null}']) {
        const { status, passed } = await post(body);
        assert.deepEqual([body, status, passed], [body, 403, 0]);
      }
      assert.equal((await post("amount=5", ["Content-Type: application/x-www-form-urlencoded"])).status, 403);
    });

    it("refuses bodies that can be read in two ways", async () => {
      const json = "Content-Type: application/json";
      for (const [body, headers] of [
        ['{"amount":5,"amount":500}', [json]],
        ['{"amount":5,"\\u0061mount":500}', [json]],
        ['{"amount":5', [json]],
        ['{"amount":5} {"amount":500}', [json]],
        ['{"amount":5}', [json, "Content-Encoding: gzip"]],
        ['{"amount":5,"x":"\xff"}', [json]],
        [`${"[".repeat(5000)}${"]".repeat(5000)}`, [json]],
      ] as const) {
        const { status, passed } = await post(body, headers);
        assert.deepEqual([body.slice(0, 30), status, passed], [body.slice(0, 30), 400, 0]);
      }
    });
  });
});
