import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { createClient, type Client } from "graphql-ws";
import { WebSocket } from "ws";
import { SUBPROTOCOL } from "../../../src/envoy-contract.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { subscriber } from "../../support/graphql-subscriber.ts";
import { connectSocket, type SocketClient } from "../../support/socket-client.ts";
import {
  POLICIES,
  SDL,
  startGraphqlApplication,
  type GraphqlApplication,
} from "../../support/upstreams/graphql-application.ts";

/** What is used of it here: its own types bring those of the DOM. */
interface OldLibrary {
  readonly SubscriptionClient: new (
    url: string,
    options: object,
    implementation: typeof WebSocket,
  ) => {
    request(operation: { query: string }): {
      subscribe(observer: { next: (value: unknown) => void; error: (error: unknown) => void }): unknown;
    };
    close(): void;
  };
}
const { SubscriptionClient } = createRequire(import.meta.url)("subscriptions-transport-ws") as OldLibrary;

/** `/open` is an endpoint whose connections need no identity. */
const policies = (version = "v1", viewer = "exists(user.id)") =>
  `version: ${version}
${POLICIES.replace("paths: [/graphql, /mounted]", "paths: [/graphql, /mounted, /open]").replace(
  "{ query: me, condition: exists(user.id) }",
  `{ query: me, condition: ${viewer} }`,
)}
  - connection: { path: /open, condition: true }
`;

