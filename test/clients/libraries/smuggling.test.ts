import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import express from "express";
import fastify, { type FastifyInstance } from "fastify";
import { requireIdentity as forExpress, type WithIdentity } from "../../../clients/node/src/express.ts";
import { requireIdentity as forFastify } from "../../../clients/node/src/fastify.ts";
import { TokenVerifier } from "../../../clients/node/src/index.ts";
import { serve } from "../support/applications.ts";
import { pythonEnvironment, pythonPackages } from "./support/python-project.ts";
import { startTokenIssuer, type TokenIssuer } from "./support/token-issuer.ts";

const SOURCE = fileURLToPath(new URL("../../../clients/python/src", import.meta.url));
const SCRIPT = fileURLToPath(new URL("support/middleware_servers.py", import.meta.url));
const SERVERS = ["express", "fastify", "asgi", "flask", "django"] as const;

/**
 * Headers that somebody could take for an `Authorization` with a good token. `GOOD` is one, `OTHER` that of another user. None may
 * pass: whoever stands in front of the application may have read them in another way.
 */
const REFUSED: Readonly<Record<string, string>> = {
  "two of them": "Authorization: GOOD\r\nAuthorization: OTHER\r\n",
  "the same twice": "Authorization: GOOD\r\nAuthorization: GOOD\r\n",
  "two with different cases": "authorization: GOOD\r\nAUTHORIZATION: OTHER\r\n",
  "an empty one first": "Authorization:\r\nAuthorization: GOOD\r\n",
  "an empty one last": "Authorization: GOOD\r\nAuthorization:\r\n",
  "another scheme first": "Authorization: Basic eDp5\r\nAuthorization: GOOD\r\n",
  "two in one": "Authorization: GOOD, OTHER\r\n",
  "two in one, by a semicolon": "Authorization: GOOD; OTHER\r\n",
  "an underscore": "Authorization_: GOOD\r\n",
  "the name of WSGI": "HTTP_AUTHORIZATION: GOOD\r\n",
  "the name of WSGI with dashes": "HTTP-AUTHORIZATION: GOOD\r\n",
  "a space before the colon": "Authorization : GOOD\r\n",
  "a space before the name": " Authorization: GOOD\r\n",
  "a name of something else":
    "X-Authorization: GOOD\r\nProxy-Authorization: GOOD\r\nX-Forwarded-Authorization: GOOD\r\n",
  "identity headers of the gateway":
    "X-User-Id: usr_1\r\nX-User-Role: admin\r\nX_User_Id: usr_1\r\nx-user_id: usr_1\r\n",
  "a cookie": "Cookie: Authorization=TOKEN; token=TOKEN\r\n",
  "no scheme": "Authorization: TOKEN\r\n",
  "no space": "Authorization: BearerTOKEN\r\n",
  "a tab": "Authorization: Bearer\tTOKEN\r\n",
  "something after it": "Authorization: GOOD x\r\n",
  "a NUL": "Authorization: GOOD\0\r\n",
};

describe("middleware of the client libraries behind real servers", () => {
  let issuer: TokenIssuer;
  let ports: Readonly<Record<string, number>>;
  let python: ChildProcess;
  let closeExpress: () => Promise<void>;
  let inFastify: FastifyInstance;
  let good: string;
  let other: string;

  before(async () => {
    issuer = await startTokenIssuer();
    [good, other] = [await issuer.token(), await issuer.token({ sub: "usr_2" })];
    const app = express();
    app.use(forExpress({ verifier: new TokenVerifier({ issuer: issuer.url }) }));
    app.all("/me", (request, response) => {
      response.json({ id: (request as WithIdentity).gatehouse?.id });
    });
    const application = await serve(app);
    closeExpress = () => application.close();
    inFastify = fastify();
    await inFastify.register(forFastify, { verifier: new TokenVerifier({ issuer: issuer.url }) });
    inFastify.get("/me", (request) => ({ id: (request as WithIdentity).gatehouse?.id }));
    inFastify.post("/me", (request) => ({ id: (request as WithIdentity).gatehouse?.id }));
    await inFastify.listen({ host: "127.0.0.1", port: 0 });
    const folders = [SOURCE, await pythonPackages("client"), await pythonPackages("middleware")];
    python = spawn("python3", [SCRIPT, issuer.url], {
      env: pythonEnvironment(...folders),
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [line] = (await once(python.stdout!, "data")) as [Buffer];
    ports = {
      express: Number(new URL(application.url).port),
      fastify: (inFastify.server.address() as AddressInfo).port,
      ...(JSON.parse(line.toString()) as Record<string, number>),
    };
  });
  after(async () => {
    python.stdin!.end();
    await once(python, "close");
    await closeExpress();
    await inFastify.close();
    await issuer.close();
  });

  const filled = (text: string) =>
    text
      .replaceAll("GOOD", `Bearer ${good}`)
      .replaceAll("OTHER", `Bearer ${other}`)
      .replaceAll("TOKEN", good);
  const get = (name: string, headers: string) =>
    send(
      ports[name]!,
      `GET /me HTTP/1.1\r\nHost: app.example\r\nConnection: close\r\n${filled(headers)}\r\n`,
    );

  for (const name of SERVERS) {
    it(`${name}: one good token passes`, async () => {
      for (const header of ["Authorization: GOOD", "AUTHORIZATION:GOOD", "authorization:  GOOD  "])
        assert.match(await get(name, `${header}\r\n`), /^HTTP\/1\.[01] 200 [^]*"usr_1"/, header);
      // what else there is does not matter
      const more = `Authorization: GOOD\r\n${REFUSED["identity headers of the gateway"]!.replaceAll("usr_1", "usr_9")}`;
      assert.match(await get(name, more), /^HTTP\/1\.[01] 200 [^]*"usr_1"/);
    });

    it(`${name}: nothing that could be read in two ways passes`, async () => {
      const found = [];
      for (const [about, headers] of Object.entries(REFUSED)) {
        const answer = await get(name, headers);
        // the server's own refusal, or that of the middleware
        if (!/^HTTP\/1\.[01] 4(?:00|01) /.test(answer)) found.push([about, answer]);
      }
      assert.deepEqual(found, []);
    });

    it(`${name}: a token in a trailer does not count`, async () => {
      const head =
        "POST /me HTTP/1.1\r\nHost: app.example\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n";
      const body = `Trailer: Authorization\r\n\r\n0\r\nAuthorization: Bearer ${good}\r\n\r\n`;
      assert.match(await send(ports[name]!, head + body), /^HTTP\/1\.[01] 4(?:00|01) /);
    });
  }
});

/** @returns everything that is answered until the server closes the connection */
async function send(port: number, request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  // a server may refuse before it has read everything
  socket.on("error", () => undefined);
  socket.write(request, "latin1");
  await once(socket, "close");
  return Buffer.concat(chunks).toString();
}
