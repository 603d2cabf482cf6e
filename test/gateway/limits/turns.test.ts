import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect } from "node:http2";
import { envoyBinary } from "../../support/envoy.ts";
import { ALLOW, ASK_AGAIN } from "../support/authz-stub.ts";
import { send, until } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

const REQUESTS = 90;

before(async function () {
  this.timeout(300_000);
  await envoyBinary();
});

/** Envoy begins one request of a connection at a time; the others of the same packet wait for their turn, bodies and all. */
describe("gateway: many requests of one connection at once", () => {
  let gateway: TestGateway;

  beforeEach(async () => {
    gateway = await startGateway({ overrides: { "authz.decision_timeout": "30s" } });
    gateway.upstream.answer = (request, response) => void response.end(request.url);
  });
  afterEach(() => gateway.stop());

  const digestOf = (body: Buffer) => createHash("sha256").update(body).digest("hex");
  const bodyOf = (index: number) => Buffer.alloc(1 + index * 400, `${index},`);

  for (const [way, onRequest] of [
    ["are evaluated without their bodies", false],
    ["are asked about again, with their bodies", true],
  ] as const) {
    it(`${way} and reach the application whole`, async () => {
      const evaluated = new Map<string, string>();
      gateway.authz.decide = ({ attributes: { contextExtensions, request } }) => {
        if (onRequest && contextExtensions["gatehouse_body"] === "on_request") return ASK_AGAIN;
        evaluated.set(request.http.path, digestOf(request.http.rawBody));
        return ALLOW;
      };
      const received = new Map<string, string>();
      gateway.upstream.onHeaders = (request) => {
        const hash = createHash("sha256");
        request.on("data", (chunk: Buffer) => hash.update(chunk));
        request.on("end", () => received.set(request.url ?? "", hash.digest("hex")));
      };
      const session = connect(`http://127.0.0.1:${gateway.port}`);
      try {
        const answers = Array.from({ length: REQUESTS }, async (_, index) => {
          const stream = session.request({ ":method": "POST", ":path": `/${index}` });
          stream.end(bodyOf(index));
          let text = "";
          for await (const chunk of stream) text += String(chunk);
          return text;
        });
        const expected = Array.from({ length: REQUESTS }, (_, index) => `/${index}`);
        assert.deepEqual(await Promise.all(answers), expected);
        for (const [index, path] of expected.entries()) {
          assert.equal(received.get(path), digestOf(bodyOf(index)), path);
          if (onRequest) assert.equal(evaluated.get(path), digestOf(bodyOf(index)), path);
        }
      } finally {
        session.destroy();
      }
    });
  }

  it("of a client that leaves while they are evaluated leave nothing behind", async () => {
    gateway.authz.decide = () => "never";
    for (const headers of [{}, { authorization: "Bearer x" }]) {
      const session = connect(`http://127.0.0.1:${gateway.port}`);
      session.on("error", () => undefined);
      const before = gateway.authz.checks.length;
      for (let index = 0; index < REQUESTS; index++)
        session.request({ ":path": "/left", ...headers }).on("error", () => undefined);
      await until(() => gateway.authz.checks.length >= before + REQUESTS, "all are asked about");
      session.destroy();
    }
    gateway.authz.decide = () => ALLOW;
    assert.equal((await send(gateway.port, "/after")).status, 200);
    assert.equal(
      (await send(gateway.port, "/after", { headers: { authorization: "Bearer x" } })).status,
      200,
    );
    assert.deepEqual(
      gateway.upstream.seen.map(({ url }) => url),
      ["/after", "/after"],
    );
  });
});