describe("end to end: tokens in connection_init", () => {
  let application: GraphqlApplication;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  const clients: Client[] = [];
  const sockets: SocketClient[] = [];

  before(async () => {
    [application, issuer] = await Promise.all([startGraphqlApplication(), startIssuer()]);
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: { "default.yaml": policies(), "api.graphql": SDL },
      nodes: 2,
      config: {
        identity: {
          issuer: issuer.url,
          audience: issuer.audience,
          cookie: "session",
          connection_params: ["authorization", "headers.authorization"],
        },
      },
    });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.dispose();
    for (const socket of sockets.splice(0)) socket.close();
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    await application.close();
  });

  const VIEWER = { role: "viewer", customer_id: "c-1" };
  const bearer = async (claims: Record<string, unknown> = VIEWER) => `Bearer ${await issuer.token(claims)}`;
  const address = (path: string) => `${gateway.url.replace("http", "ws")}${path}`;

  /** A client of graphql-ws as people write it. */
  function connected(connectionParams: Record<string, unknown> | undefined, path = "/graphql") {
    const client = createClient({
      url: address(path),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      lazy: true,
      ...(connectionParams && { connectionParams }),
    });
    clients.push(client);
    return subscriber(client);
  }

  /** A connection without a library. */
  async function connect(
    path = "/graphql",
    headers: Record<string, string> = {},
    protocol: string = SUBPROTOCOL.current,
  ) {
    const client = await connectSocket(address(path), { protocols: [protocol], headers });
    sockets.push(client);
    return client;
  }
  const init = (payload: unknown) => JSON.stringify({ type: "connection_init", payload });
  const ended = async (client: SocketClient) => {
    const { code, reason } = await client.closing();
    return `${String(code)} ${reason}`;
  };
  const recordsOf = async (requestId: unknown) =>
    (await gateway.audit()).filter(
      (line) => line["request_id"] === requestId && "reason" in line && "decision" in line,
    );

  for (const path of ["/graphql", "/open"]) {
    it(`identify a client of graphql-ws at ${path}`, async () => {
      const run = connected({ authorization: await bearer({ ...VIEWER, sub: `u-modern${path}` }) }, path);
      const good = run("{ me { id } }");
      await eventually("the answer", () => good.done);
      assert.deepEqual(good.got, [{ data: { me: { id: "c-1" } } }]);
      const before = application.operations();
      const bad = run("{ me { ssn } }");
      await eventually("the refusal", () => bad.error);
      assert.match(JSON.stringify(bad.error), /ACCESS_DENIED/);
      assert.equal(application.operations(), before);
      const record = await eventually("the record", async () =>
        (await gateway.audit()).find((line) => line["user_id"] === `u-modern${path}`),
      );
      assert.equal(record.decision, "ALLOW");
      assert.match(String(record["detail"]), /^connection_init of dec_/);
      const [handshake, ...others] = await recordsOf(record["request_id"]);
      assert.ok(handshake);
      assert.deepEqual([handshake["user_id"], handshake.decision], ["", "ALLOW"]);
      assert.equal(handshake.reason, path === "/open" ? "CONDITION_TRUE" : "CONNECTION_HELD");
      assert.equal(String(record["detail"]), `connection_init of ${String(handshake["decision_id"])}`);
      assert.equal(others.length, 1);
    });
  }

  it("identify a client of subscriptions-transport-ws", async () => {
    const client = new SubscriptionClient(
      address("/graphql"),
      { connectionParams: { headers: { authorization: await bearer() } } },
      WebSocket,
    );
    const got: unknown[] = [];
    const failed: unknown[] = [];
    client
      .request({ query: "{ me { id } }" })
      .subscribe({ next: (value) => got.push(value), error: (error) => failed.push(error) });
    client
      .request({ query: "{ me { ssn } }" })
      .subscribe({ next: (value) => got.push(value), error: (error) => failed.push(error) });
    await eventually("both answers", () => got.length + failed.length === 2);
    client.close();
    assert.deepEqual(got, [{ data: { me: { id: "c-1" } } }]);
    assert.match(JSON.stringify(failed), /ACCESS_DENIED/);
  });

  it("may be sent along with the handshake, if it is the same", async () => {
    const token = await issuer.token(VIEWER);
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { cookie: `session=${token}`, origin: gateway.url },
    ]) {
      const client = await connect("/graphql", headers);
      client.socket.send(init({ authorization: token }));
      await client.message("the acknowledgement", (text) => text.includes("connection_ack"));
      client.socket.send('{"id":"1","type":"subscribe","payload":{"query":"{ me { id } }"}}');
      await client.message("the answer", (text) => text.includes('"c-1"'));
    }
  });

  /** What the application got of a connection is nothing: it would acknowledge its beginning. */
  const isUnheard = ({ messages }: SocketClient) => !messages.some((text) => text.includes("connection_ack"));

  it("are refused with a record if they are no good, and the application does not hear of them", async () => {
    const now = Math.floor(Date.now() / 1000);
    const good = await issuer.token(VIEWER);
    const other = await issuer.token({ ...VIEWER, sub: "u-2" });
    const cases: readonly (readonly [payload: unknown, closing: string, reason: string])[] = [
      [{ authorization: await bearer({ exp: now - 100 }) }, "4403 TOKEN_EXPIRED", "TOKEN_EXPIRED"],
      [{ authorization: `${good.slice(0, -4)}AAAA` }, "4403 TOKEN_INVALID", "TOKEN_SIGNATURE_INVALID"],
      [{ authorization: await bearer({ aud: "others" }) }, "4403 TOKEN_INVALID", "TOKEN_AUDIENCE_MISMATCH"],
      [
        { authorization: await bearer({ iss: "https://x.example" }) },
        "4403 TOKEN_INVALID",
        "TOKEN_ISSUER_MISMATCH",
      ],
      [{ authorization: "Bearer undefined" }, "4403 TOKEN_INVALID", "TOKEN_MALFORMED"],
      [{ authorization: "Bearer " }, "4403 TOKEN_INVALID", "TOKEN_MALFORMED"],
      [{ authorization: `Bearer ${good} ${good}` }, "4403 TOKEN_INVALID", "TOKEN_MALFORMED"],
      [{ authorization: [good] }, "4403 TOKEN_INVALID", "TOKEN_MALFORMED"],
      [{ authorization: { token: good } }, "4403 TOKEN_INVALID", "TOKEN_MALFORMED"],
      [{ Authorization: good }, "4403 TOKEN_INVALID", "TOKEN_MALFORMED"],
      [{ authorization: good, Authorization: other }, "4403 TOKEN_INVALID", "TOKEN_MALFORMED"],
      [{ authorization: good, "headers.authorization": other }, "4403 TOKEN_INVALID", "TOKEN_MALFORMED"],
      [{ authorization: good, headers: { authorization: other } }, "4403 TOKEN_INVALID", "TOKEN_MALFORMED"],
      [[{ authorization: good }], "4403 TOKEN_INVALID", "TOKEN_MALFORMED"],
      // none at all
      [undefined, "4403 IDENTITY_REQUIRED", "IDENTITY_REQUIRED"],
      [null, "4403 IDENTITY_REQUIRED", "IDENTITY_REQUIRED"],
      ["token", "4403 IDENTITY_REQUIRED", "IDENTITY_REQUIRED"],
      [{ authorization: null, headers: {} }, "4403 IDENTITY_REQUIRED", "IDENTITY_REQUIRED"],
      [{ authorization: "", headers: null }, "4403 IDENTITY_REQUIRED", "IDENTITY_REQUIRED"],
      [{ authorization: "Basic eDp5" }, "4403 IDENTITY_REQUIRED", "IDENTITY_REQUIRED"],
      [{ token: good }, "4403 IDENTITY_REQUIRED", "IDENTITY_REQUIRED"],
    ];
    const before = application.operations();
    const seen = new Set<unknown>();
    for (const [payload, closing, reason] of cases) {
      const client = await connect();
      client.socket.send(init(payload));
      client.socket.send('{"id":"1","type":"subscribe","payload":{"query":"{ me { id } }"}}');
      assert.equal(await ended(client), closing, JSON.stringify(payload));
      assert.ok(isUnheard(client), client.messages.join());
      // records are written after the answer: earlier tests' may still be to come
      const last = await eventually(`the record of ${reason}`, async () =>
        (await gateway.audit()).find(
          (line) =>
            String(line["detail"]).includes("connection_init of") &&
            !seen.has(line["decision_id"]) &&
            line.decision === "DENY",
        ),
      );
      seen.add(last["decision_id"]);
      assert.deepEqual([last.decision, last.reason], ["DENY", reason], JSON.stringify(payload));
    }
    assert.equal(application.operations(), before);
  });

  it("are refused next to another one in the handshake, valid or not", async () => {
    const mine = await issuer.token(VIEWER);
    const other = await issuer.token({ ...VIEWER, sub: "u-2" });
    for (const [headers, path] of [
      [{ authorization: `Bearer ${other}` }, "/graphql"],
      [{ cookie: `session=${other}`, origin: gateway.url }, "/graphql"],
      [{ cookie: `session=${other}`, origin: gateway.url }, "/open"],
    ] as const) {
      const client = await connect(path, headers);
      assert.equal(client.refusal(), undefined, JSON.stringify(headers));
      client.socket.send(init({ authorization: mine }));
      assert.equal(await ended(client), "4403 TOKEN_INVALID");
      assert.ok(isUnheard(client));
    }
    // a page of another site, with its victim's cookie
    const page = await connect("/open", { cookie: `session=${other}`, origin: "https://evil.example" });
    assert.equal(page.refusal(), 403);
  });

  it("are written nowhere", async () => {
    const token = await issuer.token(VIEWER);
    const client = await connect();
    client.socket.send(init({ authorization: token }));
    await client.message("the acknowledgement", (text) => text.includes("connection_ack"));
    client.socket.close(1000);
    await eventually("the connection's record", async () =>
      (await gateway.audit()).some((line) => line["event"] === "connection"),
    );
    const signature = token.slice(token.lastIndexOf(".") + 1);
    assert.ok(!JSON.stringify(await gateway.audit()).includes(signature));
    assert.ok(!gateway.stderr().includes(signature));
  });

  it("leave a connection anonymous that needs none, and has none", async () => {
    const run = connected({}, "/open");
    const me = run("{ me { id } }");
    await eventually("the refusal", () => me.error);
    assert.match(JSON.stringify(me.error), /ACCESS_DENIED|IDENTITY/);
  });

  it("hold the connection only at the endpoint's own path, for its protocols, and without an operation", async () => {
    for (const [path, protocol] of [
      ["/live", SUBPROTOCOL.current],
      ["/graphql/below", SUBPROTOCOL.current],
      ["/GraphQL", SUBPROTOCOL.current],
      ["/graphql?query=%7Bme%7Bid%7D%7D", SUBPROTOCOL.current],
      ["/graphql", "chat"],
    ] as const) {
      const client = await connect(path, {}, protocol);
      assert.ok(
        [400, 401, 403].includes(client.refusal() ?? 0),
        `${path} ${protocol}: ${String(client.refusal())}`,
      );
    }
    // no other answer of the application is delivered
    const answer = await fetch(`${gateway.url}/graphql`, {
      headers: { accept: "text/html", "sec-websocket-protocol": SUBPROTOCOL.current },
    });
    assert.equal(answer.status, 400);
  });

  it("end the connection when they expire", async () => {
    const client = await connect();
    client.socket.send(
      init({ authorization: await bearer({ ...VIEWER, exp: Math.floor(Date.now() / 1000) + 12 }) }),
    );
    await client.message("the acknowledgement", (text) => text.includes("connection_ack"));
    const end = await eventually("the end", () => {
      if (client.socket.readyState === 1) client.socket.send('{"type":"ping"}');
      return client.closed();
    });
    assert.deepEqual([end.code, end.reason], [4403, "TOKEN_EXPIRED"]);
  });

  it("are evaluated again with new policies", async () => {
    const client = await connect();
    client.socket.send(init({ authorization: await bearer() }));
    await client.message("the acknowledgement", (text) => text.includes("connection_ack"));
    await gateway.writePolicies({ "default.yaml": policies("v2", 'user.role == "admin"') });
    const end = await eventually("the end", () => {
      if (client.socket.readyState === 1) client.socket.send('{"type":"ping"}');
      return client.closed();
    });
    assert.deepEqual([end.code, end.reason], [1012, "POLICY_CHANGED"]);
  });
});
