import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { PlanIR } from "../../../src/policy/index.ts";
import { TYPE_CASES } from "../../policy/media-type-cases.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { field, planned } from "../support/plans.ts";
import { CLIENTS } from "../support/told.ts";

const SECRET = "123-45-6789";
const JSON_BODY = `{"ssn":"${SECRET}"}`;
const CSV = "name,amount\nAnn,1\n";
const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(5000, 0x7b)]);
const HTML = "<!doctype html><p>hello</p>";
const LIMIT = 20_000;

const PLAN: PlanIR = { ir: 1, response: { limit: LIMIT, fields: [field("ssn")], otherTypes: "pass" } };

describe("gateway: answers of other types, which every rule lets pass", () => {
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
    gateway = await startGateway({ overrides: { "gateway.backend": `http://127.0.0.1:${port}` } });
  });
  beforeEach(() => {
    gateway.authz.decide = ({ attributes }) => planned(PLAN, { method: attributes.request.http.method });
  });
  after(async () => {
    await gateway.stop();
    application.close();
  });

  type Body = Buffer | string;
  const answer = (lines: readonly string[], body: Body, status = 200) => {
    const head = [`HTTP/1.1 ${status} Any`, "Connection: close", ...lines, "", ""].join("\r\n");
    bytes = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
  };
  const chunked = (...parts: readonly Body[]) =>
    Buffer.concat(
      [...parts.map((part) => Buffer.from(part)), Buffer.alloc(0)].map((part) =>
        Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]),
      ),
    );
  const latin1 = (body: Body) => Buffer.from(body).toString("latin1");
  const CHUNKED = "Transfer-Encoding: chunked";

  for (const [protocol, ask] of CLIENTS) {
    describe(`over ${protocol}`, () => {
      const told = (method = "GET") => ask(gateway.port, method);

      it("are what the application sent, byte by byte, with its headers", async () => {
        const about = [
          'ETag: "x"',
          "Last-Modified: Sun, 22 Nov 2026 00:00:00 GMT",
          "Cache-Control: max-age=60",
        ];
        const types: readonly (readonly [string, Body])[] = [
          ["text/csv; charset=utf-8", CSV],
          ["text/csv; charset=utf-16", Buffer.from(`\ufeff${CSV}`, "utf16le")],
          ["image/png", PNG],
          ["text/html", HTML],
          ["application/xml", `<?xml version="1.0"?><a>${SECRET}</a>`],
          ["application/pdf", "%PDF-1.7"],
        ];
        for (const status of [200, 201, 203]) {
          for (const [type, body] of types) {
            const length = Buffer.byteLength(body);
            answer([`Content-Type: ${type}`, `Content-Length: ${length}`, ...about], body, status);
            const whole = await told();
            assert.deepEqual([whole.status, whole.body], [status, latin1(body)], type);
            for (const line of [...about, `Content-Type: ${type}`, `Content-Length: ${length}`])
              assert.ok(whole.head.toLowerCase().includes(line.toLowerCase()), `${type}: ${line}`);
            answer([`Content-Type: ${type}`, CHUNKED], chunked(body.slice(0, 3), body.slice(3)), status);
            const parts = await told();
            assert.deepEqual([parts.status, parts.body], [status, latin1(body)], type);
            answer([`Content-Type: ${type}`], body, status);
            assert.equal((await told()).body, latin1(body), type);
          }
        }
      });

      it("may be longer than what is held back", async () => {
        const long = Buffer.concat([Buffer.from(CSV), Buffer.alloc(12_000_000, "x")]);
        for (const lines of [[`Content-Length: ${long.length}`], [CHUNKED], []]) {
          answer(["Content-Type: text/csv", ...lines], lines[0] === CHUNKED ? chunked(long) : long);
          const { status, body } = await told();
          assert.deepEqual([status, body.length, body === latin1(long)], [200, long.length, true]);
        }
      });

      it("are those of a type that is declared and surely not JSON, and no others", async () => {
        for (const [type, kind] of TYPE_CASES) {
          if (kind !== "none") continue;
          for (const lines of [[], [`Content-Length: ${CSV.length}`]]) {
            answer([...(type === "" ? [] : [`Content-Type: ${type}`]), ...lines], CSV);
            const { status, body } = await told();
            assert.deepEqual([status, body.includes("Ann")], [502, false], type);
          }
        }
        for (const types of [
          ["text/csv", "application/json"],
          ["application/json", "text/csv"],
          ["text/csv", "text/csv"],
          ["text/csv", "text/plain"],
        ]) {
          answer(
            types.map((type) => `Content-Type: ${type}`),
            CSV,
          );
          assert.equal((await told()).status, 502, types.join());
        }
      });

      it("are changed as always where they are JSON, lines of it, or events", async () => {
        for (const [type, body, delivered] of [
          ["application/json", JSON_BODY, '{"ssn":"***"}'],
          ["application/problem+json", JSON_BODY, '{"ssn":"***"}'],
          ["application/x-ndjson", `${JSON_BODY}\n`, '{"ssn":"***"}\n'],
          ["text/event-stream", `data: ${JSON_BODY}\n\n`, 'data: {"ssn":"***"}\n\n'],
        ] as const) {
          answer([`Content-Type: ${type}`, 'ETag: "x"'], body);
          const { status, body: received, head } = await told();
          assert.deepEqual([status, received, head.includes("etag")], [200, delivered, false], type);
        }
        answer(["Content-Type: application/json"], CSV);
        assert.equal((await told()).status, 502, "what is broken is no other type");
      });

      const disguises: readonly Body[] = [
        JSON_BODY,
        `[${JSON_BODY}]`,
        ` \r\n\t${JSON_BODY}`,
        `\ufeff${JSON_BODY}`,
        Buffer.from(JSON_BODY, "utf16le"),
        Buffer.from(`\ufeff${JSON_BODY}`, "utf16le"),
        Buffer.from(`\ufeff${JSON_BODY}`, "utf16le").swap16(),
      ];

      it("are not JSON under the label of another type", async () => {
        for (const type of [
          "text/csv",
          "image/png",
          "text/html",
          "application/zip",
          "application/atom+xml",
        ]) {
          for (const disguise of disguises) {
            const length = Buffer.byteLength(disguise);
            answer([`Content-Type: ${type}`, 'ETag: "x"', `Content-Length: ${length}`], disguise);
            const { status, body, head } = await told();
            const what = `${type} ${latin1(disguise)}`;
            assert.deepEqual(
              [status, (JSON.parse(body) as { error: { code: string } }).error.code],
              [502, "RESPONSE_NOT_DELIVERED"],
              what,
            );
            assert.ok(!head.includes("etag"), what);
          }
        }
        for (const page of ["hello", `callback(${JSON_BODY})`, `)]}'\n${JSON_BODY}`]) {
          answer(["Content-Type: text/html"], page);
          assert.equal((await told()).status, 502, page);
        }
      });

      const scripts: readonly string[] = [
        `)]}',\n${JSON_BODY}`,
        `for(;;);${JSON_BODY}`,
        `while(1);${JSON_BODY}`,
        `callback(${JSON_BODY})`,
        `/**/cb(${JSON_BODY});`,
        `/**/ typeof cb === 'function' && cb(${JSON_BODY});`,
      ];

      it("are not JSON behind what keeps or makes it a script", async () => {
        for (const script of scripts) {
          answer(["Content-Type: text/csv", `Content-Length: ${Buffer.byteLength(script)}`], script);
          const { status, body } = await told();
          assert.deepEqual([status, body.includes(SECRET)], [502, false], script);
          answer(["Content-Type: text/csv", CHUNKED], chunked(...Array.from(script)));
          const parts = await told();
          assert.ok(!parts.body.includes("45-67"), parts.body);
          assert.match(parts.body, /RESPONSE_NOT_DELIVERED/);
        }
      });

      it("nor where they come in parts, though the head has gone by then", async () => {
        for (const disguise of disguises) {
          for (const cut of [1, 4, Buffer.byteLength(disguise)]) {
            const buffer = Buffer.from(disguise);
            const [first, second] = [buffer.subarray(0, cut), buffer.subarray(cut)];
            const parts = second.length === 0 ? [first] : [first, second];
            for (const trailers of ["", `X-Ssn: ${SECRET}\r\n`]) {
              const body = Buffer.concat([chunked(...parts).subarray(0, -2), Buffer.from(`${trailers}\r\n`)]);
              answer(["Content-Type: text/csv", CHUNKED], body);
              const received = await told();
              // a request id is random, and may hold any digits
              const head = received.head.replace(/x-request-id: .*/i, "");
              const plain = `${head}${received.body}`.replaceAll("\0", "");
              assert.ok(!plain.includes("45-67"), plain);
              assert.match(plain, /RESPONSE_NOT_DELIVERED/);
            }
          }
        }
        const long = Buffer.from(`[${JSON_BODY},"${"x".repeat(LIMIT)}"]`);
        answer(["Content-Type: image/png", `Content-Length: ${long.length}`], long);
        const received = await told();
        assert.ok(!received.body.includes(SECRET) && !received.head.includes(String(long.length)));
        assert.match(received.body, /RESPONSE_NOT_DELIVERED/);
      });

      it("are not coded, and no parts: how they begin could not be seen", async () => {
        const cases: readonly (readonly [readonly string[], Body, number])[] = [
          [["Content-Encoding: gzip"], gzipSync(JSON_BODY), 200],
          [["Content-Encoding: br"], CSV, 200],
          [["Content-Encoding: identity, gzip"], gzipSync(JSON_BODY), 200],
          [["Content-Range: bytes 5-9/40"], CSV, 200],
          [["Content-Range: bytes 5-9/40"], CSV, 206],
          [[], CSV, 206],
        ];
        for (const [lines, body, status] of cases) {
          answer(["Content-Type: text/csv", ...lines], body, status);
          const received = await told();
          assert.deepEqual([received.status, received.body.includes("Ann")], [502, false], lines.join());
        }
        answer(["Content-Type: text/csv", "Content-Encoding: identity"], CSV);
        assert.equal((await told()).status, 200);
      });

      it("are successes: pages of errors are withheld, with their status", async () => {
        for (const status of [302, 404, 500]) {
          answer(["Content-Type: text/html", "Location: /x"], `<p>${SECRET}</p>`, status);
          const received = await told();
          assert.deepEqual([received.status, received.body.includes(SECRET)], [status, false]);
          assert.match(received.body, /RESPONSE_NOT_DELIVERED/);
        }
      });

      it("may have no body", async () => {
        answer(["Content-Type: text/csv", "Content-Length: 700"], "");
        const head = await told("HEAD");
        assert.deepEqual([head.status, head.body, head.head.includes("content-length")], [200, "", false]);
        for (const lines of [["Content-Length: 0"], [CHUNKED], []]) {
          for (const type of ["text/csv", "text/html"]) {
            answer([`Content-Type: ${type}`, ...lines], lines[0] === CHUNKED ? "0\r\n\r\n" : "");
            const { status, body } = await told();
            assert.deepEqual([status, body], [200, ""]);
          }
        }
      });

      it("are not let pass by anything but the word", async () => {
        for (const otherTypes of ["refuse", "", "PASS", true, 1, null, {}]) {
          const response = { limit: LIMIT, fields: [field("ssn")], otherTypes };
          gateway.authz.decide = () => planned(JSON.stringify({ ir: 1, response }));
          answer(["Content-Type: text/csv"], CSV);
          assert.equal((await told()).status, 502, JSON.stringify(otherTypes));
        }
        const error = { message: "m", extensions: { code: "X" } };
        const response = { limit: LIMIT, fields: [field("ssn")], otherTypes: "pass", errors: [error] };
        gateway.authz.decide = () => planned(JSON.stringify({ ir: 1, response }));
        answer(["Content-Type: text/csv"], CSV);
        assert.equal((await told()).status, 502, "an operation's answer is JSON");
      });
    });
  }
});

