import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { ALLOW } from "../support/authz-stub.ts";
import { send, sendRaw, until } from "../support/client.ts";
import { field, planned, responsePlan } from "../support/plans.ts";
import { fromClient, fromServer } from "../support/websocket-frames.ts";
import {
  clientHandshake,
  startSocketGateway,
  switching,
  type Plan,
  type SocketGateway,
} from "../support/websocket.ts";

const SECRET = "123-45-6789";
const CHAT = '{"type":"chat"}';
const ADMIN = '{"type":"admin"}';
const RULES = { chat: { rule: "m[0]", onDeny: "drop" } } as const;
const PLAN: Plan = { send: RULES, receive: RULES };

const GRAPHQL: Plan = {
  graphql: {
    rules: [],
    limits: { depth: 1, aliases: 1, rootFields: 1, tokens: 100 },
    introspection: "deny",
    default: "allow",
  } as unknown as NonNullable<Plan["graphql"]>,
};

const HANDSHAKE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

describe("gateway: WebSocket handshakes", () => {
  let sockets: SocketGateway;
  before(async () => {
    sockets = await startSocketGateway();
  });
  afterEach(() => {
    sockets.reset();
  });
  after(() => sockets.stop());

  /** A handshake, and the whole answer that is no 101. */
  const ask = () => send(sockets.gateway.port, "/feed", { headers: HANDSHAKE });

  const page = (status: number, ...headers: readonly string[]) =>
    [
      `HTTP/1.1 ${String(status)} X`,
      "Content-Type: application/json",
      `Content-Length: ${String(BODY.length)}`,
      "Set-Cookie: a=1",
      ...headers,
      "",
      BODY,
    ].join("\r\n");
  const BODY = `{"ssn":"${SECRET}"}`;

  describe("that the server does not accept", () => {
    for (const [answered, delivered] of [
      [200, 502],
      [204, 502],
      [302, 502],
      [400, 400],
      [401, 401],
      [404, 404],
      [426, 426],
      [500, 500],
      [503, 503],
    ] as const) {
      it(`with ${String(answered)} are answered ${String(delivered)}, and nothing of its answer`, async () => {
        sockets.permit(PLAN);
        sockets.handshake = () =>
          answered === 204
            ? "HTTP/1.1 204 X\r\nSet-Cookie: a=1\r\n\r\n"
            : page(answered, "Location: /x", 'ETag: "x"');
        const { status, headers, body } = await ask();
        assert.equal(status, delivered);
        // Envoy leaves out the body of an answer to a handshake that is no error, ours too
        if (answered >= 400) assert.match(body, /"code":"UPGRADE_NOT_DELIVERED"/);
        assert.ok(!body.includes(SECRET));
        for (const name of ["set-cookie", "location", "etag", "upgrade"])
          assert.equal(headers[name], undefined, name);
      });
    }

    it("pass where the path rules permit an ordinary answer", async () => {
      sockets.permit({ ...PLAN, plain: true });
      for (const status of [200, 302, 404, 500]) {
        sockets.handshake = () => page(status);
        const answer = await ask();
        // Envoy itself leaves out the body where it is no error
        assert.deepEqual([answer.status, answer.body], [status, status < 400 ? "" : BODY]);
        assert.deepEqual(answer.headers["set-cookie"], ["a=1"]);
      }
    });

    it("are not delivered, permitted or not, where something is masked in answers or operations are evaluated", async () => {
      const response = responsePlan(field("ssn")).response!;
      const websocket = { environment: "test", plain: true, limit: 1000, ...PLAN };
      for (const plan of [{ websocket, response }, { websocket: { ...websocket, ...GRAPHQL } }]) {
        const answer = planned({ ir: 1, ...plan }, sockets.state.metadata);
        sockets.gateway.authz.decide = () => answer;
        for (const status of [200, 302, 401, 404, 500]) {
          sockets.handshake = () => page(status, "Location: /x");
          const { status: answered, headers, body } = await ask();
          assert.deepEqual([answered, body.includes(SECRET)], [status < 400 ? 502 : status, false]);
          assert.deepEqual([headers["set-cookie"], headers["location"]], [undefined, undefined]);
        }
      }
    });

    it("keep of their headers a few that hold nothing of the application", async () => {
      sockets.permit(PLAN);
      const told = "Date: Sun, 22 Nov 2026 07:00:00 GMT\r\nRetry-After: 30\r\nSec-WebSocket-Version: 13, 8";
      const untold = [
        "X-Request-Id",
        "X-Total",
        "Server-Timing",
        "WWW-Authenticate",
        "X-Powered-By",
        "Content-Disposition",
        "Warning",
      ];
      sockets.handshake = () =>
        page(
          426,
          told,
          ...untold.map((name) => `${name}: ${SECRET}`),
          `Retry-After: ${SECRET};`,
          "Vary: Origin",
        );
      const { headers } = await ask();
      assert.ok(!JSON.stringify(headers).includes(SECRET), JSON.stringify(headers));
      assert.deepEqual(Object.keys(headers).sort(), [
        "cache-control",
        "connection",
        "content-type",
        "date",
        "sec-websocket-version",
        "transfer-encoding",
        "x-content-type-options",
        "x-request-id",
      ]);
      sockets.handshake = () => page(503, told);
      const { headers: busy } = await ask();
      assert.deepEqual([busy["retry-after"], busy["sec-websocket-version"]], ["30", "13, 8"]);
    });

    it("bring nothing to the server of what the client has said already", async () => {
      for (const plan of [PLAN, {}, { ...PLAN, plain: true }]) {
        sockets.permit(plan);
        sockets.handshake = () => page(404);
        const { client, head } = await sockets.knock({ early: fromClient(CHAT) });
        assert.match(head, /^HTTP\/1\.1 404 /);
        await client.write(fromClient(CHAT));
        await sockets.gone(sockets.servers[0]!);
        assert.equal(sockets.servers[0]!.bytes.length, 0);
        sockets.reset();
      }
    });

    it("are no connection, though the server takes them for one", async () => {
      for (const plain of [false, true]) {
        sockets.permit({ ...PLAN, plain });
        sockets.handshake = () =>
          `HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${fromServer(ADMIN).toString("latin1")}`;
        const { client } = await sockets.knock({ early: fromClient(CHAT) });
        await client.write(fromClient(CHAT));
        await sockets.gone(sockets.servers[0]!);
        assert.equal(sockets.servers[0]!.bytes.length, 0);
        assert.ok(!client.bytes.includes("admin"), client.bytes.toString());
        sockets.reset();
      }
    });
  });

  describe("that the server accepts otherwise than asked", () => {
    const answers: readonly [name: string, answer: (request: IncomingMessage) => string, plan?: Plan][] = [
      ["with compression", (request) => switching(request, "Sec-WebSocket-Extensions: permessage-deflate")],
      ["with any extension", (request) => switching(request, "Sec-WebSocket-Extensions: x")],
      ["for another protocol", (request) => switching(request).replace("Upgrade: websocket", "Upgrade: foo")],
      ["without a GraphQL protocol, at an endpoint of GraphQL", (request) => switching(request), GRAPHQL],
    ];
    for (const [name, answer, plan = PLAN] of answers) {
      it(name, async () => {
        sockets.permit(plan);
        sockets.handshake = answer;
        const { client, head } = await sockets.knock();
        assert.match(head, /^HTTP\/1\.1 502 /);
        assert.doesNotMatch(head, /upgrade:|sec-websocket|content-length: 0/i);
        await sockets.servers[0]!.write(fromServer(CHAT), fromServer(ADMIN));
        await client.write(fromClient(CHAT), fromClient(ADMIN));
        // whatever Envoy does with the connection now, nobody hears the other
        await until(
          () => sockets.servers[0]!.ended || sockets.servers[0]!.said.length > 0,
          "the server was told",
        );
        client.socket.end();
        await sockets.gone(sockets.servers[0]!);
        assert.ok(
          sockets.servers[0]!.said.every((text) => text.startsWith("close 1")),
          sockets.servers[0]!.said.join(),
        );
        assert.ok(!client.bytes.includes('{"type":'), client.bytes.toString());
        assert.match(client.bytes.toString(), /"code":"UPGRADE_NOT_DELIVERED"/);
      });
    }
  });

  it("never bring compression about: the server does not see that the client can", async () => {
    sockets.permit(PLAN);
    await sockets.knock({
      headers: ["Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"],
    });
    assert.equal(sockets.requests[0]?.headers["sec-websocket-extensions"], undefined);
  });

  it("have no body for the server, whatever their head says", async () => {
    for (const headers of [[], ["Content-Length: 30"], ["Transfer-Encoding: chunked"]]) {
      sockets.permit(PLAN);
      const { client, head } = await sockets.knock({ headers });
      assert.match(head, /^HTTP\/1\.1 101 /);
      await client.write(fromClient(CHAT));
      await sockets.servers[0]!.heard(`text ${CHAT}`);
      const received = sockets.requests[0]!.headers;
      assert.deepEqual([received["content-length"], received["transfer-encoding"]], [undefined, undefined]);
      sockets.reset();
    }
  });

  it("are not completed where the client does not wait for the answer (RFC 6455, section 4.1)", async () => {
    const whole = fromClient(CHAT);
    for (const early of [whole, whole.subarray(0, 1), fromClient(ADMIN), Buffer.concat([whole, whole])]) {
      for (const plan of [PLAN, {}]) {
        sockets.permit(plan);
        const { client, head } = await sockets.knock({ early });
        assert.match(head, /^HTTP\/1\.1 502 /);
        await sockets.servers[0]!.write(fromServer(CHAT));
        await client.write(fromClient(CHAT));
        await sockets.servers[0]!.closing();
        assert.deepEqual(sockets.servers[0]!.said, ["close 1002 UPGRADE_NOT_DELIVERED"]);
        assert.ok(!client.bytes.includes(CHAT));
        sockets.reset();
      }
    }
  });

  it("may be written otherwise", async () => {
    for (const [from, to] of [
      ["Upgrade: websocket", "Upgrade: WebSocket"],
      ["Connection: Upgrade", "Connection: keep-alive, upgrade"],
      ["Connection: Upgrade", "Connection: keep-alive\r\nConnection: UPGRADE"],
    ] as const) {
      sockets.permit(PLAN);
      const socket = connect(sockets.gateway.port, "127.0.0.1");
      socket.once("data", () => socket.write(Buffer.concat([fromClient(ADMIN), fromClient(CHAT)])));
      socket.write(clientHandshake().replace(from, to));
      await until(() => sockets.servers[0]?.said.includes(`text ${CHAT}`) === true, "the permitted message");
      assert.ok(!sockets.servers[0]!.said.includes(`text ${ADMIN}`));
      socket.destroy();
      sockets.reset();
    }
  });

  describe("without a plan", () => {
    const answers = [
      ["at all", ALLOW],
      ["for connections", planned(responsePlan(field("ssn")))],
      ["that can be read", planned("nonsense")],
    ] as const;
    for (const [name, answer] of answers) {
      it(`${name} bring no connection about, and no message to the server`, async () => {
        sockets.gateway.authz.decide = () => answer;
        for (const early of [Buffer.alloc(0), fromClient(CHAT)]) {
          const { client, head } = await sockets.knock({ early });
          assert.match(head, /^HTTP\/1\.1 502 /);
          const server = sockets.servers[0]!;
          await client.write(fromClient(CHAT));
          await server.write(fromServer(CHAT));
          client.socket.end();
          await sockets.gone(server);
          assert.equal(server.bytes.length, 0);
          assert.ok(!client.bytes.includes(CHAT), client.bytes.toString());
          sockets.reset();
        }
      });
    }
  });

  it("with another method are turned down", async () => {
    for (const method of ["POST", "PUT", "OPTIONS"])
      for (const length of [[], ["Content-Length: 21"]]) {
        sockets.permit({});
        const bytes = `${clientHandshake(length).replace("GET", method)}${fromClient(CHAT).toString("latin1")}`;
        const answer = await sendRaw(sockets.gateway.port, bytes, (text) => text.includes("}\n"));
        assert.match(answer, /^HTTP\/1\.1 403 [^]*"code":"UPGRADE_NOT_SUPPORTED"/, method);
      }
    assert.equal(sockets.servers.length, 0);
  });

  it("for other protocols are turned down, and h2c is a request like others", async () => {
    sockets.permit(PLAN);
    for (const upgrade of [
      "foo",
      "websocket, foo",
      "foo\r\nUpgrade: websocket",
      "h2c, websocket",
      "TLS/1.0",
    ]) {
      const head = clientHandshake().replace("Upgrade: websocket", `Upgrade: ${upgrade}`);
      const answer = await sendRaw(sockets.gateway.port, head, (text) => text.includes("}\n"));
      assert.match(answer, /^HTTP\/1\.1 403 [^]*"code":"UPGRADE_NOT_SUPPORTED"/, upgrade);
    }
    assert.deepEqual([sockets.requests.length, sockets.gateway.upstream.seen.length], [0, 0]);
    sockets.gateway.authz.decide = () => ALLOW;
    const answer = await send(sockets.gateway.port, "/", {
      headers: {
        connection: "Upgrade, HTTP2-Settings",
        upgrade: "h2c",
        "http2-settings": "AAMAAABkAAQAAP__",
      },
    });
    assert.deepEqual([answer.status, answer.body], [200, "hello"]);
    assert.equal(sockets.gateway.upstream.seen[0]?.headers["upgrade"], undefined);
  });

  it("by a header alone are requests like others, body and all", async () => {
    sockets.gateway.authz.decide = () => planned(responsePlan(field("ssn")));
    sockets.gateway.upstream.seen.length = 0;
    sockets.gateway.upstream.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(BODY);
    };
    const answer = await send(sockets.gateway.port, "/", {
      method: "POST",
      headers: { upgrade: "websocket" },
      body: "12345",
    });
    assert.deepEqual([answer.status, answer.body], [200, '{"ssn":"***"}']);
    assert.equal(sockets.gateway.upstream.seen[0]?.bytes, 5);
  });

  it("meet an application that answers in its own time", async () => {
    sockets.permit(PLAN);
    sockets.handshake = () => undefined;
    const knocking = sockets.knock();
    await until(() => sockets.requests.length === 1, "the handshake");
    const early = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
    await sockets.servers[0]!.write(Buffer.from(early), Buffer.from(switching(sockets.requests[0]!)));
    const { client, head } = await knocking;
    assert.match(head, /^HTTP\/1\.1 101 /);
    await client.write(fromClient(ADMIN), fromClient(CHAT));
    await sockets.servers[0]!.heard(`text ${CHAT}`);
    assert.ok(!sockets.servers[0]!.said.includes(`text ${ADMIN}`));
  });
});
