import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { requireIdentity as forExpress, type WithIdentity } from "../../../clients/node/src/express.ts";
import { requireIdentity as forFastify } from "../../../clients/node/src/fastify.ts";
import { requireIdentity as forHono, type GatehouseVariables } from "../../../clients/node/src/hono.ts";
import { TokenError, TokenVerifier } from "../../../clients/node/src/index.ts";
import { serve } from "../support/applications.ts";
import { pythonEnvironment, pythonPackages } from "./support/python-project.ts";
import { startTokenIssuer, type TokenIssuer } from "./support/token-issuer.ts";

const SOURCE = fileURLToPath(new URL("../../../clients/python/src", import.meta.url));
const SCRIPT = fileURLToPath(new URL("support/middleware.py", import.meta.url));
const INVALID = 'Bearer error="invalid_token"';

type Answer = readonly [status: number, told: string, challenge: string | null];

describe("middleware of the client libraries", () => {
  let issuer: TokenIssuer;
  /** What is sent as `Authorization`, and what is answered. */
  let cases: readonly (readonly [string | null, Answer])[];

  before(async () => {
    issuer = await startTokenIssuer();
    const now = Math.floor(Date.now() / 1000);
    const good = await issuer.token();
    const [head = "", payload = "", signature = ""] = good.split(".");
    const unsigned = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url");
    const flipped = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
    const zero = Buffer.alloc(64).toString("base64url");
    const refused = (code: string): Answer => [401, code, INVALID];
    const bearer = (token: string) => `Bearer ${token}`;
    cases = [
      [bearer(good), [200, "usr_1", null]],
      [`bearer ${good}`, [200, "usr_1", null]],
      [bearer(await issuer.token({ aud: ["other", "gatehouse"], sub: "usr_2" })), [200, "usr_2", null]],
      [null, [401, "TOKEN_MISSING", "Bearer"]],
      ["Basic dXNlcjpwYXNz", refused("TOKEN_MALFORMED")],
      [bearer(`${good}, Bearer ${good}`), refused("TOKEN_MALFORMED")],
      [bearer("gh_live_abc"), refused("TOKEN_MALFORMED")],
      [bearer(`${head}.${payload}.${flipped}`), refused("TOKEN_SIGNATURE")],
      [bearer(`${head}.${payload}.${zero}`), refused("TOKEN_SIGNATURE")],
      [bearer(`${head}.${payload}.`), refused("TOKEN_SIGNATURE")],
      [bearer(`${unsigned}.${payload}.`), refused("TOKEN_ALGORITHM")],
      [bearer(await issuer.token({}, { typ: "JWT" })), refused("TOKEN_TYPE")],
      [bearer(await issuer.token({}, { kid: "made-up" })), refused("TOKEN_KEY_UNKNOWN")],
      [bearer(await issuer.token({ iss: "https://elsewhere.example" })), refused("TOKEN_ISSUER")],
      [bearer(await issuer.token({ aud: "other" })), refused("TOKEN_AUDIENCE")],
      [bearer(await issuer.token({ exp: now - 60, iat: now - 120 })), refused("TOKEN_EXPIRED")],
      [bearer(await issuer.token({ nbf: now + 600 })), refused("TOKEN_NOT_YET_VALID")],
    ];
  });
  after(() => issuer.close());

  it("Express: only a valid access token passes", async () => {
    const app = express();
    app.use(forExpress({ verifier: new TokenVerifier({ issuer: issuer.url }) }));
    app.get("/me", (request, response) => {
      response.json({ id: (request as WithIdentity).gatehouse?.id });
    });
    const application = await serve(app);
    await check((headers) => fetch(`${application.url}/me`, { headers }));
    await application.close();
  });

  it("Fastify: only a valid access token passes", async () => {
    const app = fastify();
    await app.register(forFastify, { verifier: new TokenVerifier({ issuer: issuer.url }) });
    app.get("/me", (request) => ({ id: (request as WithIdentity).gatehouse?.id }));
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    await check((headers) => fetch(`${url}/me`, { headers }));
    await app.close();
  });

  it("Hono: only a valid access token passes", async () => {
    const app = new Hono<{ Variables: GatehouseVariables }>();
    app.use(forHono({ verifier: new TokenVerifier({ issuer: issuer.url }) }));
    app.get("/me", (context) => context.json({ id: context.get("gatehouse")?.id }));
    await check(async (headers) => app.request("/me", { headers }));
  });

  it("ASGI, Flask and Django: only a valid access token passes", async () => {
    const folders = [SOURCE, await pythonPackages("client"), await pythonPackages("middleware")];
    const sent = JSON.stringify(cases.map(([authorization]) => authorization));
    const { stdout } = await promisify(execFile)("python3", [SCRIPT, issuer.url, sent], {
      env: pythonEnvironment(...folders),
    });
    const found = JSON.parse(stdout) as Record<string, readonly Answer[]>;
    for (const name of ["asgi", "flask", "django"])
      assert.deepEqual(
        found[name],
        cases.map(([, expected]) => expected),
        name,
      );
    assert.deepEqual(found["websocket"], ["websocket.close"]);
  });

  it("without keys it says that it cannot tell, and lets nobody in", async () => {
    issuer.available = false;
    const app = new Hono<{ Variables: GatehouseVariables }>();
    app.use(forHono({ verifier: new TokenVerifier({ issuer: issuer.url }), optional: true }));
    app.get("/me", (context) => context.json({ id: context.get("gatehouse")?.id ?? "nobody" }));
    const headers = { authorization: `Bearer ${await issuer.token()}` };
    assert.equal((await app.request("/me", { headers })).status, 503);
    issuer.available = true;
    // optional: nobody passes, and a token that is not valid does not
    assert.deepEqual(await (await app.request("/me")).json(), { id: "nobody" });
    assert.equal((await app.request("/me", { headers: { authorization: "Bearer x.y.z" } })).status, 401);
  });

  it("keys are fetched for a new key id, but not again within the cooldown", async () => {
    let now = Date.now();
    const verifier = new TokenVerifier({ issuer: issuer.url, clock: () => now });
    const before = issuer.asked();
    const token = await issuer.token();
    await Promise.all([verifier.verify(token), verifier.verify(token), verifier.verify(token)]);
    assert.equal(issuer.asked() - before, 1);
    await issuer.rotate();
    const rotated = await issuer.token();
    const unknown = (error: unknown) => error instanceof TokenError && error.code === "TOKEN_KEY_UNKNOWN";
    for (let index = 0; index < 20; index += 1) await assert.rejects(verifier.verify(rotated), unknown);
    assert.equal(issuer.asked() - before, 1);
    now += 30_001;
    await verifier.verify(rotated);
    assert.equal(issuer.asked() - before, 2);
    // while the issuer does not answer, the keys from before are used, for an hour
    issuer.available = false;
    now += 290_000;
    now += 20_000;
    const later = await issuer.token({ exp: Math.floor(now / 1000) + 9_000 });
    await verifier.verify(later);
    assert.equal(issuer.asked() - before, 3);
    now += 3_700_000;
    await assert.rejects(
      verifier.verify(later),
      (error) => error instanceof TokenError && error.code === "KEYS_UNAVAILABLE",
    );
    issuer.available = true;
  });

  async function check(send: (headers: Record<string, string>) => Promise<Response>): Promise<void> {
    for (const [authorization, expected] of cases) {
      // what the gateway would set, were it there
      const headers = authorization === null ? {} : { authorization, "x-user-id": "usr_forged" };
      const response = await send(headers);
      const body = (await response.json()) as { id?: string; error?: { code: string } };
      const told = [response.status, body.id ?? body.error?.code, response.headers.get("www-authenticate")];
      assert.deepEqual(told, expected, authorization ?? "none");
    }
  }
});
