import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import grpcWeb from "grpc-web";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";

type Format = "text" | "binary";

/** What grpc-web uses of the browser's XMLHttpRequest, over fetch. */
class Request {
  readyState = 0;
  status = 0;
  statusText = "";
  response: ArrayBuffer | string = "";
  responseText = "";
  responseType = "";
  responseURL = "";
  withCredentials = false;
  onreadystatechange: (() => void) | null = null;
  readonly #headers: Record<string, string> = {};
  #sent: { readonly url: string; readonly method: string } = { url: "", method: "" };
  #received = "";

  open(method: string, url: string): void {
    this.#sent = { method, url };
  }
  setRequestHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }
  getResponseHeader(name: string): string | null {
    return new RegExp(`^${name}: (.*)$`, "im").exec(this.#received)?.[1] ?? null;
  }
  getAllResponseHeaders(): string {
    return this.#received;
  }
  abort(): void {
    this.onreadystatechange = null;
  }
  send(body: Uint8Array<ArrayBuffer> | string): void {
    const { url, method } = this.#sent;
    void fetch(url, { method, headers: this.#headers, body }).then(async (response) => {
      this.#received = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
      this.status = response.status;
      this.#enter(2);
      const parts: Uint8Array[] = [];
      for await (const part of response.body ?? []) {
        parts.push(part as Uint8Array);
        // in the binary format, browsers give nothing out before the end
        if (this.responseType === "arraybuffer") continue;
        this.response = this.responseText = Buffer.concat(parts).toString("latin1");
        this.#enter(3);
      }
      if (this.responseType === "arraybuffer") this.response = new Uint8Array(Buffer.concat(parts)).buffer;
      this.#enter(4);
    });
  }
  #enter(state: number): void {
    this.readyState = state;
    this.onreadystatechange?.();
  }
}

/** Frames of the grpc-web protocol: a flag, a length and that many bytes. */
function frame(flag: number, text: string): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

