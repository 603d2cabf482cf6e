import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type ClientHttp2Session } from "node:http2";
import { IDENTIFICATION, SUBPROTOCOL } from "../../../src/envoy-contract.ts";
import { OPCODE } from "../../lua/websocket/support.ts";
import { until } from "../support/client.ts";
import {
  identified,
  INIT,
  ME,
  METADATA,
  MY_NAME,
  PING,
  PLAN,
  SECRET,
  SOMEBODY,
  told,
  useIdentifyingGateway,
} from "../support/identify.ts";
import { fromClient, fromServer } from "../support/websocket-frames.ts";
import { Wire, type Connection } from "../support/websocket.ts";

const { current } = SUBPROTOCOL;

describe("gateway: GraphQL clients that say in their first message who they are", () => {
  const gateway = useIdentifyingGateway();
  const { asked, open, speaking } = gateway;
  let session: ClientHttp2Session | undefined;
  afterEach(() => {
    session?.destroy();
    session = undefined;
  });

  /** RFC 8441. */
  async function openOverHttp2(): Promise<Pick<Connection, "client" | "server">> {
    speaking(current);
    gateway.sockets.permit(PLAN, { ...METADATA, handshake_accept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" });
    session = connect(`http://127.0.0.1:${String(gateway.sockets.gateway.port)}`);
    session.on("error", () => undefined);
    await once(session, "remoteSettings");
    const stream = session.request(
      {
        ":method": "CONNECT",
        ":protocol": "websocket",
        ":scheme": "http",
        ":path": "/feed",
        ":authority": "app.test",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      },
      { endStream: false },
    );
    stream.on("error", () => undefined);
    await once(stream, "response");
    return { client: new Wire(stream), server: gateway.sockets.servers[0]! };
  }

  for (const [over, begin] of [
    ["HTTP/1.1", open],
    ["HTTP/2", openOverHttp2],
  ] as const) {
    it(`are known from their first message on, over ${over}`, async () => {
      const { client, server } = await begin();
      await client.write(fromClient(INIT), fromClient(ME), fromClient(SECRET), fromClient(PING));
      await server.heard(`text ${PING}`);
      assert.deepEqual(told(server), [`text ${INIT}`, `text ${ME}`, `text ${PING}`]);
      assert.deepEqual(asked(), [INIT]);
    });

    it(`have nothing passed on before the service has answered, over ${over}`, async () => {
      const { promise, resolve: answer } = Promise.withResolvers<string>();
      gateway.sockets.gateway.authz.identify = () => promise;
      const { client, server } = await begin();
      // with the first message in one packet, and in later ones
      await client.write(
        Buffer.concat([fromClient(PING), fromClient(INIT), fromClient(SECRET), fromClient(ME)]),
      );
      await client.write(fromClient(SECRET));
      await client.write(...Array.from({ length: 50 }, () => fromClient(SECRET)));
      await until(() => asked().length === 1, "the service is asked");
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.deepEqual(told(server), []);
      answer(identified());
      await client.write(fromClient(MY_NAME));
      await server.heard(`text ${MY_NAME}`);
      assert.deepEqual(told(server), [`text ${PING}`, `text ${INIT}`, `text ${ME}`, `text ${MY_NAME}`]);
    });
  }

  it("have all that they send meanwhile evaluated, in order, more of it than Envoy reads ahead", async () => {
    const { promise, resolve: answer } = Promise.withResolvers<string>();
    gateway.sockets.gateway.authz.identify = () => promise;
    const { client, server } = await open();
    await client.write(fromClient(INIT));
    await until(() => asked().length === 1, "the service is asked");
    const pings = Array.from(
      { length: 300 },
      (_, index) => `{"type":"ping","payload":{"n":${String(index)},"x":"${"x".repeat(5_000)}"}}`,
    );
    const sent = client.write(...pings.map((ping) => fromClient(ping)), fromClient(SECRET), fromClient(ME));
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(told(server), []);
    answer(identified());
    await sent;
    await server.heard(`text ${ME}`);
    assert.deepEqual(
      told(server),
      [INIT, ...pings, ME].map((text) => `text ${text}`),
    );
  });

  it("are found in their message however it is cut", async () => {
    const whole = fromClient(INIT);
    const bytes = Array.from(whole, (_, at) => whole.subarray(at, at + 1));
    const parts = [
      fromClient(INIT.slice(0, 9), { fin: false }),
      fromClient("between", { opcode: OPCODE.ping }),
      fromClient(INIT.slice(9, 20), { opcode: OPCODE.continuation, fin: false }),
      fromClient(INIT.slice(20), { opcode: OPCODE.continuation }),
    ];
    for (const [packets, extra] of [
      [bytes, []],
      [parts, ["ping between"]],
      [[Buffer.concat(parts.slice(0, 3)), Buffer.concat([parts[3]!, fromClient(SECRET)])], ["ping between"]],
    ] as const) {
      const { client, server } = await open();
      await client.write(...packets, fromClient(SECRET), fromClient(ME));
      await server.heard(`text ${ME}`);
      assert.deepEqual(told(server), [...extra, `text ${INIT}`, `text ${ME}`]);
      gateway.sockets.reset();
    }
    assert.deepEqual(asked(), [INIT, INIT, INIT]);
  });

  it("may show that they are there before that", async () => {
    const { client, server } = await open();
    await client.write(
      fromClient(PING),
      fromClient("frame", { opcode: OPCODE.ping }),
      fromClient('{"type":"pong"}'),
    );
    await server.heard('text {"type":"pong"}');
    await server.write(fromServer(PING));
    await client.heard(`text ${PING}`);
    await client.write(fromClient(INIT), fromClient(ME));
    await server.heard(`text ${ME}`);
    assert.deepEqual(told(server), [
      `text ${PING}`,
      "ping frame",
      'text {"type":"pong"}',
      `text ${INIT}`,
      `text ${ME}`,
    ]);
  });

  it("keep the first plan if they have no token", async () => {
    gateway.sockets.gateway.authz.identify = () => JSON.stringify({ result: IDENTIFICATION.unchanged });
    const { client, server } = await open();
    await client.write(fromClient(INIT), fromClient(ME), fromClient(PING));
    await server.heard(`text ${PING}`);
    assert.deepEqual(told(server), [`text ${INIT}`, `text ${PING}`]);
  });

  it("are connected no longer than their token is valid", async () => {
    gateway.sockets.gateway.authz.identify = () =>
      identified({ expires_at: Math.floor(Date.now() / 1000) + 5 });
    const { client, server } = await open();
    await client.write(fromClient(INIT), fromClient(ME));
    await server.heard(`text ${ME}`);
    const ended = () => server.said.some((text) => text.startsWith("close"));
    await until(async () => {
      if (!ended()) await client.write(fromClient(PING));
      return ended();
    }, "the server got a CLOSE");
    assert.equal(await server.closing(), "close 4403 TOKEN_EXPIRED");
  });

  it("are not connected at all if their token expires before the answer comes", async () => {
    gateway.sockets.gateway.authz.identify = () => identified({ expires_at: Math.floor(Date.now() / 1000) });
    const { client, server } = await open();
    await client.write(fromClient(INIT), fromClient(ME));
    assert.equal(await server.closing(), "close 4403 TOKEN_EXPIRED");
    assert.deepEqual(told(server), ["close 4403 TOKEN_EXPIRED"]);
  });

  it("are asked about under the id of their handshake's decision", async () => {
    const { id, client, server } = await open();
    await client.write(fromClient(INIT));
    await server.heard(`text ${INIT}`);
    assert.deepEqual(gateway.sockets.gateway.authz.identified, [{ decisionId: id, text: INIT }]);
  });

  it("may leave meanwhile", async () => {
    const { promise, resolve: answer } = Promise.withResolvers<string>();
    gateway.sockets.gateway.authz.identify = () => promise;
    const { client, server } = await open();
    await client.write(fromClient(INIT), fromClient(SECRET));
    await until(() => asked().length === 1, "the service is asked");
    client.socket.end();
    answer(identified());
    await gateway.sockets.gone(server);
    assert.ok(
      !server.bytes.includes(SECRET) && !told(server).some((text) => text.includes("secret")),
      server.said.join(),
    );
  });

  it("are passed on as before if nobody needs to be asked", async () => {
    speaking(current);
    const { client, server } = await gateway.sockets.open({ graphql: SOMEBODY, limit: 300_000 });
    await client.write(fromClient(INIT), fromClient(INIT), fromClient(ME));
    await server.heard(`text ${ME}`);
    assert.deepEqual(told(server), [`text ${INIT}`, `text ${INIT}`, `text ${ME}`]);
    assert.deepEqual(asked(), []);
  });
});
