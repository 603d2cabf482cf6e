import assert from "node:assert/strict";
import { once } from "node:events";
import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from "node:http2";
import { sendRaw } from "../support/client.ts";
import { closePayload, fromClient, fromServer } from "../support/websocket-frames.ts";
import { OPCODE } from "../../lua/websocket/support.ts";
import { startSocketGateway, switching, Wire, type Plan, type SocketGateway } from "../support/websocket.ts";

const CHAT = '{"type":"chat"}';
const ADMIN = '{"type":"admin"}';
const TYPES = { chat: { rule: "m[0]", onDeny: "drop" } } as const;
const PLAN: Plan = { send: TYPES, receive: TYPES };

/** RFC 8441: WebSocket within a stream of HTTP/2. */
describe("gateway: WebSocket over HTTP/2", () => {
  let sockets: SocketGateway;
  let session: ClientHttp2Session;
  before(async () => {
    sockets = await startSocketGateway();
  });
  beforeEach(async () => {
    session = connect(`http://127.0.0.1:${String(sockets.gateway.port)}`);
    session.on("error", () => undefined);
    await once(session, "remoteSettings");
  });
  afterEach(() => {
    session.destroy();
    sockets.reset();
  });
  after(() => sockets.stop());

  async function knock(
    headers: Record<string, string> = {},
  ): Promise<{ stream: ClientHttp2Stream; headers: IncomingHttpHeaders & { ":status"?: number } }> {
    const stream = session.request(
      {
        ":method": "CONNECT",
        ":protocol": "websocket",
        ":scheme": "http",
        ":path": "/feed",
        ":authority": "app.test",
        "sec-websocket-version": "13",
        ...headers,
      },
      { endStream: false },
    );
    stream.on("error", () => undefined);
    const [received] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status"?: number }];
    return { stream, headers: received };
  }

  // the service replaces the key of a client, and knows its answer: here the pair of RFC 6455, section 1.3
  async function open(plan: Plan) {
    sockets.permit(plan, { handshake_accept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" });
    const { stream, headers } = await knock({ "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" });
    assert.equal(headers[":status"], 200);
    return { client: new Wire(stream), server: sockets.servers[0]! };
  }

  it("is evaluated like any other", async () => {
    assert.equal(session.remoteSettings.enableConnectProtocol, true);
    const { client, server } = await open(PLAN);
    assert.equal(sockets.gateway.authz.checks.at(-1)?.attributes.request.http.path, "/feed");
    await client.write(
      fromClient(ADMIN),
      fromClient(ADMIN.slice(0, 9), { fin: false }),
      fromClient(ADMIN.slice(9), { opcode: OPCODE.continuation }),
      Buffer.concat([fromClient(CHAT), fromClient(ADMIN)]),
    );
    await server.heard(`text ${CHAT}`);
    assert.ok(!server.said.some((text) => text.includes("admin")), server.said.join());
    await server.write(fromServer(ADMIN), fromServer(CHAT));
    await client.heard(`text ${CHAT}`);
    const notices = client.said.filter((text) => text.includes("ACCESS_DENIED"));
    assert.ok(notices.length > 0, client.said.join());
    assert.deepEqual(
      client.said.filter((text) => !text.includes("ACCESS_DENIED")),
      [`text ${CHAT}`],
    );
  });

  it("ends like any other", async () => {
    const { client, server } = await open(PLAN);
    await client.write(fromClient(CHAT, { reserved: 4 }), fromClient(CHAT));
    assert.equal(await server.closing(), "close 1002 reserved bits are set");
    await server.write(fromServer(closePayload(1002), { opcode: OPCODE.close }), fromServer(CHAT));
    assert.equal(await client.closing(), "close 1002 reserved bits are set");
    client.socket.destroy();
    await sockets.gone(server);
    assert.deepEqual([client.said.length, server.said.length], [1, 1]);
  });

  it("is refused where the server refuses, or answers with an extension", async () => {
    for (const [answer, status] of [
      [() => "HTTP/1.1 404 X\r\nContent-Length: 6\r\n\r\nSECRET", 404],
      [() => "HTTP/1.1 200 X\r\nContent-Length: 6\r\n\r\nSECRET", 502],
      [(request) => switching(request, "Sec-WebSocket-Extensions: permessage-deflate"), 502],
    ] as const satisfies readonly (readonly [SocketGateway["handshake"], number])[]) {
      sockets.permit(PLAN);
      sockets.handshake = answer;
      const { stream, headers } = await knock();
      const client = new Wire(stream);
      await client.write(fromClient(CHAT));
      await sockets.servers[0]!.write(fromServer(CHAT));
      assert.equal(headers[":status"], status);
      client.socket.destroy();
      await sockets.gone(sockets.servers[0]!);
      assert.ok(sockets.servers[0]!.said.every((text) => text === "close 1002 UPGRADE_NOT_DELIVERED"));
      assert.ok(!client.bytes.includes("SECRET") && !client.bytes.includes(CHAT));
      sockets.reset();
    }
  });

  it("is the only protocol for an extended CONNECT", async () => {
    sockets.permit(PLAN);
    const { headers } = await knock({ ":protocol": "foo" });
    assert.equal(headers[":status"], 403);
    assert.deepEqual([sockets.requests.length, sockets.gateway.upstream.seen.length], [0, 0]);
  });

  it("is the only thing that CONNECT is good for", async () => {
    sockets.permit(PLAN);
    const tunnel = session.request({ ":method": "CONNECT", ":authority": "app.test:80" });
    tunnel.on("error", () => undefined);
    const [answer] = (await once(tunnel, "response")) as [{ ":status"?: number }];
    assert.ok([403, 405].includes(answer[":status"] ?? 0), String(answer[":status"]));
    const old = await sendRaw(
      sockets.gateway.port,
      "CONNECT app.test:80 HTTP/1.1\r\nHost: app.test:80\r\n\r\n",
      (text) => text.includes("\r\n\r\n"),
    );
    assert.match(old, /^HTTP\/1\.1 40[35] /);
    assert.deepEqual([sockets.requests.length, sockets.gateway.upstream.seen.length], [0, 0]);
  });
});
