import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";

/** Longer than the gateways below let an application be silent. */
const LONG = 1_500;

const definition = loadSync(fileURLToPath(new URL("interop.proto", import.meta.url)), { defaults: true });
const Interop = (grpc.loadPackageDefinition(definition)["interop"] as grpc.GrpcObject)[
  "Interop"
] as grpc.ServiceClientConstructor;

interface Message {
  readonly text?: string;
  readonly code?: number;
  readonly pause?: number;
}
type Stream = grpc.ServerDuplexStream<Message, Message>;
type Callback = (error: grpc.ServiceError | null, reply?: Message) => void;
type UnaryCall = (
  message: Message,
  metadata: grpc.Metadata,
  options: grpc.CallOptions,
  done: Callback,
) => grpc.ClientUnaryCall;

/** The calls of interop.proto. */
interface InteropClient extends grpc.Client {
  Unary: UnaryCall;
  Silent: UnaryCall;
  ServerStream(message: Message, metadata: grpc.Metadata): grpc.ClientReadableStream<Message>;
  ClientStream(metadata: grpc.Metadata, done: Callback): grpc.ClientWritableStream<Message>;
  Chat(metadata: grpc.Metadata): grpc.ClientDuplexStream<Message, Message>;
  Masked(metadata: grpc.Metadata): grpc.ClientDuplexStream<Message, Message>;
}

