import assert from "node:assert/strict";
import { createCallers } from "../../src/authorizers/callers.ts";
import { startAuthorizers, type Authorizers, type AuthorizersOptions } from "../../src/authorizers/server.ts";
import type { HttpAnswer } from "../../src/authorizers/answer.ts";
import type { SubRequest } from "../../src/authorizers/sub-request.ts";
import { eventually } from "../support/eventually.ts";
import { rawGet, sendRaw } from "../support/raw-http.ts";

describe("authorizers: server", () => {
  const open: Authorizers[] = [];
  let asked = 0;
  let refused: string[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const start = async (change: Partial<AuthorizersOptions> = {}) => {
    asked = 0;
    refused = [];
    const answer = () => {
      asked += 1;
      return { status: 200, headers: [], body: "" };
    };
    const options = {
      listen: { host: "127.0.0.1", port: 0 },
      callers: ["127.0.0.1"],
      decisionTimeout: 50,
      log,
      refused: (cause: string) => void refused.push(cause),
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
    assert.deepEqual(refused, ["stranger"]);
    assert.equal(await statusOf(await start({ callers: ["127.0.0.0/8"] }), rawGet("/nginx")), 200);
    assert.equal(asked, 1);
  });

  it("refuses whoever may not use this door, but others", async () => {
    const answer = () => {
      asked += 1;
      return { status: 200, headers: [], body: "" };
    };
    const server = await start({
      doors: new Map([
        ["/nginx", answer],
        ["/below/", answer],
      ]),
      apis: new Map([
        ["/aws", { method: "POST", mostBytes: 0, answer }],
        ["/open", { method: "GET", mostBytes: 0, answer }],
      ]),
      callersByPath: new Map([
        ["/nginx", ["127.0.0.2"]],
        ["/below/", ["10.0.0.0/8"]],
        ["/aws", []],
        ["/open", ["127.0.0.1"]],
      ]),
    });
    for (const request of [rawGet("/nginx"), rawGet("/below/a"), rawGet("/aws", [], "POST")])
      assert.equal(await statusOf(server, request), 403);
    assert.equal(asked, 0);
    assert.deepEqual(refused, ["stranger", "stranger", "stranger"]);
    assert.equal(await statusOf(server, rawGet("/open")), 200);
    // a list of a door opens it to nobody else
    const narrow = await start({
      callers: ["127.0.0.2"],
      callersByPath: new Map([["/nginx", ["127.0.0.1"]]]),
    });
    assert.equal(await statusOf(narrow, rawGet("/nginx")), 403);
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
    assert.deepEqual(refused, ["unknown_path", "malformed", "malformed"]);
  });

  it("takes any method, and everything below the path, where a door has that", async () => {
    const seen: string[] = [];
    const below = new Map([
      [
        "/below/",
        ({ method, target }: SubRequest) => {
          seen.push(`${method} ${target}`);
          return { status: 200, headers: [], body: "" };
        },
      ],
    ]);
    const server = await start({ doors: below });
    assert.equal(await statusOf(server, rawGet("/below//a%2fb?c", [], "DELETE")), 200);
    assert.equal(await statusOf(server, rawGet("/below")), 404);
    assert.equal(await statusOf(server, rawGet("/belows/a")), 404);
    assert.equal(await statusOf(server, `${rawGet("/below/a", ["Content-Length: 1"], "POST")}x`), 400);
    assert.deepEqual(seen, ["DELETE /below//a%2fb?c"]);
  });

  it("at shutdown, decides what it has been asked, and takes nothing more", async () => {
    let decide = (): unknown => undefined;
    const doors = new Map([
      [
        "/nginx",
        () =>
          new Promise<HttpAnswer>((resolve) => {
            decide = () => {
              resolve({ status: 200, headers: [], body: "" });
            };
            asked += 1;
          }),
      ],
    ]);
    const server = await start({ doors, decisionTimeout: 30_000 });
    const open = sendRaw(server.port, rawGet("/nginx"));
    await eventually("the question", () => asked === 1);
    const closed = server.close(30_000);
    await assert.rejects(sendRaw(server.port, rawGet("/nginx")), /no HTTP answer/);
    decide();
    assert.equal((await open).status, 200);
    await closed;
    assert.equal(asked, 1);
  });

  it("APIs: refuses whoever is not listed, other methods, and bodies that are too large", async () => {
    const bodies: string[] = [];
    const api = {
      method: "POST" as const,
      mostBytes: 4,
      answer: ({ body }: { readonly body: Uint8Array }) => {
        bodies.push(Buffer.from(body).toString());
        return { status: 200, headers: [], body: "" };
      },
    };
    const apis = new Map([["/aws", api]]);
    const post = (body: string) => `${rawGet("/aws", [`Content-Length: ${body.length}`], "POST")}${body}`;
    assert.equal(await statusOf(await start({ apis, callers: ["10.0.0.0/8"] }), post("{}")), 403);
    const server = await start({ apis });
    assert.equal(await statusOf(server, rawGet("/aws")), 405);
    assert.equal(await statusOf(server, post("12345")), 413);
    assert.equal(await statusOf(await start({ apis, atOnce: 0 }), post("{}")), 503);
    assert.deepEqual(bodies, []);
    assert.equal(await statusOf(server, post("1234")), 200);
    assert.deepEqual(bodies, ["1234"]);
  });

  it("answers 503 to what it cannot decide now", async () => {
    const never = new Map([["/nginx", () => new Promise<never>(() => undefined)]]);
    assert.equal(await statusOf(await start({ doors: never }), rawGet("/nginx")), 503);
    assert.deepEqual(refused, ["late"]);
    assert.equal(await statusOf(await start({ atOnce: 0 }), rawGet("/nginx")), 503);
    assert.deepEqual(refused, ["overloaded"]);
    const stopped = await start();
    stopped.serve(false);
    assert.equal(await statusOf(stopped, rawGet("/nginx")), 503);
    assert.deepEqual(refused, ["not_serving"]);
    assert.equal(asked, 0);
  });
});
