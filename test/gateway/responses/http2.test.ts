import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo } from "node:net";
import * as grpc from "@grpc/grpc-js";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { field, planned, responsePlan } from "../support/plans.ts";
import { CLIENTS } from "../support/told.ts";

const SECRET = "123-45-6789";
const JSON_BODY = `{"ssn":"${SECRET}"}`;
const MASKED = '{"ssn":"***"}';

describe("gateway: nothing of an HTTP/2 application's original answer", () => {
  let gateway: TestGateway;
  let respond: (stream: ServerHttp2Stream, method: string) => void = () => undefined;
  const application = createServer();
  application.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    respond(stream, String(headers[":method"]));
  });

  before(async () => {
    await once(application.listen(0, "127.0.0.1"), "listening");
    const { port } = application.address() as AddressInfo;
    gateway = await startGateway({
      overrides: { "gateway.backend": `h2c://127.0.0.1:${port}` },
    });
    gateway.authz.decide = ({ attributes }) =>
      planned(responsePlan(field("ssn")), { method: attributes.request.http.method });
  });
  after(async () => {
    await gateway.stop();
    application.close();
  });

  /** Answers with this body, and says it once more in trailers. */
  const withTrailers = (type: string, parts: readonly string[], status = 200) => {
    respond = (stream) => {
      stream.respond({ ":status": status, "content-type": type }, { waitForTrailers: true });
      stream.on("wantTrailers", () => {
        stream.sendTrailers({ "repr-digest": SECRET, "x-ssn": SECRET, "x-other": "1" });
      });
      for (const part of parts) stream.write(part);
      stream.end();
    };
  };

  for (const [protocol, ask] of CLIENTS) {
    it(`is told by trailers, over ${protocol}`, async () => {
      const cases: readonly (readonly [
        type: string,
        parts: readonly string[],
        status: number,
        method: string,
      ])[] = [
        ["application/json", [JSON_BODY], 200, "GET"],
        ["application/x-ndjson", [`${JSON_BODY}\n`, `${JSON_BODY}\n`], 200, "GET"],
        ["text/event-stream", [`data: ${JSON_BODY}\n\n`], 200, "GET"],
        ["text/html", [JSON_BODY], 502, "GET"],
        ["application/json", ["{"], 502, "GET"],
        ["application/json", [], 200, "GET"],
        // the type of a stream that may never end
        ["application/grpc", [], 502, "GET"],
        ["application/json", [], 200, "HEAD"],
        ["application/json", [], 204, "GET"],
        ["application/json", [], 304, "GET"],
      ];
      for (const [type, parts, status, method] of cases) {
        withTrailers(type, parts, status === 502 ? 200 : status);
        const told = await ask(gateway.port, method);
        const what = JSON.stringify([type, parts, status, method, told]);
        assert.equal(told.status, status, what);
        for (const name of ["x-other", "x-ssn", "repr-digest", SECRET])
          assert.ok(!`${told.head}${told.body}`.includes(name), what);
      }
    });

    it(`is lost, over ${protocol}: the last line of a stream needs no line feed`, async () => {
      respond = (stream) => {
        stream.respond({ ":status": 200, "content-type": "application/x-ndjson" });
        stream.end(`${JSON_BODY}\n${JSON_BODY}`);
      };
      assert.equal((await ask(gateway.port, "GET")).body, `${MASKED}\n${MASKED}`);
    });
  }
});

