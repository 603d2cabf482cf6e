import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import express, { type NextFunction, type Request, type Response as ExpressResponse } from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { requireIdentity as forExpress, type WithIdentity } from "../../../clients/node/src/express.ts";
import { requireIdentity as forFastify } from "../../../clients/node/src/fastify.ts";
import { requireIdentity as forHono, type GatehouseVariables } from "../../../clients/node/src/hono.ts";
import { TokenVerifier } from "../../../clients/node/src/index.ts";
import { express4, serve } from "../support/applications.ts";
import { forgedTokens } from "./support/forged-tokens.ts";
import { pythonEnvironment, pythonPackages } from "./support/python-project.ts";
import { startTokenIssuer, type TokenIssuer } from "./support/token-issuer.ts";

const SOURCE = fileURLToPath(new URL("../../../clients/python/src", import.meta.url));
const SCRIPT = fileURLToPath(new URL("support/middleware.py", import.meta.url));
const INVALID = 'Bearer error="invalid_token"';

type Answer = readonly [status: number, told: string, challenge: string | null];

describe("middleware of the client libraries", () => {
  let issuer: TokenIssuer;
  let verifier: TokenVerifier;
  /** What is sent as `Authorization`, and what is answered. */
  let cases: readonly (readonly [string | null, Answer])[];

  before(async () => {
    issuer = await startTokenIssuer();
    verifier = new TokenVerifier({ issuer: issuer.url });
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
      ...(await forgedTokens(issuer)).map(([token, code]) => [bearer(token), refused(code)] as const),
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
    assert.deepEqual(found["elsewhere"], [200, 401]);
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

  it("two Authorization headers are refused, whichever is good", async () => {
    const good = `Bearer ${await issuer.token()}`;
    const app = express();
    app.use(forExpress({ verifier, optional: true }));
    app.get("/me", (_request, response) => {
      response.json({});
    });
    const application = await serve(app);
    for (const authorization of [
      [good, good],
      ["", good],
      [good, ""],
    ])
      assert.equal(await statusOf(application.url, authorization), 401);
    assert.equal(await statusOf(application.url, [good]), 200);
    await application.close();
  });

  it("Express 4: an error of the application's own function is the application's to handle", async () => {
    const app = express4();
    const token = () => {
      throw new Error("no cookies here");
    };
    app.use(forExpress({ verifier, token }));
    app.use((error: Error, _request: Request, response: ExpressResponse, next: NextFunction) => {
      if (response.headersSent) next(error);
      response.status(500).json({ told: error.message });
    });
    const application = await serve(app);
    const answer = await fetch(`${application.url}/me`);
    assert.deepEqual([answer.status, await answer.json()], [500, { told: "no cookies here" }]);
    await application.close();
  });

  it("Fastify: inject, and HTTP/2", async () => {
    const good = `Bearer ${await issuer.token()}`;
    const build = async (options: object) => {
      const app = fastify(options);
      await app.register(forFastify, { verifier });
      app.get("/me", (request) => ({ id: (request as WithIdentity).gatehouse?.id }));
      return app;
    };
    const app = await build({});
    const injected = await app.inject({ url: "/me", headers: { authorization: good } });
    assert.deepEqual([injected.statusCode, injected.json()], [200, { id: "usr_1" }]);
    assert.equal((await app.inject({ url: "/me" })).statusCode, 401);
    await app.close();
    const overHttp2 = await build({ http2: true });
    const url = await overHttp2.listen({ host: "127.0.0.1", port: 0 });
    assert.equal(await statusOverHttp2(url, { authorization: good }), 200);
    assert.equal(await statusOverHttp2(url, {}), 401);
    await overHttp2.close();
  });

  it("a token can be elsewhere, and Authorization is then not read", async () => {
    const token = await issuer.token();
    const app = new Hono<{ Variables: GatehouseVariables }>();
    app.use(forHono({ verifier, token: (context) => context.req.header("x-user-token") }));
    app.get("/me", (context) => context.json({ id: context.get("gatehouse")?.id }));
    assert.equal((await app.request("/me", { headers: { "x-user-token": token } })).status, 200);
    assert.equal((await app.request("/me", { headers: { authorization: `Bearer ${token}` } })).status, 401);
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

/** Sends the header as often as there are values. */
async function statusOf(url: string, authorization: readonly string[]): Promise<number | undefined> {
  const request = get(`${url}/me`, {
    headers: ["host", "app.example", ...authorization.flatMap((value) => ["authorization", value])],
  });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

async function statusOverHttp2(url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const session = connect(url);
  const stream = session.request({ ":path": "/me", ...headers });
  const [response] = (await once(stream, "response")) as [Record<string, unknown>];
  stream.resume();
  await once(stream, "close");
  session.close();
  return response[":status"];
}