describe("gateway: answers of other types of an HTTP/2 application", () => {
  let gateway: TestGateway;
  let answer: { parts: readonly string[]; trailers: boolean } = { parts: [], trailers: false };
  const application = createHttp2Server();
  application.on("stream", (stream) => {
    const { parts, trailers } = answer;
    stream.on("error", () => undefined);
    stream.respond({ ":status": 200, "content-type": "text/csv" }, { waitForTrailers: trailers });
    stream.on("wantTrailers", () => {
      stream.sendTrailers({ "x-ssn": SECRET });
    });
    for (const part of parts) stream.write(part);
    stream.end();
  });

  before(async () => {
    await once(application.listen(0, "127.0.0.1"), "listening");
    const { port } = application.address() as AddressInfo;
    gateway = await startGateway({ overrides: { "gateway.backend": `h2c://127.0.0.1:${port}` } });
    gateway.authz.decide = () => planned(PLAN);
  });
  after(async () => {
    await gateway.stop();
    application.close();
  });

  for (const [protocol, ask] of CLIENTS) {
    it(`pass, and JSON does not, over ${protocol}`, async () => {
      for (const trailers of [false, true]) {
        answer = { parts: [CSV, CSV], trailers };
        const passed = await ask(gateway.port, "GET");
        assert.equal(passed.status, 200);
        assert.ok(passed.body.startsWith(CSV + CSV));
        answer = { parts: [" ", JSON_BODY, JSON_BODY], trailers };
        const refused = await ask(gateway.port, "GET");
        assert.ok(!`${refused.head}${refused.body}`.includes(SECRET));
        assert.match(refused.body, /RESPONSE_NOT_DELIVERED/);
      }
    });
  }
});
