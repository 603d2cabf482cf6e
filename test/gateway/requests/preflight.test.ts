import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { send, sendRaw } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { planned } from "../support/plans.ts";

const SECRET = "123-45-6789";
const PREFLIGHT = { origin: "https://app.test", "access-control-request-method": "PUT" };
/** What is CORS in an answer, as applications write it. */
const CORS = {
  "access-control-allow-origin": "https://app.test",
  "access-control-allow-methods": "GET, PUT",
  "access-control-allow-headers": "authorization,x-request-id, *",
  "access-control-allow-credentials": "true",
  "access-control-max-age": "600",
  "access-control-expose-headers": "etag",
  "access-control-allow-private-network": "true",
  vary: "Origin, Access-Control-Request-Headers",
};
const OTHERS = {
  "content-type": "application/json",
  etag: `"${SECRET}"`,
  location: `/${SECRET}`,
  link: `</${SECRET}>; rel=preload`,
  allow: "GET, PUT",
  server: SECRET,
  "set-cookie": `a=${SECRET}`,
  "x-total": SECRET,
  "x-request-id": SECRET,
  "www-authenticate": `Basic realm="${SECRET}"`,
  "access-control-x": SECRET,
  "server-timing": `a;desc="${SECRET}"`,
};

/** What the gateway itself says in every answer. */
const OWN = ["connection", "content-length", "date", "transfer-encoding", "x-request-id"];

describe("gateway: answers to CORS preflights", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  beforeEach(() => {
    gateway.authz.decide = () => planned({ ir: 1, preflight: true }, { method: "OPTIONS" });
  });
  after(() => gateway.stop());

  interface Seen {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }

  const protocols: Readonly<Record<string, () => Promise<Seen>>> = {
    "HTTP/1.1": () => send(gateway.port, "/staff", { method: "OPTIONS", headers: PREFLIGHT }),
    "HTTP/2": async () => {
      const session = connect(`http://127.0.0.1:${String(gateway.port)}`);
      try {
        const stream = session.request(
          { ":method": "OPTIONS", ":path": "/staff", ...PREFLIGHT },
          { endStream: true },
        );
        const trailers: IncomingHttpHeaders[] = [];
        stream.on("trailers", (received: IncomingHttpHeaders) => trailers.push(received));
        const [{ ":status": status = 0, ...headers }] = (await once(stream, "response")) as [
          IncomingHttpHeaders & { ":status"?: number },
        ];
        let body = "";
        stream.on("data", (chunk: Buffer) => (body += chunk.toString()));
        await once(stream, "close");
        assert.deepEqual(trailers, []);
        return { status, headers, body };
      } finally {
        session.destroy();
      }
    },
  };

  for (const [protocol, ask] of Object.entries(protocols)) {
    describe(`over ${protocol}`, () => {
      for (const status of [200, 201, 204, 206, 302, 304, 400, 401, 403, 404, 405, 500, 503]) {
        it(`hold the status ${String(status)} and headers of CORS, and nothing else`, async () => {
          gateway.upstream.answer = (_request, response) => {
            response.writeHead(status, { ...CORS, ...OTHERS });
            if (status !== 204 && status !== 304) response.write(`{"ssn":"${SECRET}"`);
            response.end(status === 204 || status === 304 ? undefined : "}");
          };
          const { status: answered, headers, body } = await ask();
          assert.deepEqual([answered, body], [status, ""]);
          assert.ok(!JSON.stringify(headers).includes(SECRET), JSON.stringify(headers));
          for (const [name, value] of Object.entries(CORS)) assert.equal(headers[name], value, name);
          const more = Object.keys(headers).filter((name) => !(name in CORS) && !OWN.includes(name));
          assert.deepEqual(more, []);
          if (status !== 204 && status !== 304) assert.equal(headers["content-length"], "0");
        });
      }

      it("hold no header of CORS that says something else", async () => {
        const odd = {
          "access-control-allow-origin": `https://app.test/ "${SECRET}"`,
          "access-control-allow-credentials": SECRET,
          "access-control-max-age": `${SECRET}.`,
          vary: "x".repeat(5_000),
        };
        gateway.upstream.answer = (_request, response) => response.writeHead(200, odd).end();
        const { headers } = await ask();
        assert.deepEqual(
          Object.keys(odd).filter((name) => name in headers),
          [],
        );
      });

      it("are as empty where the body is long, in many parts, and followed by trailers", async () => {
        gateway.upstream.answer = (_request, response) => {
          response.writeHead(200, { ...CORS, trailer: "x-sum" });
          for (let part = 0; part < 50; part += 1) response.write(SECRET.repeat(2_000));
          response.addTrailers({ "x-sum": SECRET });
          response.end();
        };
        const { body, headers } = await ask();
        assert.deepEqual([body, headers["content-length"], headers["x-sum"]], ["", "0", undefined]);
      });

      it("are preceded by nothing", async () => {
        gateway.upstream.answer = (_request, response) => {
          response.writeEarlyHints({ link: `</${SECRET}>; rel=preload` });
          response.writeHead(204, CORS).end();
        };
        const { status, headers } = await ask();
        assert.deepEqual([status, headers["link"]], [204, undefined]);
      });

      it("are the gateway's own refusal where the application changes the protocol", async () => {
        gateway.upstream.answer = (_request, response) => {
          response.writeHead(101, { connection: "upgrade", upgrade: "x", ...OTHERS }).end(SECRET);
        };
        const { status, body } = await ask();
        assert.ok(status >= 500, String(status));
        assert.ok(!body.includes(SECRET));
      });
    });
  }

  it("are one answer: hints before it are none of CORS", async () => {
    gateway.upstream.answer = (_request, response) => {
      response.writeEarlyHints({ link: `</${SECRET}>; rel=preload` });
      response.writeHead(204, CORS).end();
    };
    const lines = ["OPTIONS /staff HTTP/1.1", "Host: app.test", "Connection: close"];
    const headers = Object.entries(PREFLIGHT).map(([name, value]) => `${name}: ${value}`);
    const answer = await sendRaw(gateway.port, [...lines, ...headers, "", ""].join("\r\n"));
    assert.match(answer, /^HTTP\/1\.1 204 /);
    assert.ok(!answer.includes(SECRET), answer);
  });
});
