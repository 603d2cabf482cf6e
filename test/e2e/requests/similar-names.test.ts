import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type ClientHttp2Session } from "node:http2";
import { WebSocketServer } from "ws";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { connectSocket } from "../../support/socket-client.ts";
import { Wire } from "../../gateway/support/websocket.ts";
import { fromClient } from "../../gateway/support/websocket-frames.ts";

const POLICIES = `
policies:
  - { resource: GET /list, condition: not exists(request.query.status) }
  - { resource: GET /one, condition: request.query.id == "c1" }
  - { resource: GET /other, condition: request.query.id != "c2" }
  - { resource: GET /role, condition: 'not exists(request.headers["x-role"])' }
  - { resource: GET /tier, condition: 'request.headers["x-tier"] == "gold"' }
  - { resource: POST /users, condition: not exists(request.body.admin) }
  - { resource: POST /nested, condition: not exists(request.body.user.role) }
  - { resource: GET /free, condition: "true" }
websocket_policies:
  - connection: { path: /feed, condition: "true" }
    message_types:
      - { type: ping, condition: "true" }
      - { type: subscribe, condition: message.customer_id == "c1" }
      - { type: profile, condition: not exists(message.user.role), on_deny: close }
graphql_policies:
  - { query: customer, condition: args.id == "c1" and not exists(args.filter.owner) }
`;

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const post = (path: string, body: object): Sent => ({
  method: "POST",
  path,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const operation = (query: string, variables: object) => post("/graphql", { query, variables });
const BY_ID = "query($id: ID!) { customer(id: $id) { name } }";
const BY_FILTER = 'query($f: F) { customer(id: "c1", filter: $f) { name } }';

/** What is asked, and the answer's status; 200 comes from the application. */
const CASES: readonly [sent: Sent, status: number][] = [
  [{ path: "/list" }, 200],
  [{ path: "/list?Page=1&sort[]=x" }, 200],
  [{ path: "/list?[status]=suspended" }, 400],
  [{ path: "/list?status[]=suspended" }, 400],
  [{ path: "/list?status%5B%5D=suspended" }, 400],
  [{ path: "/list?Status=suspended" }, 400],
  [{ path: "/list?filter.status=suspended" }, 400],
  [{ path: "/list?%C5%BFtatus=suspended" }, 400],
  [{ path: "/list?status=suspended" }, 403],
  [{ path: "/list??status=suspended" }, 400],
  [{ path: "/list?a?status=suspended" }, 400],
  [{ path: "/list?next=/a?status=suspended" }, 400],
  [{ path: "/list?next=/a?b%26c" }, 200],
  [{ path: "/list?a=1%26status=suspended" }, 400],
  [{ path: "/one?id=c1" }, 200],
  [{ path: "/one??id=c2&id=c1" }, 400],
  [{ path: "/one?id=c1&id=c2" }, 403],
  [{ path: "/one?id=c1&id=c1" }, 403],
  [{ path: "/other?id=c1" }, 200],
  [{ path: "/other?id=c1&id=c2" }, 403],
  [{ path: "/other?id=c1&id=c3" }, 403],
  [{ path: "/role" }, 200],
  [{ path: "/role", headers: { "x.role": "admin" } }, 400],
  [{ path: "/role", headers: { xrole: "admin" } }, 400],
  ...Array.from("~!|*'^`#$%&+.", (mark): [Sent, number] => [
    { path: "/role", headers: { [`x${mark}role`]: "admin" } },
    400,
  ]),
  [{ path: "/tier", headers: { "x-tier": "gold", "x~rank": "bronze" } }, 200],
  [{ path: "/tier", headers: { "x-tier": "gold", "x~tier": "bronze" } }, 400],
  [post("/users", { name: "x" }), 200],
  [post("/users", { Admin: true }), 400],
  [post("/users", { "adm\u0131n": true }), 400],
  [post("/users", [{ admin: true }]), 400],
  [post("/users", { admin: true }), 403],
  [post("/nested", { user: { id: 1 } }), 200],
  [post("/nested", { User: { role: "admin" } }), 400],
  [post("/nested", { user: { Role: "admin" } }), 400],
  [post("/nested", { user: [{ role: "admin" }] }), 400],
  [{ path: "/free?Status=x&x[admin]=1", headers: { "x.role": "admin" } }, 200],
  [operation(BY_ID, { id: "c1" }), 200],
  [operation(BY_ID, { id: "c1", Id: "c2" }), 400],
  [operation(BY_FILTER, { f: { name: "x" } }), 200],
  [operation(BY_FILTER, { f: { Owner: "x" } }), 400],
  [operation('{ customer(id: "c1", Id: "c2") { name } }', {}), 400],
];

/** What a client says on a WebSocket, and what becomes of it. */
const MESSAGES: readonly [text: string, delivered: boolean][] = [
  ['{"type":"ping","Type":"admin"}', false],
  ['{"type":"ping","type ":"admin"}', false],
  ['{"type":"subscribe","customer_id":"c1","Customer_Id":"c2"}', false],
  ['{"type":"subscribe","customer_id":"c1","customerId":"c2"}', false],
  ['{"type":"ping","Customer_Id":"c2","room":1}', true],
  ['{"type":"subscribe","customer_id":"c1"}', true],
];
const NOTICE = /ACCESS_DENIED.*could be read as another one/;

describe("end to end: names that could be read as those that a rule reads", function () {
  this.timeout(120_000);
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let session: ClientHttp2Session;
  let server: WebSocketServer;
  let heard: string[] = [];

  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    server = new WebSocketServer({ server: upstream.server });
    server.on("connection", (socket) => {
      socket.on("error", () => undefined);
      socket.on("message", (data: Buffer) => heard.push(data.toString()));
    });
    gateway = await startGateway({ backend: upstream.url, issuer, policies: { "default.yaml": POLICIES } });
    session = connect(gateway.url);
    session.on("error", () => undefined);
    await once(session, "remoteSettings");
  });
  beforeEach(() => (heard = []));
  after(async () => {
    session.destroy();
    server.close();
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  async function overHttp1({ method = "GET", path, headers = {}, body = "" }: Sent): Promise<number> {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const length = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
    const head = [`${method} ${path} HTTP/1.1`, "Host: app.test", "Connection: close", ...lines, ...length];
    const bytes = Buffer.from(body).toString("latin1");
    return (await sendRaw(gateway.port, `${head.join("\r\n")}\r\n\r\n${bytes}`)).status;
  }

  async function overHttp2({ method = "GET", path, headers = {}, body }: Sent): Promise<number> {
    const stream = session.request(
      { ":method": method, ":path": path, ":authority": "app.test", ...headers },
      { endStream: body === undefined },
    );
    const answer = once(stream, "response") as Promise<[{ ":status"?: number }]>;
    if (body !== undefined) stream.end(body);
    const [{ ":status": status = 0 }] = await answer;
    stream.close();
    return status;
  }

  for (const [protocol, send] of [
    ["HTTP/1.1", overHttp1],
    ["HTTP/2", overHttp2],
  ] as const) {
    it(`are refused over ${protocol}, and no other is`, async () => {
      for (const [sent, status] of CASES) {
        const before = upstream.seen.length;
        assert.equal(await send(sent), status, `${sent.path} ${sent.body ?? ""}`);
        assert.equal(upstream.seen.length - before, status === 200 ? 1 : 0, sent.path);
      }
    });
  }

  const expected = MESSAGES.flatMap(([text, delivered]) => (delivered ? [text] : []));

  it("keep a WebSocket message back over HTTP/1.1, and the sender is told", async () => {
    const client = await connectSocket(`${gateway.url.replace("http", "ws")}/feed`);
    for (const [text] of MESSAGES) client.socket.send(text);
    client.socket.send('{"type":"profile","User":{"role":"admin"}}');
    assert.equal((await client.closing()).code, 1008);
    await eventually("the messages", () => heard.length >= expected.length || undefined);
    assert.deepEqual(heard, expected);
    assert.equal(client.messages.filter((text) => NOTICE.test(text)).length, 4);
  });

  it("keep a WebSocket message back over HTTP/2, and the sender is told", async () => {
    const stream = session.request(
      {
        ":method": "CONNECT",
        ":protocol": "websocket",
        ":scheme": "http",
        ":path": "/feed",
        ":authority": "app.test",
        "sec-websocket-version": "13",
        // Envoy hands over what it gets, and the library of the server wants one
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      },
      { endStream: false },
    );
    const [answer] = (await once(stream, "response")) as [{ ":status"?: number }];
    assert.equal(answer[":status"], 200);
    const client = new Wire(stream);
    await client.write(...MESSAGES.map(([text]) => fromClient(text)));
    await client.write(fromClient('{"type":"profile","user":{"Role":"admin"}}'));
    await eventually("the end", () => client.said.some((text) => text.startsWith("close 1008")) || undefined);
    await eventually("the messages", () => heard.length >= expected.length || undefined);
    assert.deepEqual(heard, expected);
    assert.equal(client.said.filter((text) => NOTICE.test(text)).length, 4);
  });
});
