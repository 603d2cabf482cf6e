import assert from "node:assert/strict";
import { WebSocket, WebSocketServer } from "ws";
import { OPCODE } from "../../lua/websocket/support.ts";
import { until } from "../support/client.ts";
import { fromClient, fromServer } from "../support/websocket-frames.ts";
import { startSocketGateway, type Plan, type SocketGateway } from "../support/websocket.ts";

const PLAN: Plan = {
  send: {
    chat: { rule: "m[0]", onDeny: "drop" },
    admin: { rule: "m[1]", onDeny: "drop", when: false },
    root: { rule: "m[2]", onDeny: "drop", when: false },
  },
};
const CHAT = '{"type":"chat"}';
const ADMIN = '{"type":"admin"}';
const ROOT = '{"type":"root"}';
const notice = (type: string) =>
  `text {"type":"error","error":{"code":"ACCESS_DENIED","message":"the message was denied"},"message_type":"${type}"}`;
const TOKEN = /^ping ([0-9a-f]{32})$/;

describe("gateway: what the sender of a denied WebSocket message is told", () => {
  let sockets: SocketGateway;
  before(async () => {
    sockets = await startSocketGateway();
  });
  afterEach(() => {
    sockets.reset();
  });
  after(() => sockets.stop());

  it("comes in the order of the messages, and the connection lives on", async () => {
    const { client, server } = await sockets.open(PLAN);
    server.onFrame = ({ opcode, payload }) => {
      if (opcode === OPCODE.ping) void server.write(fromServer(payload, { opcode: OPCODE.pong }));
      if (opcode === OPCODE.text) void server.write(fromServer(`echo ${payload.toString()}`));
    };
    for (const text of [ADMIN, ROOT, ADMIN]) {
      await client.write(fromClient(text));
      const count = client.said.length;
      await until(() => client.said.length > count, "a notice");
    }
    await client.write(fromClient(CHAT));
    await client.heard(`text echo ${CHAT}`);
    assert.deepEqual(client.said, [notice("admin"), notice("root"), notice("admin"), `text echo ${CHAT}`]);
    const tokens = server.said.flatMap((text) => TOKEN.exec(text)?.[1] ?? []);
    assert.deepEqual([tokens.length, new Set(tokens).size], [3, 3], "a new secret each time");
    assert.deepEqual(
      server.said.filter((text) => !TOKEN.test(text)),
      [`text ${CHAT}`],
    );
  });

  it("comes with whatever a server says that answers no PINGs", async () => {
    sockets.answering = false;
    const { client, server } = await sockets.open(PLAN);
    await client.write(fromClient(ADMIN), fromClient(ROOT), fromClient(CHAT));
    await server.heard(`text ${CHAT}`);
    assert.deepEqual(client.said, []);
    await server.write(fromServer("news"));
    await client.heard("text news");
    assert.deepEqual(client.said, [notice("admin"), notice("root"), "text news"]);
  });

  it("does not come between the fragments of a message that passes", async () => {
    sockets.answering = false;
    const { client, server } = await sockets.open(PLAN);
    await server.write(fromServer("a", { fin: false }));
    await client.heard("part of text a");
    await client.write(fromClient(ADMIN), fromClient(CHAT));
    await server.heard(`text ${CHAT}`);
    await server.write(fromServer("p", { opcode: OPCODE.ping }));
    await client.heard("ping p");
    await server.write(fromServer("b", { opcode: OPCODE.continuation }));
    await client.heard(notice("admin"));
    assert.deepEqual(client.said, ["part of text a", "ping p", "continuation b", notice("admin")]);
  });

  it("cannot be got by a client that guesses the secret", async () => {
    for (const opcode of [OPCODE.ping, OPCODE.pong]) {
      sockets.answering = false;
      const { client, server } = await sockets.open(PLAN);
      await client.write(fromClient(ADMIN));
      await until(() => server.said.length > 0, "the gateway's PING");
      const token = TOKEN.exec(server.said[0] ?? "")?.[1] ?? "";
      // other guesses are the client's own PINGs
      const wrong = "0".repeat(32);
      await client.write(fromClient(wrong, { opcode }), fromClient(token, { opcode }), fromClient(CHAT));
      await server.closing();
      client.socket.end();
      await sockets.gone(server);
      assert.deepEqual(server.said.slice(1), [
        `${opcode === OPCODE.ping ? "ping" : "pong"} ${wrong}`,
        "close 1002 unexpected payload",
      ]);
    }
  });

  it("is no way to make a server's own PONGs disappear", async () => {
    sockets.answering = false;
    const { client, server } = await sockets.open(PLAN);
    await client.write(fromClient(ADMIN), fromClient("mine", { opcode: OPCODE.ping }));
    await server.heard("ping mine");
    const token = TOKEN.exec(server.said[0] ?? "")?.[1] ?? "";
    const pong = (payload: string) => fromServer(payload, { opcode: OPCODE.pong });
    await server.write(pong("mine"), pong(token), pong(token));
    await client.heard(`pong ${token}`);
    assert.deepEqual(client.said, [notice("admin"), "pong mine", `pong ${token}`]);
  });

  it("ends with the connection where a client sends nothing else", async () => {
    sockets.answering = false;
    const { client, server } = await sockets.open(PLAN);
    await client.write(Buffer.concat(Array.from({ length: 300 }, () => fromClient(ADMIN))), fromClient(CHAT));
    assert.equal(await server.closing(), "close 1008 TOO_MANY_DENIED");
    await server.write(fromServer("news"));
    assert.equal(await client.closing(), "close 1008 TOO_MANY_DENIED");
    client.socket.end();
    await sockets.gone(server);
    assert.equal(server.said.length, 2, "one PING, one CLOSE");
    assert.deepEqual(
      client.said.slice(0, -1),
      Array.from({ length: 100 }, () => notice("admin")),
    );
  });

  it("is understood by ordinary clients and servers", async () => {
    const seen: string[] = [];
    const { server: http } = sockets.gateway.upstream;
    const listeners = http.listeners("upgrade");
    http.removeAllListeners("upgrade");
    const server = new WebSocketServer({ server: http });
    server.on("connection", (socket) => {
      socket.on("message", (data: Buffer) => seen.push(data.toString()));
    });
    sockets.permit(PLAN);
    const client = new WebSocket(`ws://127.0.0.1:${String(sockets.gateway.port)}/`);
    const received: string[] = [];
    client.on("message", (data: Buffer) => received.push(data.toString()));
    await new Promise((resolve) => client.once("open", resolve));
    for (let round = 0; round < 50; round += 1) for (const text of [ADMIN, CHAT]) client.send(text);
    await until(() => seen.length === 50 && received.length === 50, "all messages");
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.close(1000);
    assert.equal(await closed, 1000);
    assert.deepEqual(
      [new Set(seen), new Set(received)],
      [new Set([CHAT]), new Set([notice("admin").slice(5)])],
    );
    server.close();
    http.removeAllListeners("upgrade");
    for (const listener of listeners) http.on("upgrade", listener as () => void);
  });
});
