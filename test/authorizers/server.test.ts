import assert from "node:assert/strict";
import { createCallers } from "../../src/authorizers/callers.ts";
import { startAuthorizers, type Authorizers, type AuthorizersOptions } from "../../src/authorizers/server.ts";
import { rawGet, sendRaw } from "../support/raw-http.ts";

describe("authorizers: server", () => {
  const open: Authorizers[] = [];
  let asked = 0;
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const start = async (change: Partial<AuthorizersOptions> = {}) => {
    asked = 0;
    const answer = () => {
      asked += 1;
      return { status: 200, headers: [], body: "" };
    };
    const options = {
      listen: { host: "127.0.0.1", port: 0 },
      callers: ["127.0.0.1"],
      decisionTimeout: 50,
      log,
    };
    const server = await startAuthorizers({ ...options, doors: new Map([["/nginx", answer]]), ...change });
    open.push(server);
    return server;
  };
  afterEach(() => Promise.all(open.splice(0).map((server) => server.close(0))));
  const statusOf = async ({ port }: Authorizers, request: string) => (await sendRaw(port, request)).status;

  it("does not start without callers", async () => {
    await assert.rejects(start({ callers: [] }), /http_callers/);
  });

  it("refuses whoever is not listed, without a decision", async () => {
    for (const callers of [["127.0.0.2"], ["10.0.0.0/8"], ["localhost"]])
      assert.equal(await statusOf(await start({ callers }), rawGet("/nginx")), 403);
    assert.equal(asked, 0);
    assert.equal(await statusOf(await start({ callers: ["127.0.0.0/8"] }), rawGet("/nginx")), 200);
    assert.equal(asked, 1);
  });

  it("a name in the list admits nobody without a certificate", () => {
    assert.equal(createCallers(["proxy.internal"])({ remoteAddress: "127.0.0.1" } as never), false);
  });

  it("refuses other paths, methods and bodies", async () => {
    const server = await start();
    assert.equal(await statusOf(server, rawGet("/other")), 404);
    assert.equal(await statusOf(server, rawGet("/nginx", [], "POST")), 400);
    assert.equal(await statusOf(server, `${rawGet("/nginx", ["Content-Length: 1"])}x`), 400);
    assert.equal(asked, 0);
  });

  it("answers 503 to what it cannot decide now", async () => {
    const never = new Map([["/nginx", () => new Promise<never>(() => undefined)]]);
    assert.equal(await statusOf(await start({ doors: never }), rawGet("/nginx")), 503);
    assert.equal(await statusOf(await start({ atOnce: 0 }), rawGet("/nginx")), 503);
    const stopped = await start();
    stopped.serve(false);
    assert.equal(await statusOf(stopped, rawGet("/nginx")), 503);
    assert.equal(asked, 0);
  });
});
