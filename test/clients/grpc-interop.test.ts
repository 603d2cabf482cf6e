import assert from "node:assert/strict";
import { once } from "node:events";
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2Server,
  type IncomingHttpHeaders,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import * as grpc from "@grpc/grpc-js";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import {
  Absent,
  startSuite,
  Suite,
  type AbsentClient,
  type Done,
  type Sized,
  type SuiteClient,
} from "./support/grpc-suite.ts";

/** A flag of a single message, which grpc-js takes but does not export. */
const NO_COMPRESS = 2;

/** White space at both ends, letters of two, three and four bytes, and what looks like an escape. */
const SPECIAL = "\t\n zażółć ☺ 😈 100%41 \r\n";

interface Ended {
  readonly replies: readonly number[];
  readonly status: grpc.StatusObject;
  readonly metadata: grpc.Metadata | undefined;
}

/** All that a stream ends with. @param replies - sizes of what was received before */
function collect(call: grpc.ClientReadableStream<Sized>, replies: number[] = []): Promise<Ended> {
  return new Promise((resolve) => {
    let metadata: grpc.Metadata | undefined;
    call.on("metadata", (received: grpc.Metadata) => (metadata = received));
    call.on("data", ({ payload }: Sized) => replies.push(payload?.length ?? 0));
    // the status says which
    call.on("error", () => undefined);
    call.on("status", (status: grpc.StatusObject) => {
      resolve({ replies, status, metadata });
    });
  });
}

