import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { field, planned, responsePlan } from "../support/plans.ts";
import { CLIENTS, type Told } from "../support/told.ts";

const SECRET = "123-45-6789";
const JSON_BODY = `{"ssn":"${SECRET}"}`;
const MASKED = '{"ssn":"***"}';

describe("gateway: nothing of the original answer", function () {
  let gateway: TestGateway;
  /** What the application says to the next request, byte by byte. */
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
      overrides: { "gateway.backend": `http://127.0.0.1:${port}` },
    });
    gateway.authz.decide = ({ attributes }) =>
      planned(responsePlan(field("ssn")), { method: attributes.request.http.method });
  });
  after(async () => {
    await gateway.stop();
    application.close();
  });

  const answer = (lines: readonly string[], body: Buffer | string = JSON_BODY, status = "200 OK") => {
    const head = [`HTTP/1.1 ${status}`, "Connection: close", ...lines, "", ""].join("\r\n");
    bytes = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
  };
  const JSON_TYPE = "Content-Type: application/json";

  for (const [protocol, ask] of CLIENTS) {
    const told = async (method = "GET") => {
      const result = await ask(gateway.port, method);
      assert.ok(!`${result.head}${result.body}`.includes(SECRET), JSON.stringify(result));
      return result;
    };

    describe(`over ${protocol}`, () => {
      it("is told by a header, whatever digests are called", async () => {
        const names = [
          ...["ETag", "X-ETag", "Last-Modified", "Accept-Ranges", "Content-MD5", "X-Content-MD5", "Trailer"],
          ...["Digest", "Content-Digest", "Repr-Digest", "Unencoded-Digest", "Signature", "Signature-Input"],
          ...[
            "X-Amz-Checksum-SHA256",
            "X-Checksum-Sha1",
            "X-Goog-Hash",
            "X-Ms-Content-CRC64",
            "IM",
            "Delta-Base",
          ],
          ...[
            "X-Content-SHA384",
            "X-Sha3-256",
            "X-Body-SHA",
            "X-Filesha512",
            "X-Shake128",
            "X-Body-HMAC",
            "X-Sig",
          ],
          ...[
            "X-Blake3",
            "X-Adler32",
            "X-CRC",
            "X-Amz-Crc64nvme",
            "X-Body-Crc16",
            "XXH3",
            "X-Ripemd160",
            "X-MD-5",
          ],
          ...[
            "X-Md4",
            "X-File-Cksum",
            "X-Fingerprint",
            "X-Fnv1a",
            "X-Keccak",
            "X-Content-Integrity",
            "X_Check_Sum",
          ],
          ...["Expires", "CDN-Cache-Control", "Surrogate-Control"],
        ];
        const kept = [
          ...[
            "X-Share-Id",
            "X-Shard",
            "X-Shape",
            "X-Shadow-Of",
            "X-Md",
            "X-Mdn",
            "X-Cmd-21",
            "X-Saddler",
            "X-Design",
          ],
          ...[
            "X-Signal",
            "X-Assigned-To",
            "X-Cmd-5",
            "X-Trace",
            "X-Tag",
            "Integrity-Policy",
            "X-Sum",
            "X-Kept",
          ],
        ];
        const lines = names.map((name) => `${name}: original`);
        const check = ({ head }: Told, what: string) => {
          for (const name of names) assert.ok(!head.includes(`\n${name.toLowerCase()}:`), `${what}: ${name}`);
          for (const name of kept) {
            assert.ok(head.includes(`\n${name.toLowerCase()}: 1`), `${what}: ${name} is kept`);
          }
          assert.match(head, /\ncache-control: (?:private, no-cache|no-store)/);
        };
        const length = `Content-Length: ${JSON_BODY.length}`;
        const all = [...lines, ...kept.map((name) => `${name}: 1`), "Cache-Control: public, x=no-store"];
        answer([...all, JSON_TYPE, length]);
        const whole = await told();
        check(whole, "whole");
        assert.equal(whole.body, MASKED);
        answer([...all, JSON_TYPE, length], "");
        const head = await told("HEAD");
        check(head, "head");
        assert.ok(!head.head.includes("content-length"));
        answer([...all, "Content-Type: application/x-ndjson"], `${JSON_BODY}\n${JSON_BODY}`);
        const lined = await told();
        check(lined, "lines");
        assert.equal(lined.body, `${MASKED}\n${MASKED}`);
        answer([...all, "Content-Type: text/html"]);
        const refused = await told();
        check(refused, "refused");
        assert.equal(refused.status, 502);
        answer([...all, `ETag: ${SECRET}`], "", "304 Not Modified");
        const none = await told();
        check(none, "304");
        assert.equal(none.status, 304);
      });

      it("is told before it, or behind it", async () => {
        const hints = `HTTP/1.1 103 Early Hints\r\nLink: </${SECRET}>; rel=preload\r\nX-Ssn: ${SECRET}\r\n\r\n`;
        const trailers = `d\r\n{"ssn":"1234"}\r\n0\r\nX-Ssn: ${SECRET}\r\nContent-Digest: ${SECRET}\r\n\r\n`;
        for (const type of ["application/json", "application/x-ndjson", "text/event-stream", "text/html"]) {
          const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\nTrailer: X-Ssn\r\n\r\n`;
          bytes = hints + head + trailers.replace("d\r\n", "e\r\n");
          const { status, head: received } = await told();
          assert.equal(status, type === "text/html" ? 502 : 200, type);
          assert.ok(!received.includes("x-ssn"), received);
        }
      });

      const TYPES: readonly (readonly string[])[] = [
        [],
        ["application/json", "text/html"],
        ["text/html", "application/json"],
        ["application/json, text/html"],
        ["text/html; application/json"],
        ["application/json; text/html"],
        ["application/json; charset=utf-16"],
        ["APPLICATION/JSON; CHARSET=UTF-16LE"],
        ['application/json; charset="utf-7"'],
        ["application/json; charset=utf-8; charset=utf-7"],
        ["application/json charset=utf-7"],
        ["application/json; charset*=utf-16''x"],
        ['application/json; x="; charset=utf-8"; charset=utf-7'],
        ["application/json; charset"],
        ["application/json; charset=iso-8859-1"],
        ["application/json\u00a0"],
        ["json"],
        ["application/"],
        ["application/json/x"],
        ["application/json-seq"],
        ["application/json5"],
        ["text/plain"],
        ["application/octet-stream"],
        ["multipart/mixed; boundary=x"],
        ['multipart/form-data; boundary="application/json"'],
        ["*/*"],
      ];
      it("is delivered where its type is not surely JSON", async () => {
        for (const types of TYPES) {
          answer(types.map((type) => `Content-Type: ${type}`));
          const { status } = await told();
          assert.equal(status, 502, types.join(" and "));
        }
      });

      it("is delivered where it is coded, however that is said", async () => {
        const coded: readonly (readonly [readonly string[], Buffer | string])[] = [
          [["Content-Encoding: GZIP"], gzipSync(JSON_BODY)],
          [["Content-Encoding: x-gzip"], gzipSync(JSON_BODY)],
          [["Content-Encoding: identity, gzip"], gzipSync(JSON_BODY)],
          [["Content-Encoding: identity", "Content-Encoding: gzip"], gzipSync(JSON_BODY)],
          [["Content-Encoding: gzip", "Content-Encoding: identity"], gzipSync(JSON_BODY)],
          [["Content-Encoding:"], JSON_BODY],
          [["Content-Encoding: none"], JSON_BODY],
          [[], gzipSync(JSON_BODY)],
          [["Content.Encoding: gzip"], gzipSync(JSON_BODY)],
          [["Content-Encoding: dcb"], JSON_BODY],
          [
            ["Transfer-Encoding: gzip, chunked"],
            `${JSON_BODY.length.toString(16)}\r\n${JSON_BODY}\r\n0\r\n\r\n`,
          ],
        ];
        for (const [lines, body] of coded) {
          answer([JSON_TYPE, ...lines], body);
          const { status } = await told();
          assert.equal(status, 502, lines.join());
        }
      });

      it("is delivered in parts", async () => {
        const range = `Content-Range: bytes 0-20/${JSON_BODY.length}`;
        const parts: readonly (readonly [status: string, lines: readonly string[]])[] = [
          ["206 Partial Content", [JSON_TYPE, range]],
          ["206 Partial Content", [JSON_TYPE]],
          ["200 OK", [JSON_TYPE, range]],
          ["416 Range Not Satisfiable", [JSON_TYPE, "Content-Range: bytes */21"]],
          ["206 Partial Content", ["Content-Type: multipart/byteranges; boundary=x"]],
        ];
        for (const [status, lines] of parts) {
          answer(lines, JSON_BODY, status);
          const { status: received, head } = await told();
          assert.equal(received, status.startsWith("416") ? 416 : 502, status);
          assert.ok(!head.includes("content-range"));
        }
        answer([JSON_TYPE], JSON_BODY, "412 Precondition Failed");
        const { status, body } = await told();
        assert.deepEqual([status, body], [412, MASKED]);
      });

      it("is delivered under the label of another kind", async () => {
        const event = `data: ${JSON_BODY}\n\n`;
        const kinds: readonly (readonly [type: string, body: string, status: number, delivered: string])[] = [
          ["application/json", event, 502, ""],
          ["application/json", `${JSON_BODY}\n${JSON_BODY}`, 502, ""],
          ["application/json", `\x1e${JSON_BODY}\n`, 502, ""],
          ["text/event-stream", JSON_BODY, 200, ""],
          ["text/event-stream", `${JSON_BODY}\n\n`, 200, ""],
          ["text/event-stream;charset=utf-8", `${JSON_BODY}\n\n${event}`, 200, `data: ${MASKED}\n\n`],
          [
            "Text/Event-Stream",
            `: ${SECRET}\nid: ${SECRET} 1\nssn:${SECRET}\nData: ${SECRET}\n\n`,
            200,
            "\n",
          ],
          ["application/x-ndjson", event, 200, "\n"],
          ["application/jsonl", `# ${SECRET}\n\x1e${JSON_BODY}\n${JSON_BODY}`, 200, MASKED],
        ];
        for (const [type, body, status, delivered] of kinds) {
          for (const length of [[], [`Content-Length: ${body.length}`]]) {
            answer([`Content-Type: ${type}`, ...length], body);
            const received = await told();
            assert.equal(received.status, status, `${type} ${body}`);
            if (status === 200) assert.equal(received.body, delivered, `${type} ${body}`);
          }
        }
      });
    });
  }
});
