import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { configWith, startGateway, type TestGateway } from "../support/gateway.ts";
import { field, planned, responsePlan } from "../support/plans.ts";
import { CLIENTS, type Told } from "../support/told.ts";

const SECRET = "123-45-6789";
const PAGE = `<html><h1>Not here</h1>${SECRET}</html>`;
const REDIRECTS = [300, 301, 302, 303, 307, 308];
const ERRORS = [400, 401, 403, 404, 405, 410, 416, 418, 422, 429, 500, 502, 503, 504, 599];

interface Envelope {
  readonly success: boolean;
  readonly error: { readonly code: string; readonly message: string };
  readonly meta: { readonly request_id: string };
}

/** The value of a header; `undefined` where there is none. */
const valueOf = ({ head }: Told, name: string) => new RegExp(`^${name}: (.*?)\r?$`, "m").exec(head)?.[1];

function assertWithheld(told: Told, status: number, what: string): void {
  assert.equal(told.status, status, what);
  assert.ok(!`${told.head}${told.body}`.includes(SECRET), what);
  const { success, error } = JSON.parse(told.body) as Envelope;
  assert.deepEqual([success, error.code], [false, "RESPONSE_NOT_DELIVERED"], what);
  assert.match(error.message, new RegExp(`answered ${status};`), what);
  assert.equal(valueOf(told, "content-type"), "application/json", what);
  assert.equal(valueOf(told, "cache-control"), "no-store", what);
  assert.equal(valueOf(told, "x-content-type-options"), "nosniff", what);
  const length = valueOf(told, "content-length");
  if (length !== undefined) assert.equal(Number(length), Buffer.byteLength(told.body), what);
  for (const name of ["etag", "last-modified", "content-encoding", "content-range", "accept-ranges", "age"])
    assert.equal(valueOf(told, name), undefined, `${what}: ${name}`);
  for (const name of ["content-disposition", "content-language", "content-location", "digest"])
    assert.equal(valueOf(told, name), undefined, `${what}: ${name}`);
}

/** Everything that says something about the page. */
const ABOUT_THE_PAGE = [
  'ETag: "x"',
  "Last-Modified: Sun, 22 Nov 2026 00:00:00 GMT",
  "Accept-Ranges: bytes",
  "Age: 7",
  "Content-Disposition: attachment; filename=x.html",
  "Content-Language: de",
  "Content-Location: /elsewhere",
  "Digest: sha-256=x",
  "Cache-Control: public, max-age=60",
];

describe("gateway: answers that cannot be read and are no success", () => {
  let gateway: TestGateway;
  let bytes: Buffer | string = "";
  const application = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.end(bytes);
    });
  });

  before(async () => {
    await once(application.listen(0, "127.0.0.1"), "listening");
    const { port } = application.address() as AddressInfo;
    gateway = await startGateway({
      overrides: {
        "gateway.backend": `http://127.0.0.1:${port}`,
        "gateway.security.response_size_limit": "2MB",
      },
    });
    gateway.authz.decide = ({ attributes }) =>
      planned(
        { ir: 1, response: { limit: 2000, fields: [field("ssn")] } },
        { method: attributes.request.http.method },
      );
  });
  after(async () => {
    await gateway.stop();
    application.close();
  });

  const answer = (status: number, lines: readonly string[], body: Buffer | string) => {
    const head = [`HTTP/1.1 ${status} Any`, "Connection: close", ...lines, "", ""].join("\r\n");
    bytes = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
  };
  const chunked = (body: string, trailers = "") =>
    `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n${trailers}\r\n`;
  const HTML = "Content-Type: text/html; charset=utf-8";

  for (const [protocol, ask] of CLIENTS) {
    describe(`over ${protocol}`, () => {
      const told = (method = "GET") => ask(gateway.port, method);

      it("keep their status, whatever says where the body ends", async () => {
        for (const status of [...REDIRECTS, ...ERRORS]) {
          const framings: readonly (readonly [string, string])[] = [
            [`Content-Length: ${PAGE.length}`, PAGE],
            ["Transfer-Encoding: chunked", chunked(PAGE)],
            ["X-Close: delimited", PAGE],
            [
              "Transfer-Encoding: chunked",
              chunked(PAGE, `X-Ssn: ${SECRET}\r\nContent-Digest: ${SECRET}\r\n`),
            ],
          ];
          for (const [line, body] of framings) {
            answer(status, [HTML, line, ...ABOUT_THE_PAGE], body);
            const received = await told();
            assertWithheld(received, status, `${status} ${line}`);
            assert.ok(!received.head.includes("x-ssn") && !received.body.includes("x-ssn"));
          }
        }
      });

      it("keep what goes with the status: where to go, who to be, when to come back", async () => {
        const lines = [
          "Location: /login?from=/a",
          "Set-Cookie: a=1",
          "Retry-After: 7",
          "Allow: GET",
          'WWW-Authenticate: Basic realm="x"',
          'Link: </a>; rel="next"',
          "X-Trace: 1",
        ];
        for (const status of [302, 401, 404, 405, 503]) {
          answer(status, [HTML, `Content-Length: ${PAGE.length}`, ...lines], PAGE);
          const received = await told();
          assertWithheld(received, status, String(status));
          for (const line of lines) {
            const [name = "", ...value] = line.toLowerCase().split(": ");
            assert.equal(valueOf(received, name)?.toLowerCase(), value.join(": "), `${status} ${name}`);
          }
        }
      });

      it("whatever makes them unreadable", async () => {
        const json = `{"ssn":"${SECRET}"}`;
        const JSON_TYPE = "Content-Type: application/json";
        const cases: readonly (readonly [string, readonly string[], Buffer | string])[] = [
          ["no type", [], PAGE],
          ["plain text", ["Content-Type: text/plain"], SECRET],
          ["two types", ["Content-Type: application/json", "Content-Type: text/html"], json],
          [
            "another charset",
            ["Content-Type: application/json; charset=utf-16"],
            Buffer.from(json, "utf16le"),
          ],
          ["compressed", [JSON_TYPE, "Content-Encoding: gzip"], gzipSync(json)],
          ["a part", [JSON_TYPE, "Content-Range: bytes 0-20/40"], json],
          ["no part", [JSON_TYPE, `Content-Range: bytes */${SECRET.length}`], json],
          ["broken", [JSON_TYPE], `{"ssn":"${SECRET}"`],
          ["too deep", [JSON_TYPE], `${"[".repeat(900)}"${SECRET}"${"]".repeat(900)}`],
          ["too large", [JSON_TYPE], `["${SECRET}","${"x".repeat(3000)}"]`],
          ["a page", ["Content-Type: application/xhtml+xml"], PAGE],
          ["parts", ["Content-Type: multipart/mixed; boundary=x"], `--x\r\n\r\n${json}\r\n--x--`],
        ];
        for (const [what, lines, body] of cases) {
          for (const length of [[], [`Content-Length: ${Buffer.byteLength(body)}`]]) {
            for (const status of [302, 404, 500]) {
              answer(status, [...lines, ...length], body);
              assertWithheld(await told(), status, `${what} ${status}`);
            }
            answer(200, [...lines, ...length], body);
            const { status, body: delivered } = await told();
            assert.deepEqual([status, delivered.includes(SECRET)], [502, false], `${what} 200`);
          }
        }
      });

      it("are changed like any other where they can be read", async () => {
        for (const status of [302, 400, 404, 500]) {
          answer(status, ["Content-Type: application/problem+json", "Location: /x"], `{"ssn":"${SECRET}"}`);
          const received = await told();
          assert.deepEqual([received.status, received.body], [status, '{"ssn":"***"}']);
          assert.equal(valueOf(received, "content-type"), "application/problem+json");
        }
      });

      it("have no body where they had none", async () => {
        const about = ["Location: /x", ...ABOUT_THE_PAGE];
        for (const [method, status, lines] of [
          ["HEAD", 404, [HTML, `Content-Length: ${PAGE.length}`]],
          ["HEAD", 302, [HTML]],
          ["GET", 304, [HTML]],
          ["GET", 302, ["Content-Length: 0"]],
          ["GET", 404, [HTML, "Content-Length: 0"]],
          ["GET", 303, []],
        ] as const) {
          answer(status, [...lines, ...about], "");
          const received = await told(method);
          const what = `${method} ${status}`;
          assert.deepEqual([received.status, received.body], [status, ""], what);
          assert.equal(valueOf(received, "location"), "/x", what);
          assert.equal(valueOf(received, "etag"), undefined, what);
          if (method === "HEAD") assert.equal(valueOf(received, "content-length"), undefined, what);
        }
      });
    });
  }
});

