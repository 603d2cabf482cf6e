import assert from "node:assert/strict";
import { WebSocketServer, type WebSocket } from "ws";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { connectSocket, type SocketClient } from "../../support/socket-client.ts";

const SECRET = "123-45-6789";

const policies = (
  connection = "exists(user.id)",
  version = "v1",
  subscribe = "user.customer_id == message.customer_id",
) => `
version: ${version}
policies:
  - { resource: GET /plain, condition: true }
  - { resource: GET /locked, condition: user.role == "admin" }
websocket_policies:
  - connection:
      path: /feed
      condition: ${connection}
    message_types:
      - { type: subscribe, condition: ${subscribe} }
      - { type: ping, condition: true }
      - { type: shutdown, condition: user.role == "admin", on_deny: close }
      - { type: order, direction: receive, condition: message.customer_id == user.customer_id }
      - type: profile
        direction: receive
        condition: true
        fields: [{ name: ssn, condition: user.role != "admin", mask_type: full }]
  - connection: { path: /open, condition: exists(user.id) }
  - connection: { path: /locked, condition: true }
response_masks:
  - api_pattern: /open
    fields: [{ name: card, condition: true, mask_type: partial }]
`;

describe("end to end: WebSocket", () => {
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let server: WebSocketServer;
  const seen: string[] = [];
  let peers: WebSocket[] = [];
  const clients: SocketClient[] = [];

  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    upstream.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).end("a page");
    };
    server = new WebSocketServer({ server: upstream.server });
    server.on("connection", (socket) => {
      peers.push(socket);
      socket.on("error", () => undefined);
      socket.on("message", (data: Buffer) => {
        seen.push(data.toString());
        const text = data.toString();
        if (text.startsWith("{")) {
          const { echo } = JSON.parse(text) as { echo?: unknown };
          if (echo !== undefined) socket.send(JSON.stringify(echo));
        }
      });
    });
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": policies() },
      nodes: 2,
    });
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
    seen.length = 0;
    peers = [];
  });
  after(async () => {
    server.close();
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  async function open(
    path: string,
    claims: Record<string, unknown> | undefined,
    headers: Record<string, string> = {},
  ) {
    const authorization = claims && `Bearer ${await issuer.token(claims)}`;
    const client = await connectSocket(`${gateway.url.replace("http", "ws")}${path}`, {
      headers: { ...headers, ...(authorization && { authorization }) },
    });
    clients.push(client);
    return client;
  }
  const ME = { customer_id: "c-1", role: "viewer" };
  const say = (client: SocketClient, message: unknown) => {
    client.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  };
  const arrived = (text: string) => eventually(`${text} to arrive`, () => seen.includes(text) || undefined);

  it("evaluates the handshake, by the path's rule as well where there is one", async () => {
    assert.equal((await open("/feed", undefined)).refusal(), 401);
    assert.equal((await open("/feed", ME)).refusal(), undefined);
    assert.equal((await open("/locked", ME)).refusal(), 403);
    assert.equal((await open("/locked", { ...ME, role: "admin" })).refusal(), undefined);
    assert.equal((await open("/elsewhere", ME)).refusal(), 403);
    assert.equal((await open("/FEED", ME)).refusal(), 400);
  });

  it("is no way to an ordinary answer that no rule permits", async () => {
    server.close();
    server = new WebSocketServer({ noServer: true });
    upstream.server.removeAllListeners("upgrade");
    const handshake = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    const raw = await open("/open", ME, handshake);
    assert.equal(raw.refusal(), 502);
    server = new WebSocketServer({ server: upstream.server });
    server.on("connection", (socket) => {
      peers.push(socket);
      socket.on("error", () => undefined);
      socket.on("message", (data: Buffer) => {
        seen.push(data.toString());
        const { echo } = JSON.parse(data.toString()) as { echo?: unknown };
        if (echo !== undefined) socket.send(JSON.stringify(echo));
      });
    });
  });

  it("delivers messages that are permitted, and tells the sender of those that are not", async () => {
    const client = await open("/feed", ME);
    say(client, { type: "subscribe", customer_id: "c-1" });
    await arrived('{"type":"subscribe","customer_id":"c-1"}');
    for (const denied of [
      { type: "subscribe", customer_id: "c-2" },
      { type: "unknown" },
      { type: "subscribe" },
      "[]",
      "text",
    ])
      say(client, denied);
    say(client, { type: "ping" });
    await arrived('{"type":"ping"}');
    assert.equal(seen.length, 2, seen.join());
    await eventually(
      "five notices",
      () => client.messages.filter((text) => text.includes("ACCESS_DENIED")).length === 5 || undefined,
    );
    assert.equal(client.closed(), undefined);
  });

  it("closes where the rule says so", async () => {
    const client = await open("/feed", ME);
    say(client, { type: "shutdown" });
    assert.equal((await client.closing()).code, 1008);
    assert.deepEqual(seen, []);
  });

  it("evaluates and masks what the server sends", async () => {
    const client = await open("/feed", ME);
    for (const echo of [
      { type: "order", customer_id: "c-2", n: 1 },
      { type: "internal", n: 2 },
      { type: "profile", ssn: SECRET },
      { type: "order", customer_id: "c-1", n: 3 },
    ])
      say(client, { type: "ping", echo });
    await client.message("the last", (text) => text.includes('"n":3'));
    assert.deepEqual(client.messages, [
      '{"type":"profile","ssn":"***"}',
      '{"type":"order","customer_id":"c-1","n":3}',
    ]);
  });

  it("masks what response rules for the path name", async () => {
    const client = await open("/open", ME);
    say(client, { echo: { card: "41112222" } });
    assert.equal(await client.message("the card", () => true), '{"card":"***2222"}');
  });

  it("leaves a record when it ends", async () => {
    const client = await open("/feed", { ...ME, sub: "u-records" });
    say(client, { type: "subscribe", customer_id: "c-9" });
    say(client, { type: "ping", echo: { type: "profile", ssn: SECRET } });
    await client.message("the profile", (text) => text.includes("profile"));
    client.socket.close(1000);
    const decision = await eventually("the decision's record", async () =>
      (await gateway.audit()).find((line) => line["user_id"] === "u-records"),
    );
    assert.equal(decision["rule"], "websocket_policies[0].connection");
    const outcome = await eventually("the connection's record", async () =>
      (await gateway.audit()).find(
        (line) => line["event"] === "connection" && line["decision_id"] === decision["decision_id"],
      ),
    );
    assert.ok(!JSON.stringify(outcome).includes(SECRET));
    assert.match(JSON.stringify(outcome), /subscribe/);
  });

  it("ends with the token", async () => {
    const client = await open("/feed", { ...ME, exp: Math.floor(Date.now() / 1000) + 15 });
    assert.equal(client.refusal(), undefined);
    const end = await eventually("the end", () => {
      if (client.closed() === undefined && client.socket.readyState === 1) say(client, { type: "ping" });
      return client.closed();
    });
    assert.equal(end.code, 1008);
    assert.match(end.reason, /TOKEN_EXPIRED/);
  });

  it("ends when a new policy set denies it, and lives on when it does not", async () => {
    const denied = await open("/feed", ME);
    const kept = await open("/open", ME);
    const admin = await open("/feed", { ...ME, role: "admin" });
    say(denied, { type: "ping" });
    await arrived('{"type":"ping"}');
    await gateway.writePolicies({ "default.yaml": policies('user.role == "admin"', "v2", "false") });
    const end = await eventually("the end", () => {
      if (denied.socket.readyState === 1) say(denied, { type: "ping" });
      return denied.closed();
    });
    assert.equal(end.code, 1008);
    say(kept, { echo: { n: 1 } });
    assert.equal(await kept.message("the echo", () => true), '{"n":1}');
    // and what may pass is what the new set says
    await eventually("the new rule", () => {
      say(admin, { type: "subscribe", customer_id: "c-1" });
      return admin.messages.some((text) => text.includes("ACCESS_DENIED")) || undefined;
    });
    assert.equal(admin.closed(), undefined);
    await gateway.writePolicies({ "default.yaml": policies() });
  });
});
