import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import grpcWeb from "grpc-web";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";

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
      const bytes = await response.arrayBuffer();
      if (this.responseType === "arraybuffer") this.response = bytes;
      else this.response = this.responseText = Buffer.from(bytes).toString("latin1");
      for (const state of [2, 3, 4]) {
        this.readyState = state;
        this.onreadystatechange?.();
      }
    });
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
  const application = createServer((request, response) => {
    if (request.url === "/a.Service/Broken") {
      request.socket.destroy();
      return;
    }
    void buffer(request).then((bytes) => {
      const text = Buffer.from(bytes.toString("latin1"), "base64").subarray(5).toString();
      const reply = [frame(0, `re: ${text}`), frame(0x80, "grpc-status: 0\r\ngrpc-message: \r\n")];
      response.setHeader("content-type", "application/grpc-web-text");
      for (const part of reply) response.write(part.toString("base64"));
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

  const call = (method: string, metadata: Readonly<grpcWeb.Metadata>) =>
    new Promise<{ reply?: string; error?: grpcWeb.RpcError }>((resolve) => {
      const client = new grpcWeb.GrpcWebClientBase({ format: "text" });
      const descriptor = new grpcWeb.MethodDescriptor<string, string>(
        `/a.Service/${method}`,
        "unary",
        String as never,
        String as never,
        (text: string) => Buffer.from(text),
        (bytes: Uint8Array) => Buffer.from(bytes).toString(),
      );
      client.rpcCall(
        `${gateway.url}/a.Service/${method}`,
        "hello",
        metadata,
        descriptor,
        (error: grpcWeb.RpcError | null, reply?: string) => {
          resolve({ ...(error && { error }), ...(reply && { reply }) });
        },
      );
    });

  it("calls get replies, and the status of denials and refusals", async () => {
    const metadata = { authorization: `Bearer ${await issuer.token({ sub: "ann" })}` };
    const { reply, error } = await call("Say", metadata);
    assert.deepEqual([reply, error?.code], ["re: hello", undefined]);
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
      const refused = await call(method, sent);
      assert.deepEqual([refused.reply, refused.error?.code], [undefined, expected], method);
      assert.match(refused.error?.message ?? "", /http status code/, method);
    }
  });
});