describe("gateway: endless answers of an HTTP/2 application under a response rule", () => {
  let gateway: TestGateway;
  let respond: (stream: ServerHttp2Stream) => void = () => undefined;
  const application = createServer();
  application.on("stream", (stream) => {
    stream.on("error", () => undefined);
    respond(stream);
  });
  /** Answers without an end; the promise resolves when Envoy has ended the stream. */
  const endless = (headers: Record<string, string>, ended: () => void) => (stream: ServerHttp2Stream) => {
    stream.respond({ ":status": 200, ...headers });
    stream.write(SECRET);
    stream.on("close", ended);
  };

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
    it(`are refused at their headers, and ended, over ${protocol}`, async () => {
      for (const headers of [
        { "content-type": "text/plain" },
        { "content-type": "multipart/x-mixed-replace; boundary=frame" },
        { "content-type": "application/json-seq" },
        { "content-type": "application/json", "content-encoding": "gzip" },
        // names of ours mean nothing in an application's answer
        { "content-type": "video/mp4", "x-gatehouse-refuse": "refuse-answer" },
      ]) {
        const what = JSON.stringify(headers);
        const ended = new Promise<void>((resolve) => (respond = endless(headers, resolve)));
        const told = await ask(gateway.port, "GET");
        assert.deepEqual([told.status, told.body.includes(SECRET)], [502, false], what);
        assert.ok(told.body.includes("RESPONSE_NOT_DELIVERED"), what);
        assert.match(told.head, /cache-control: no-store/, what);
        await ended;
      }
    });
  }

  const call = (): Promise<grpc.StatusObject> =>
    new Promise((resolve) => {
      const client = new grpc.Client(`127.0.0.1:${gateway.port}`, grpc.credentials.createInsecure());
      const bytes = (value: Buffer) => value;
      const stream = client.makeBidiStreamRequest("/a.Service/Chat", bytes, bytes);
      stream.on("error", () => undefined);
      stream.on("data", () => undefined);
      stream.on("status", (status: grpc.StatusObject) => {
        resolve(status);
        client.close();
      });
      stream.write(Buffer.from("hello"));
    });

  it("of gRPC are gRPC errors, and the call is not one to repeat", async () => {
    const ended = new Promise<void>((resolve) => {
      respond = endless({ "content-type": "application/grpc" }, resolve);
    });
    const { code, details } = await call();
    assert.equal(code, grpc.status.INTERNAL);
    assert.match(details, /^RESPONSE_NOT_DELIVERED: /);
    await ended;
  });

  it("leave gRPC calls that failed their status, and nothing of a body", async () => {
    const failed = { ":status": 200, "content-type": "application/grpc", "grpc-status": "5" };
    respond = (stream) => {
      stream.respond(failed, { endStream: true });
    };
    assert.equal((await call()).code, grpc.status.NOT_FOUND);
    respond = (stream) => {
      stream.respond(failed);
      stream.end(SECRET);
    };
    for (const [, ask] of CLIENTS) {
      const { head, body } = await ask(gateway.port, "GET");
      assert.ok(!`${head}${body}`.includes(SECRET));
    }
  });
});

const PREFACE_BYTES = 24;

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The frames of a request's HEADERS, in the bytes that a client has sent so far. */
function requestsIn(bytes: Buffer): number[] {
  const streams: number[] = [];
  for (let at = PREFACE_BYTES; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3))
    if (bytes[at + 3] === 1) streams.push(bytes.readUInt32BE(at + 5));
  return streams;
}

describe("gateway: nothing of an original in odd HTTP/2 frames", () => {
  let gateway: TestGateway;
  let type = "";
  /** Payloads of DATA frames; empty ones are sent, too, which no library does. */
  let parts: readonly string[] = [];
  const application = createTcpServer((socket) => {
    let received = Buffer.alloc(0);
    let answered = 0;
    socket.on("error", () => undefined);
    socket.write(Buffer.concat([frame(4, 0, 0), frame(4, 1, 0)]));
    socket.on("data", (data) => {
      received = Buffer.concat([received, data]);
      const streams = requestsIn(received);
      for (const stream of streams.slice(answered)) {
        // HPACK: `:status: 200` is entry 8, `content-type` the name of entry 31
        const head = Buffer.from([0x88, 0x0f, 0x10, type.length, ...Buffer.from(type)]);
        socket.write(frame(1, 4, stream, head));
        for (const part of parts) socket.write(frame(0, 0, stream, Buffer.from(part)));
        socket.write(frame(0, 1, stream));
      }
      answered = streams.length;
    });
  });

  before(async () => {
    await once(application.listen(0, "127.0.0.1"), "listening");
    const { port } = application.address() as AddressInfo;
    gateway = await startGateway({
      overrides: { "gateway.backend": `h2c://127.0.0.1:${port}` },
    });
    gateway.authz.decide = () => planned(responsePlan(field("ssn")));
  });
  after(async () => {
    await gateway.stop();
    application.close();
  });

  const CASES: readonly (readonly [type: string, parts: readonly string[], delivered: string])[] = [
    ["application/json", ['{"ss', `n":"${SECRET}"}`], MASKED],
    ["application/x-ndjson", ['{"a":1}\n{"a":2,', `"ssn":"${SECRET}"}\n`], '{"a":1}\n{"a":2,"ssn":"***"}\n'],
    ["application/x-ndjson", ["{}\n", JSON_BODY], `{}\n${MASKED}`],
    ["text/event-stream", ['data: {"ss', `n":"${SECRET}"}\n\n`], `data: ${MASKED}\n\n`],
    ["text/event-stream", ["data: {}\n", `ssn:${SECRET}\n\ndata: 1\n\n`], "data: 1\n\n"],
  ];
  for (const [protocol, ask] of CLIENTS) {
    it(`passes between empty ones, over ${protocol}`, async () => {
      for (const [label, pieces, delivered] of CASES) {
        type = label;
        // Envoy takes several in a row for a flood
        parts = pieces.flatMap((piece) => ["", piece]);
        const { status, body } = await ask(gateway.port, "GET");
        assert.deepEqual([status, body], [200, delivered], label);
      }
    });
  }
});