describe("gRPC's interoperability tests through the gateway", function () {
  this.timeout(120_000);
  let application: Awaited<ReturnType<typeof startSuite>>;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let client: SuiteClient;
  let credentials: grpc.Metadata;
  const clients: grpc.Client[] = [];

  const connect = (
    service: grpc.ServiceClientConstructor,
    options: grpc.ChannelOptions = {},
  ): grpc.Client => {
    const address = `127.0.0.1:${gateway.port}`;
    const opened = new service(address, grpc.credentials.createInsecure(), options);
    clients.push(opened);
    return opened;
  };

  before(async () => {
    [application, issuer] = await Promise.all([startSuite(), startIssuer()]);
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: {
        "default.yaml": `
policies:
  - { resource: "POST /interop.Suite/{method}", condition: exists(user.id) }
  - { resource: "POST /interop.Absent/{method}", condition: exists(user.id) }
`,
      },
    });
    client = connect(Suite) as SuiteClient;
    credentials = new grpc.Metadata();
    credentials.set("authorization", `Bearer ${await issuer.token({ sub: "ann" })}`);
  });
  after(async () => {
    for (const opened of clients) opened.close();
    await gateway.stop();
    application.stop();
    await issuer.close();
  });
  beforeEach(() => {
    Object.assign(application.seen, { begun: 0, cancelled: 0, deadlines: [] });
  });

  /** A unary call, to its end. */
  const unary = <Message>(
    method: (done: Done<Message>) => grpc.ClientUnaryCall,
  ): Promise<{
    error: grpc.ServiceError | null;
    reply?: Message;
    first?: grpc.Metadata;
    last: grpc.Metadata;
  }> =>
    new Promise((resolve) => {
      let first: grpc.Metadata | undefined;
      const call = method((error, reply) => {
        call.once("status", ({ metadata }: grpc.StatusObject) => {
          resolve({ error, last: metadata, ...(reply && { reply }), ...(first && { first }) });
        });
      });
      call.on("metadata", (received: grpc.Metadata) => (first = received));
    });

  const metadataWith = (entries: Readonly<Record<string, string | Buffer>>) => {
    const metadata = credentials.clone();
    for (const [name, value] of Object.entries(entries)) metadata.add(name, value);
    return metadata;
  };

  it("empty unary", async () => {
    const { error, reply } = await unary((done) => client.Empty({}, credentials, done));
    assert.deepEqual([error, reply], [null, {}]);
  });

  it("large unary, in both directions", async () => {
    for (const [sent, size] of [
      [300_000, 400_000],
      [3_000_000, 3_500_000],
    ] as const) {
      const message = { payload: Buffer.alloc(sent, 1), size };
      const { error, reply } = await unary<Sized>((done) => client.Unary(message, credentials, done));
      assert.equal(error, null);
      assert.deepEqual([reply?.text, reply?.payload?.length], [String(sent), size]);
      assert.ok(reply?.payload?.every((byte) => byte === 7));
    }
  });

  it("empty stream", async () => {
    const call = client.Both(credentials);
    call.end();
    const { replies, status } = await collect(call);
    assert.deepEqual([replies, status.code], [[], grpc.status.OK]);
  });

  it("streams of messages of many sizes, in both directions", async () => {
    const sizes = [31_415, 9, 0, 2653, 58_979, 200_000];
    const call = client.Both(credentials);
    for (const size of sizes) call.write({ payload: Buffer.alloc(size), size });
    call.end();
    const { replies, status } = await collect(call);
    assert.deepEqual([replies, status.code], [sizes, grpc.status.OK]);
    const total = await new Promise<number | undefined>((resolve, reject) => {
      const upload = client.Upload(credentials, (error, reply) => {
        if (error) reject(error);
        else resolve(reply?.size);
      });
      for (const size of sizes) upload.write({ payload: Buffer.alloc(size) });
      upload.end();
    });
    assert.equal(
      total,
      sizes.reduce((sum, size) => sum + size, 0),
    );
  });

  it("cancel after begin: at once, and when the application has begun", async () => {
    for (const waits of [false, true]) {
      let call: grpc.ClientWritableStream<Sized> | undefined;
      const ended = new Promise<grpc.ServiceError | null>((resolve) => {
        call = client.Upload(credentials, resolve);
      });
      if (waits) await eventually("the call has begun", () => application.seen.begun === 1);
      call?.cancel();
      assert.equal((await ended)?.code, grpc.status.CANCELLED);
      if (waits) await eventually("the cancellation", () => application.seen.cancelled === 1);
      assert.equal((await unary((done) => client.Empty({}, credentials, done))).error, null);
      Object.assign(application.seen, { begun: 0, cancelled: 0 });
    }
  });

  it("cancel after the first response", async () => {
    const call = client.Both(credentials);
    call.write({ size: 31_415 });
    const [{ payload }] = (await once(call, "data")) as [Sized];
    assert.equal(payload?.length, 31_415);
    call.cancel();
    assert.equal((await collect(call)).status.code, grpc.status.CANCELLED);
    await eventually("the cancellation", () => application.seen.cancelled === 1);
  });

  it("a server that sleeps, and a deadline, which the application is told", async () => {
    const call = client.Both(credentials, { deadline: Date.now() + 1_000 });
    call.write({ sleep: true });
    const { replies, status } = await collect(call);
    assert.deepEqual([replies, status.code], [[], grpc.status.DEADLINE_EXCEEDED]);
    const [deadline] = application.seen.deadlines;
    assert.ok(Number.isFinite(Number(deadline)), String(deadline));
    await eventually("the cancellation", () => application.seen.cancelled === 1);
  });

  it("an unimplemented method, and an unimplemented service", async () => {
    const absent = connect(Absent) as AbsentClient;
    for (const { error } of [
      await unary((done) => client.Missing({}, credentials, done)),
      await unary((done) => absent.Any({}, credentials, done)),
    ])
      assert.equal(error?.code, grpc.status.UNIMPLEMENTED, error?.message);
    await eventually("the records", async () => {
      const found = (await gateway.audit()).filter(({ resource }) =>
        ["/interop.Suite/Missing", "/interop.Absent/Any"].includes(resource),
      );
      return found.length === 2 && found.every(({ decision }) => decision === "ALLOW");
    });
  });

  it("compressed requests, beside ones that are not", async () => {
    for (const name of ["gzip", "deflate"] as const) {
      const compressing = connect(Suite, {
        "grpc.default_compression_algorithm": grpc.compressionAlgorithms[name],
      }) as SuiteClient;
      const message = { payload: Buffer.alloc(271_000, 1), size: 100 };
      const { error, reply } = await unary<Sized>((done) => compressing.Unary(message, credentials, done));
      assert.deepEqual([error, reply?.text, reply?.payload?.length], [null, "271000", 100]);
      const call = compressing.Both(credentials);
      for (const [size, flags] of [
        [27_182, 0],
        [45_904, NO_COMPRESS],
      ] as const)
        call.write({ payload: Buffer.alloc(size), size }, flags as unknown as BufferEncoding);
      call.end();
      const { replies, status } = await collect(call);
      assert.deepEqual([replies, status.code], [[27_182, 45_904], grpc.status.OK]);
    }
  });

  it("a compressed request as it is on the wire: its flag, its encoding and its bytes pass unchanged", async () => {
    const { requestSerialize, responseDeserialize } = Suite.service["Unary"] as grpc.MethodDefinition<
      Sized,
      Sized
    >;
    const send = async (message: Buffer) => {
      const session = connectHttp2(gateway.url);
      const stream = session.request({
        ...{ ":method": "POST", ":path": "/interop.Suite/Unary", te: "trailers" },
        ...{ "content-type": "application/grpc", "grpc-encoding": "gzip" },
        authorization: String(credentials.get("authorization")[0]),
      });
      let trailers: IncomingHttpHeaders = {};
      const note = (headers: IncomingHttpHeaders) => (trailers = { ...trailers, ...headers });
      stream.on("response", note).on("trailers", note);
      const head = Buffer.from([1, 0, 0, 0, 0]);
      head.writeUInt32BE(message.length, 1);
      stream.end(Buffer.concat([head, message]));
      const reply = await buffer(stream);
      session.close();
      return { status: trailers["grpc-status"], reply };
    };
    const plain = requestSerialize({ payload: Buffer.alloc(271_000, 1), size: 100 });
    const compressed = gzipSync(plain);
    assert.ok(compressed.length < 2000);
    const { status, reply } = await send(compressed);
    assert.equal(status, "0");
    assert.equal(responseDeserialize(reply.subarray(5)).text, "271000");
    // the server looks at the flag and the encoding
    assert.notEqual((await send(plain)).status, "0");
  });

  it("custom metadata, at the beginning and at the end, of one message and of a stream", async () => {
    const binary = Buffer.from([0xab, 0xab, 0xab, 0, 255]);
    const metadata = metadataWith({ "x-echo": "initial value", "x-echo-bin": binary });
    const { error, first, last } = await unary<Sized>((done) => client.Unary({}, metadata, done));
    assert.equal(error, null);
    assert.deepEqual([first?.get("x-echo"), last.get("x-echo-bin")], [["initial value"], [binary]]);
    const call = client.Both(metadata);
    call.write({ size: 1 });
    call.end();
    const ended = await collect(call);
    assert.deepEqual(ended.metadata?.get("x-echo"), ["initial value"]);
    assert.deepEqual(ended.status.metadata.get("x-echo-bin"), [binary]);
  });

  it("a status code and its message, plain and with any Unicode, of one message and of a stream", async () => {
    for (const text of ["a test's message", SPECIAL]) {
      const message = { code: grpc.status.UNKNOWN, text };
      const { error } = await unary<Sized>((done) => client.Unary(message, credentials, done));
      assert.deepEqual([error?.code, error?.details], [grpc.status.UNKNOWN, text]);
      const call = client.Both(credentials);
      call.write(message);
      call.end();
      const { status } = await collect(call);
      assert.deepEqual([status.code, status.details], [grpc.status.UNKNOWN, text]);
    }
  });
});