/** The application: a real gRPC server. */
async function startInterop() {
  const cancelled: string[] = [];
  const server = new grpc.Server();
  const chat = (call: Stream) => {
    call.on("data", ({ text }: Message) => call.write({ text: `re: ${text ?? ""}` }));
    call.on("end", () => {
      call.end();
    });
    call.on("cancelled", () => cancelled.push("chat"));
  };
  server.addService(Interop.service, {
    Unary(call: grpc.ServerUnaryCall<Message, Message>, done: grpc.sendUnaryData<Message>) {
      const sent = new grpc.Metadata();
      sent.set("x-seen", String(call.metadata.get("x-sent")[0]));
      sent.set("x-user", String(call.metadata.get("x-user-id")[0]));
      sent.set("x-binary-bin", call.metadata.get("x-binary-bin")[0] ?? Buffer.alloc(0));
      call.sendMetadata(sent);
      const trailers = new grpc.Metadata();
      trailers.set("x-trailer", "end");
      const { code = 0, text = "" } = call.request;
      if (code === 0) done(null, { text: `re: ${text}` }, trailers);
      else done({ code, details: "because, ü", metadata: trailers });
    },
    async ServerStream(call: grpc.ServerWritableStream<Message, Message>) {
      call.on("cancelled", () => cancelled.push("server stream"));
      for (let count = 0; count < 3 && !call.cancelled; count++) {
        call.write({ text: String(count) });
        await sleep(call.request.pause);
      }
      call.end();
    },
    ClientStream(call: grpc.ServerReadableStream<Message, Message>, done: grpc.sendUnaryData<Message>) {
      const texts: string[] = [];
      call.on("data", ({ text }: Message) => texts.push(text ?? ""));
      call.on("end", () => {
        done(null, { text: texts.join() });
      });
    },
    Chat: chat,
    Masked: chat,
    Silent: () => undefined,
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    url: `h2c://127.0.0.1:${port}`,
    cancelled,
    stop: () => {
      server.forceShutdown();
    },
  };
}

/** All that a call ends with. */
interface Ended {
  readonly replies: readonly string[];
  readonly status: grpc.StatusObject;
  readonly metadata?: grpc.Metadata;
}

function collect(call: grpc.ClientReadableStream<Message>): Promise<Ended> {
  return new Promise((resolve) => {
    const replies: string[] = [];
    let metadata: grpc.Metadata | undefined;
    call.on("metadata", (received: grpc.Metadata) => (metadata = received));
    call.on("data", ({ text }: Message) => replies.push(text ?? ""));
    call.on("error", () => undefined);
    call.on("status", (status: grpc.StatusObject) => {
      resolve({ replies, status, ...(metadata && { metadata }) });
    });
  });
}

describe("gRPC through the gateway, with grpc-js", function () {
  this.timeout(120_000);
  let application: Awaited<ReturnType<typeof startInterop>>;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let client: InteropClient;
  let credentials: grpc.Metadata;

  before(async () => {
    [application, issuer] = await Promise.all([startInterop(), startIssuer()]);
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: {
        "default.yaml": `
policies:
  - { resource: "POST /interop.Interop/{method}", condition: exists(user.id) }
  - { resource: "POST /interop.Interop/ClientStream", condition: user.role == "writer" }
response_masks:
  - { api_pattern: /interop.Interop/Masked, fields: [{ name: text, condition: "true", mask_type: full }] }
`,
      },
      config: {
        gateway: {
          upstream_timeout: "1s",
          routes: [{ path: "/interop.Interop/Silent", idle_timeout: "1s" }],
        },
      },
    });
    const address = `127.0.0.1:${gateway.port}`;
    client = new Interop(address, grpc.credentials.createInsecure()) as unknown as InteropClient;
    credentials = new grpc.Metadata();
    credentials.set("authorization", `Bearer ${await issuer.token({ sub: "ann", role: "writer" })}`);
  });
  after(async () => {
    client.close();
    await gateway.stop();
    application.stop();
    await issuer.close();
  });

  const unary = (
    message: Message,
    metadata: grpc.Metadata,
    options: grpc.CallOptions = {},
    method: "Unary" | "Silent" = "Unary",
  ) =>
    new Promise<{
      reply?: string;
      error?: grpc.ServiceError;
      headers?: grpc.Metadata;
      trailers?: grpc.Metadata;
    }>((resolve) => {
      let headers: grpc.Metadata | undefined;
      const call = client[method](
        message,
        metadata,
        options,
        (error: grpc.ServiceError | null, reply?: Message) => {
          call.once("status", ({ metadata: trailers }: grpc.StatusObject) => {
            const { text } = reply ?? {};
            resolve({
              trailers,
              ...(error && { error }),
              ...(text !== undefined && { reply: text }),
              ...(headers && { headers }),
            });
          });
        },
      );
      call.on("metadata", (received: grpc.Metadata) => (headers = received));
    });

  it("unary: message, metadata in both directions, trailers, and our identity headers", async () => {
    const metadata = credentials.clone();
    metadata.set("x-sent", "value");
    metadata.set("x-user-id", "forged");
    metadata.set("x-binary-bin", Buffer.from([0, 255, 10]));
    const { reply, headers, trailers } = await unary({ text: "hello" }, metadata);
    assert.equal(reply, "re: hello");
    assert.deepEqual([headers?.get("x-seen"), headers?.get("x-user")], [["value"], ["ann"]]);
    assert.deepEqual(headers?.get("x-binary-bin"), [Buffer.from([0, 255, 10])]);
    assert.deepEqual(trailers?.get("x-trailer"), ["end"]);
  });

  it("the application's statuses, with details and trailers", async () => {
    for (const code of Object.values(grpc.status)) {
      if (typeof code !== "number" || code === grpc.status.OK) continue;
      const { error, trailers } = await unary({ code }, credentials);
      assert.deepEqual([error?.code, error?.details], [code, "because, ü"]);
      assert.deepEqual(trailers?.get("x-trailer"), ["end"]);
    }
  });

  it("our denials", async () => {
    const reader = new grpc.Metadata();
    reader.set("authorization", `Bearer ${await issuer.token({ sub: "bob", role: "reader" })}`);
    assert.equal((await unary({}, new grpc.Metadata())).error?.code, grpc.status.UNAUTHENTICATED);
    const denied = await new Promise<grpc.ServiceError | null>((resolve) => {
      client.ClientStream(reader, resolve).end();
    });
    assert.equal(denied?.code, grpc.status.PERMISSION_DENIED);
  });

  it("server streaming that is silent for longer than other responses may be", async () => {
    const call = client.ServerStream({ pause: LONG }, credentials);
    const { replies, status } = await collect(call);
    assert.deepEqual([replies, status.code], [["0", "1", "2"], grpc.status.OK]);
  });

  it("client streaming, slowly", async () => {
    const reply = await new Promise<Message | undefined>((resolve, reject) => {
      const call = client.ClientStream(credentials, (error: grpc.ServiceError | null, value?: Message) => {
        if (error) reject(error);
        else resolve(value);
      });
      call.write({ text: "a" });
      setTimeout(() => {
        call.write({ text: "b" });
        call.end();
      }, LONG);
    });
    assert.equal(reply?.text, "a,b");
  });

  it("bidirectional streaming: each reply before the next request", async () => {
    const call = client.Chat(credentials);
    for (const text of ["a", "b", "c"]) {
      call.write({ text });
      const [reply] = (await once(call, "data")) as [Message];
      assert.equal(reply.text, `re: ${text}`);
      await sleep(LONG / 3);
    }
    call.end();
    assert.equal((await collect(call)).status.code, grpc.status.OK);
  });

  it("deadlines, and cancellation that reaches the application", async () => {
    const late = await unary({}, credentials, { deadline: Date.now() + 300 }, "Silent");
    assert.equal(late.error?.code, grpc.status.DEADLINE_EXCEEDED);
    const call = client.Chat(credentials);
    call.write({ text: "a" });
    await once(call, "data");
    call.cancel();
    assert.equal((await collect(call)).status.code, grpc.status.CANCELLED);
    await eventually("the cancellation", () => application.cancelled.includes("chat"));
  });

  it("silence beyond the idle timeout of the route: UNAVAILABLE", async () => {
    const { error } = await unary({}, credentials, {}, "Silent");
    assert.equal(error?.code, grpc.status.UNAVAILABLE, error?.message);
  });

  it("a response rule: refused at the headers, and recorded", async () => {
    const call = client.Masked(credentials);
    call.write({ text: "a" });
    const { replies, status } = await collect(call);
    assert.deepEqual([replies, status.code], [[], grpc.status.INTERNAL]);
    assert.match(status.details, /^RESPONSE_NOT_DELIVERED: /);
    await eventually("the outcome", async () =>
      (await gateway.audit()).some(({ result, reason }) => result === "refused" && reason === "not_json"),
    );
  });
});