describe("gateway: pages of an HTTP/2 application that are no success", () => {
  let gateway: TestGateway;
  let answer: { status: number; body: string; trailers: boolean } = {
    status: 404,
    body: "",
    trailers: false,
  };
  const application = createHttp2Server();
  application.on("stream", (stream) => {
    const { status, body, trailers } = answer;
    stream.on("error", () => undefined);
    const headers = { ":status": status, "content-type": "text/html", location: "/x" };
    stream.respond(headers, { endStream: body === "", waitForTrailers: trailers });
    stream.on("wantTrailers", () => {
      stream.sendTrailers({ "x-ssn": SECRET });
    });
    if (body !== "") stream.end(body);
  });

  before(async () => {
    await once(application.listen(0, "127.0.0.1"), "listening");
    const { port } = application.address() as AddressInfo;
    gateway = await startGateway({ overrides: { "gateway.backend": `h2c://127.0.0.1:${port}` } });
    gateway.authz.decide = () => planned(responsePlan(field("ssn")));
  });
  after(async () => {
    await gateway.stop();
    application.close();
  });

  for (const [protocol, ask] of CLIENTS) {
    it(`keep their status, over ${protocol}`, async () => {
      for (const status of [302, 404, 500]) {
        for (const trailers of [false, true]) {
          answer = { status, body: PAGE, trailers };
          const told = await ask(gateway.port, "GET");
          assertWithheld(told, status, JSON.stringify(answer));
          assert.equal(valueOf(told, "location"), "/x");
          assert.ok(!told.head.includes("x-ssn"));
        }
        answer = { status, body: "", trailers: false };
        const { status: received, body } = await ask(gateway.port, "GET");
        assert.deepEqual([received, body], [status, ""]);
      }
    });
  }
});

describe("gateway: a page that outgrows what is held back", () => {
  it("is answered 502 by Envoy, whatever its status was", async () => {
    const config = configWith({ "gateway.security.response_size_limit": "1KB" });
    const held = Math.max(config.gateway.security.request_size_limit, 1024 * 1024);
    const gateway = await startGateway({ overrides: { "gateway.security.response_size_limit": "1KB" } });
    try {
      gateway.authz.decide = () => planned(responsePlan(field("ssn")));
      gateway.upstream.answer = (_request, response) => {
        response.writeHead(404, { "content-type": "text/html" });
        response.write("x".repeat(held));
        response.end("x".repeat(held));
      };
      for (const [, ask] of CLIENTS) {
        const { status, body } = await ask(gateway.port, "GET");
        assert.equal(status, 502);
        assert.equal((JSON.parse(body) as Envelope).error.code, "RESPONSE_NOT_DELIVERED");
      }
    } finally {
      await gateway.stop();
    }
  });
});