describe("gRPC responses that the application compresses, through the gateway", function () {
  this.timeout(120_000);
  const PAYLOAD = Buffer.alloc(271_000, 3);
  let server: Http2Server;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  const onTheWire: number[] = [];

  before(async () => {
    const { responseSerialize } = Suite.service["Unary"] as grpc.MethodDefinition<Sized, Sized>;
    const body = gzipSync(responseSerialize({ payload: PAYLOAD }));
    const head = Buffer.from([1, 0, 0, 0, 0]);
    head.writeUInt32BE(body.length, 1);
    // grpc-js compresses as a client only
    server = createHttp2Server().on("stream", (stream, headers) => {
      assert.match(String(headers["grpc-accept-encoding"]), /gzip/);
      stream.respond(
        { ":status": 200, "content-type": "application/grpc", "grpc-encoding": "gzip" },
        { waitForTrailers: true },
      );
      stream.on("wantTrailers", () => {
        stream.sendTrailers({ "grpc-status": "0" });
      });
      onTheWire.push(head.length + body.length);
      stream.write(Buffer.concat([head, body]));
      stream.end(Buffer.concat([head, body]));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    issuer = await startIssuer();
    gateway = await startGateway({
      backend: `h2c://127.0.0.1:${(server.address() as AddressInfo).port}`,
      issuer,
      policies: {
        "default.yaml": 'policies:\n  - { resource: "POST /interop.Suite/Both", condition: "true" }\n',
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    server.close();
  });

  it("reach the client as they are, message by message", async () => {
    const client = new Suite(
      `127.0.0.1:${gateway.port}`,
      grpc.credentials.createInsecure(),
    ) as unknown as SuiteClient;
    try {
      const call = client.Both(new grpc.Metadata());
      call.end();
      const { replies, status } = await collect(call);
      assert.deepEqual([replies, status.code], [[PAYLOAD.length, PAYLOAD.length], grpc.status.OK]);
      assert.ok((onTheWire[0] ?? PAYLOAD.length) < PAYLOAD.length / 100);
    } finally {
      client.close();
    }
  });
});
