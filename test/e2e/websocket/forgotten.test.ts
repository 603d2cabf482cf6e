import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { askAdmin } from "../../../src/gateway/envoy-admin.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { connectSocket } from "../../support/socket-client.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Connections of HTTP/2 whose streams end together: Envoy keeps 16 MB of lines for each of its threads, which is three. */
const SESSIONS = 3 * availableParallelism() + 1;
const STREAMS = 90;
const LIMIT = Math.max(700, SESSIONS * STREAMS + 10);
/** Broken off one after the other. */
const HANDSHAKES = 300;
const HANDSHAKE = [
  ...["GET /feed HTTP/1.1", "Host: app.test", "Connection: Upgrade", "Upgrade: websocket"],
  ...["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", ""],
].join("\r\n");

/** A text frame from a server: `x`. */
const FRAME = Buffer.from([0x81, 1, 0x78]);

/** An application that takes every handshake, however long, and answers whatever comes then with a message. */
async function startApplication() {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    let head = "";
    socket.on("data", (data) => {
      if (head.endsWith("\r\n\r\n")) {
        socket.write(FRAME);
        return;
      }
      head += data.toString("latin1");
      if (!head.endsWith("\r\n\r\n")) return;
      const key = /^sec-websocket-key: *(\S+)/im.exec(head)?.[1] ?? "";
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
      socket.write([...lines, `Sec-WebSocket-Accept: ${accept}`, "", ""].join("\r\n"));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** As when it is started again. */
    drop: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe("end to end: WebSocket connections that are over are forgotten", function () {
  this.timeout(180_000);
  let application: Awaited<ReturnType<typeof startApplication>>;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let accessLog: string;
  let admin: { host: string; port: number };
  const policies = (version: number, condition: boolean) => ({
    "default.yaml": [
      `version: v${version}`,
      "policies:",
      "  - { resource: GET /v$, condition: true }".replace("$", String(version)),
      "websocket_policies:",
      `  - connection: { path: /feed, condition: ${condition} }`,
      "    message_types: [{ type: a, condition: message.x == 1 }]",
    ].join("\n"),
  });

  beforeEach(async () => {
    [application, issuer] = await Promise.all([startApplication(), startIssuer()]);
    accessLog = join(await temporaryDirectory(), "access.log");
    admin = { host: "127.0.0.1", port: await freePort() };
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: policies(1, true),
      nodes: 2,
      config: {
        gateway: {
          envoy_admin: `127.0.0.1:${admin.port}`,
          access_log: accessLog,
          websocket_connections_per_user: LIMIT,
          performance: { connection_pool_size: 10_000 },
        },
      },
    });
  });
  afterEach(async () => {
    await gateway.stop();
    application.close();
    await issuer.close();
  });

  const registered = () => gateway.metric("gatehouse_websocket_connections");
  const noneIsLeft = () => eventually("no connection to be left", async () => (await registered()) === 0);
  const stats = async (pattern: string) => {
    const { body } = await askAdmin(
      admin,
      "GET",
      `/stats?usedonly&filter=${encodeURIComponent(`(${pattern})$`)}`,
      60_000,
    );
    const values = Array.from(
      body.matchAll(/^(\S+): (\d+)$/gm),
      ([, name, value]) => [name, Number(value)] as const,
    );
    return { values, sum: values.reduce((sum, [, value]) => sum + value, 0) };
  };
  const stat = async (name: string) => (await stats(name)).sum;
  /**
   * On a busy machine Envoy may take a worker for dead; then it drops lines, or they are on a connection that it closes or a
   * stream that breaks off.
   */
  const mishaps = () =>
    stats(
      "grpc_access_log.logs_dropped|health_check.failure|cluster.access_log.upstream_(cx_destroy|rq_(rx|tx)_reset|rq_pending_failure_eject)",
    );
  const assertAllReported = async (before: Awaited<ReturnType<typeof mishaps>>) => {
    const unreported = await gateway.metric("gatehouse_websocket_connections_unreported_total");
    const now = await mishaps();
    assert.ok(unreported === 0 || now.sum > before.sum, JSON.stringify({ unreported, before, now }));
  };
  const webSocket = async () => connectSocket(`${gateway.url.replace("http", "ws")}/feed`);
  const lines = async (test: (line: Record<string, unknown>) => boolean) =>
    (await gateway.audit()).filter(test).length;
  const isGone = ({ reason }: Record<string, unknown>) => reason === "CLIENT_GONE";

  async function http2(localAddress = "127.0.0.1"): Promise<ClientHttp2Session> {
    const createConnection = () => connect({ port: gateway.port, host: "127.0.0.1", localAddress });
    const session = connectHttp2(gateway.url, { createConnection });
    session.on("error", () => undefined);
    await new Promise((resolve) => session.once("remoteSettings", resolve));
    return session;
  }
  function knock(session: ClientHttp2Session, headers: Record<string, string> = {}): ClientHttp2Stream {
    const extended = { ":method": "CONNECT", ":protocol": "websocket", ":scheme": "http", ":path": "/feed" };
    const stream = session.request(
      { ...extended, ":authority": "app.test", "sec-websocket-version": "13", ...headers },
      { endStream: false },
    );
    stream.on("error", () => undefined);
    return stream;
  }
  const status = (stream: ClientHttp2Stream) =>
    new Promise((resolve) => {
      stream.once("response", (headers) => {
        resolve(headers[":status"]);
      });
    });

  for (const leave of ["resetAndDestroy", "end"] as const) {
    it(`where the client leaves during the handshake, over HTTP/1.1 (${leave})`, async () => {
      const before = await mishaps();
      for (let n = 0; n < HANDSHAKES; n += 1)
        await new Promise<void>((resolve) => {
          const socket = connect(gateway.port, "127.0.0.1", () => {
            socket.write(HANDSHAKE, () => setImmediate(() => socket[leave]()));
          });
          socket.on("error", () => undefined);
          socket.on("close", () => {
            resolve();
          });
        });
      await noneIsLeft();
      if (leave === "resetAndDestroy")
        await eventually("a record of one that left", async () => (await lines(isGone)) > 0);
      const open = await webSocket();
      assert.equal(open.refusal(), undefined);
      await eventually("the one that is open", async () => (await registered()) === 1);
      open.close();
      await assertAllReported(before);
    });
  }

  it("where the client leaves during the handshake, over HTTP/2", async () => {
    const before = await mishaps();
    for (let n = 0; n < HANDSHAKES; n += 50) {
      const session = await http2();
      const ended = Array.from({ length: 50 }, async (_, index) => {
        const stream = knock(session);
        const closed = new Promise((resolve) => stream.once("close", resolve));
        // at any moment of the check
        setTimeout(() => {
          stream.close(8);
        }, index % 10);
        await closed;
      });
      await Promise.all(ended);
      session.destroy();
    }
    await noneIsLeft();
    await eventually("a record of one that left", async () => (await lines(isGone)) > 0);
    const session = await http2();
    assert.equal(await status(knock(session)), 200);
    await eventually("the one that is open", async () => (await registered()) === 1);
    session.destroy();
    await assertAllReported(before);
  });

  it("where several hundred end at once, each with its line", async () => {
    const sockets: Socket[] = [];
    for (const address of ["127.0.8.1", "127.0.8.2", "127.0.8.3", "127.0.8.4"])
      for (let n = 0; n < 250; n += 50)
        await Promise.all(
          Array.from(
            { length: 50 },
            () =>
              new Promise<void>((resolve, reject) => {
                const socket = connect({ port: gateway.port, host: "127.0.0.1", localAddress: address }, () =>
                  socket.write(HANDSHAKE),
                );
                sockets.push(socket);
                socket.on("error", reject);
                socket.once("data", (data) => {
                  if (data.toString("latin1").startsWith("HTTP/1.1 101")) resolve();
                  else reject(new Error(data.toString("latin1")));
                });
              }),
          ),
        );
    assert.equal(await registered(), 1_000);
    for (const socket of sockets) socket.on("error", () => undefined);
    application.drop();
    await noneIsLeft();
    for (const socket of sockets) socket.destroy();
    const counts = async () => ({
      lines: await lines(({ event }) => event === "connection"),
      unreported: await gateway.metric("gatehouse_websocket_connections_unreported_total"),
      dropped: await gateway.metric("gatehouse_access_log_dropped_total"),
    });
    // On a busy machine Envoy may take a worker for dead, and the worker say that it has missed the end of some
    const { lines: found } = await eventually("the line of each, or that it is missing", async () => {
      const now = await counts();
      if (now.lines + Math.max(now.unreported, now.dropped) < 1_000) throw new Error(JSON.stringify(now));
      return now;
    });
    assert.ok(found <= 1_000, String(found));
    const open = await webSocket();
    assert.equal(open.refusal(), undefined);
    open.close();
  });

  it("where the lines of their end are lost; those that are open go on, and are evaluated again", async () => {
    const open = await webSocket();
    const quiet = await http2();
    assert.equal(await status(knock(quiet)), 200);
    const MANY = SESSIONS * STREAMS;
    const referer = `http://app.test/${"r".repeat(60_000)}`;
    const sessions: ClientHttp2Session[] = [];
    for (let n = 1; n <= SESSIONS; n += 1) {
      const session = await http2(`127.0.9.${n}`);
      sessions.push(session);
      const streams = Array.from({ length: STREAMS }, () => knock(session, { referer }));
      assert.deepEqual(new Set(await Promise.all(streams.map(status))), new Set([200]));
    }
    assert.equal(await registered(), MANY + 2);
    const { workers } = await gateway.children();
    for (const worker of workers) process.kill(worker, "SIGSTOP");
    try {
      for (const session of sessions) session.destroy();
      // Their lines are more than Envoy keeps; it counts them, but for those that it writes while it takes the workers for dead.
      await eventually("they are over", async () => (await stat("http.gateway.downstream_rq_active")) === 2);
    } finally {
      for (const worker of workers) process.kill(worker, "SIGCONT");
    }
    const lost = await stat("grpc_access_log.logs_dropped");
    await eventually("what is over to be forgotten", async () => (await registered()) === 2);
    assert.ok((await gateway.metric("gatehouse_websocket_connections_unreported_total")) > 0);
    assert.ok((await gateway.metric("gatehouse_access_log_dropped_total")) >= lost);
    assert.equal(open.closed(), undefined);
    await gateway.writePolicies(policies(2, false));
    const closed = await eventually("the end of what is no longer permitted", () => {
      if (open.closed() === undefined) open.socket.send('{"type":"a","x":1}');
      return open.closed();
    });
    assert.deepEqual(closed, { code: 1008, reason: "POLICY_CHANGED" });
    quiet.destroy();
    await noneIsLeft();
    // what was reported meanwhile is no line of its own
    const ids = await eventually("a line for each connection", async () => {
      const found = (await readFile(accessLog, "utf8"))
        .split("\n")
        .filter((line) => line.includes('"/feed"'));
      return (
        found.length >= MANY + 2 &&
        found.map((line) => (JSON.parse(line) as { request_id: string }).request_id)
      );
    });
    assert.equal(new Set(ids).size, ids.length);
  });
});