describe("grpc-web through the gateway, with the npm client", function () {
  this.timeout(120_000);
  let gateway: RunningGateway;
  let issuer: TestIssuer;
  /** Content types that reached the application. */
  const seen: string[] = [];
  /** The client has the first message of the stream; until then, the application sends no other one. */
  let confirm: () => void = () => undefined;
  let received = Promise.resolve();
  const application = createServer((request, response) => {
    if (request.url === "/a.Service/Broken") {
      request.socket.destroy();
      return;
    }
    const type = request.headers["content-type"] ?? "";
    const isText = type === "application/grpc-web-text";
    seen.push(type);
    void buffer(request).then(async (bytes) => {
      const sent = isText ? Buffer.from(bytes.toString("latin1"), "base64") : bytes;
      const text = sent.subarray(5).toString();
      const write = (part: Buffer) => response.write(isText ? part.toString("base64") : part);
      response.setHeader("content-type", type);
      write(frame(0, `re: ${text}`));
      if (request.url === "/a.Service/Stream") {
        await received;
        write(frame(0, `again: ${text}`));
      }
      write(frame(0x80, "grpc-status: 0\r\ngrpc-message: \r\n"));
      response.end();
    });
  });
  const xhr = Reflect.get(globalThis, "XMLHttpRequest") as unknown;

  before(async () => {
    Reflect.set(globalThis, "XMLHttpRequest", Request);
    await once(application.listen(0, "127.0.0.1"), "listening");
    issuer = await startIssuer();
    gateway = await startGateway({
      backend: `http://127.0.0.1:${(application.address() as AddressInfo).port}`,
      issuer,
      policies: {
        "default.yaml": `
policies:
  - { resource: "POST /a.Service/{method}", condition: exists(user.id) }
  - { resource: "POST /a.Service/Forbidden", condition: user.id == "bob" }
response_masks:
  - { api_pattern: /a.Service/Masked, fields: [{ name: text, condition: "true", mask_type: full }] }
`,
      },
    });
  });
  after(async () => {
    Reflect.set(globalThis, "XMLHttpRequest", xhr);
    await gateway.stop();
    application.closeAllConnections();
    application.close();
    await issuer.close();
  });

  beforeEach(() => {
    seen.length = 0;
    received = new Promise((resolve) => (confirm = resolve));
  });

  const describeCall = (method: string, type: "unary" | "server_streaming") =>
    new grpcWeb.MethodDescriptor<string, string>(
      `/a.Service/${method}`,
      type,
      String as never,
      String as never,
      (text: string) => Buffer.from(text),
      (bytes: Uint8Array) => Buffer.from(bytes).toString(),
    );
  const clientOf = (format: Format) => new grpcWeb.GrpcWebClientBase({ format });
  const call = (format: Format, method: string, metadata: Readonly<grpcWeb.Metadata>) =>
    new Promise<{ reply?: string; error?: grpcWeb.RpcError }>((resolve) => {
      clientOf(format).rpcCall(
        `${gateway.url}/a.Service/${method}`,
        "hello",
        metadata,
        describeCall(method, "unary"),
        (error: grpcWeb.RpcError | null, reply?: string) => {
          resolve({ ...(error && { error }), ...(reply && { reply }) });
        },
      );
    });

  for (const format of ["text", "binary"] as const) {
    it(`calls get replies, and the status of denials and refusals (${format})`, async () => {
      const metadata = { authorization: `Bearer ${await issuer.token({ sub: "ann" })}` };
      const { reply, error } = await call(format, "Say", metadata);
      assert.deepEqual([reply, error?.code], ["re: hello", undefined]);
      const type = format === "text" ? "application/grpc-web-text" : "application/grpc-web+proto";
      assert.deepEqual(seen, [type]);
      const { UNAUTHENTICATED, PERMISSION_DENIED, UNAVAILABLE, UNKNOWN } = grpcWeb.StatusCode;
      for (const [method, sent, expected] of [
        ["Say", {}, UNAUTHENTICATED],
        ["Say", { authorization: "Bearer nonsense" }, UNAUTHENTICATED],
        ["Forbidden", metadata, PERMISSION_DENIED],
        // of Envoy, about the application
        ["Broken", metadata, UNAVAILABLE],
        // gRPC has no status for 502, and the client looks at nothing else
        ["Masked", metadata, UNKNOWN],
      ] as const) {
        const refused = await call(format, method, sent);
        assert.deepEqual([refused.reply, refused.error?.code], [undefined, expected], method);
        assert.match(refused.error?.message ?? "", /http status code/, method);
      }
    });
  }

  it("a stream from the server: each message when it is sent, then the status", async () => {
    const metadata = { authorization: `Bearer ${await issuer.token({ sub: "ann" })}` };
    const url = `${gateway.url}/a.Service/Stream`;
    const stream = clientOf("text").serverStreaming(
      url,
      "hello",
      metadata,
      describeCall("Stream", "server_streaming"),
    );
    const replies: unknown[] = [];
    const status = new Promise<grpcWeb.Status>((resolve, reject) => {
      stream.on("data", (reply: unknown) => {
        replies.push(reply);
        confirm();
      });
      stream.on("status", resolve);
      stream.on("error", reject);
    });
    assert.equal((await status).code, grpcWeb.StatusCode.OK);
    assert.deepEqual(replies, ["re: hello", "again: hello"]);
  });

  it("a stream that is denied ends with that status, and has no message", async () => {
    const stream = clientOf("text").serverStreaming(
      `${gateway.url}/a.Service/Stream`,
      "hello",
      {},
      describeCall("Stream", "server_streaming"),
    );
    const replies: unknown[] = [];
    stream.on("data", (reply: unknown) => replies.push(reply));
    const error = await new Promise<grpcWeb.RpcError>((resolve) => stream.on("error", resolve));
    assert.deepEqual([error.code, replies], [grpcWeb.StatusCode.UNAUTHENTICATED, []]);
    assert.deepEqual(seen, []);
  });
});
