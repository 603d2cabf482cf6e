import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import {
  connect,
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
} from "node:http2";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import type { Duplex, Writable } from "node:stream";
import { join } from "node:path";
import { once } from "node:events";
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";
import { WebSocket, WebSocketServer } from "ws";
import { selfSigned } from "../support/certificates.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Of ws, which exports them without types. */
interface Frames {
  readonly Receiver: new (options: { readonly isServer: boolean }) => Writable;
  readonly Sender: new (stream: Duplex) => {
    send(data: Buffer, options: object, done: () => void): void;
  };
}
const { Receiver, Sender } = createRequire(import.meta.url)("ws") as Frames;

const POLICIES = `
policies:
  - { resource: GET /, condition: true }
websocket_policies:
  - connection: { path: /chat, condition: true }
    message_types:
      - { type: chat, condition: true }
`;

/** An application that takes WebSocket connections over HTTP/2 without TLS, and says back what it hears. */
async function startHttp2Application() {
  const server = createHttp2Server({ settings: { enableConnectProtocol: true } });
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    if (headers[":method"] !== "CONNECT" || headers[":protocol"] !== "websocket") {
      stream.respond({ ":status": 404 }, { endStream: true });
      return;
    }
    stream.respond({ ":status": 200 });
    const receiver = new Receiver({ isServer: true });
    const sender = new Sender(stream);
    receiver.on("message", (data: Buffer) => {
      sender.send(data, { fin: true, binary: false, compress: false, mask: false }, () => undefined);
    });
    stream.pipe(receiver);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `h2c://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    async close() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** RFC 8441 as browsers use it: on every TLS listener they open WebSocket connections within HTTP/2. */
describe("end to end: WebSocket over HTTP/2 to a server that speaks HTTP/1.1", () => {
  let server: Server;
  let sockets: WebSocketServer;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  const keys: (string | undefined)[] = [];

  before(async () => {
    server = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>chat</title>");
    });
    // refuses a handshake without a key, as RFC 6455 says
    sockets = new WebSocketServer({ server });
    sockets.on("connection", (socket, request) => {
      keys.push(request.headers["sec-websocket-key"]);
      socket.on("message", (data: Buffer) => {
        socket.send(data.toString());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    issuer = await startIssuer();
    const { certificate, privateKey } = await selfSigned("localhost");
    const folder = await temporaryDirectory();
    const [tls_certificate, tls_private_key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    await Promise.all([writeFile(tls_certificate, certificate), writeFile(tls_private_key, privateKey)]);
    gateway = await startGateway({
      backend: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
      issuer,
      policies: { "default.yaml": POLICIES },
      config: { gateway: { security: { tls_certificate, tls_private_key } } },
    });
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    sockets.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("makes the key that the server asks for, and no client chooses it", async () => {
    const session = connect(gateway.url, { rejectUnauthorized: false });
    await once(session, "remoteSettings");
    for (const own of [undefined, "chosen by the client"]) {
      const stream = session.request(
        {
          ":method": "CONNECT",
          ":protocol": "websocket",
          ":path": "/chat",
          "sec-websocket-version": "13",
          ...(own !== undefined && { "sec-websocket-key": own }),
        },
        { endStream: false },
      );
      const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status": number }];
      assert.equal(headers[":status"], 200);
      assert.equal(headers["sec-websocket-accept"], undefined);
      stream.destroy();
    }
    session.destroy();
    assert.equal(new Set(keys).size, 2);
    for (const key of keys) assert.match(key ?? "", /^[A-Za-z0-9+/]{22}==$/);
  });

  it("serves a page of Chromium, whose messages are evaluated", async () => {
    const browser = await playwright.launch({
      executablePath: await chromium.executablePath(),
      args: chromium.args,
      headless: true,
    });
    try {
      const page = await browser.newPage({ ignoreHTTPSErrors: true });
      await page.goto(gateway.url.replace("127.0.0.1", "localhost"));
      const protocol = await page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol");
      assert.equal(protocol, "h2");
      const got = await page.evaluate(`new Promise((resolve, reject) => {
        const socket = new WebSocket(location.origin.replace("http", "ws") + "/chat");
        const got = [];
        socket.onopen = () => {
          socket.send('{"type":"admin"}');
          socket.send('{"type":"chat","text":"hello"}');
        };
        socket.onclose = ({ code }) => reject(new Error("closed " + code));
        socket.onmessage = ({ data }) => {
          got.push(data);
          if (data.includes("hello")) resolve(got);
        };
      })`);
      assert.ok(Array.isArray(got));
      assert.equal(got.at(-1), '{"type":"chat","text":"hello"}');
      assert.ok(!got.some((text) => text === '{"type":"admin"}'));
      assert.equal(new Set(keys).size, 3);
    } finally {
      await browser.close();
    }
  });
});

describe("end to end: WebSocket to an application that does not prove that it has read the handshake", () => {
  it("opens no connection, whichever side speaks HTTP/2", async () => {
    let accept: string | undefined;
    const upgraded = new Set<Duplex>();
    const server = createServer();
    server.on("upgrade", (_request, socket) => {
      upgraded.add(socket);
      socket.on("error", () => undefined);
      const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
      const proof = accept === undefined ? [] : [`Sec-WebSocket-Accept: ${accept}`];
      socket.write([...lines, ...proof, "", ""].join("\r\n"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const issuer = await startIssuer();
    const gateway = await startGateway({
      backend: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
      issuer,
      policies: { "default.yaml": POLICIES },
    });
    const session = connect(gateway.url);
    try {
      await once(session, "remoteSettings");
      for (accept of [undefined, "made up"]) {
        const stream = session.request(
          { ":method": "CONNECT", ":protocol": "websocket", ":path": "/chat", "sec-websocket-version": "13" },
          { endStream: false },
        );
        const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status": number }];
        assert.equal(headers[":status"], 502, accept);
        stream.destroy();
        const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/chat`);
        const [error] = (await once(socket, "error")) as [Error];
        assert.match(error.message, /Invalid Sec-WebSocket-Accept header/);
      }
    } finally {
      session.destroy();
      await gateway.stop();
      for (const socket of upgraded) socket.destroy();
      server.closeAllConnections();
      await Promise.all([issuer.close(), new Promise((resolve) => server.close(resolve))]);
    }
  });
});

describe("end to end: WebSocket over HTTP/1.1 to an application that speaks HTTP/2", () => {
  it("gets the answer to its key", async () => {
    const [application, issuer] = await Promise.all([startHttp2Application(), startIssuer()]);
    const gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: { "default.yaml": POLICIES },
    });
    try {
      const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/chat`);
      await once(socket, "open");
      socket.send('{"type":"chat","text":"hello"}');
      const [data] = (await once(socket, "message")) as [Buffer];
      assert.equal(data.toString(), '{"type":"chat","text":"hello"}');
      socket.terminate();
    } finally {
      await gateway.stop();
      await Promise.all([issuer.close(), application.close()]);
    }
  });
});
