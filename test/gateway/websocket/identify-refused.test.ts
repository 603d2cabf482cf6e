import assert from "node:assert/strict";
import { IDENTIFICATION, INIT_BYTES, ownClusterOf, SUBPROTOCOL } from "../../../src/envoy-contract.ts";
import { OPCODE } from "../../lua/websocket/support.ts";
import {
  identified,
  INIT,
  ME,
  PING,
  PLAN,
  SOMEBODY,
  told,
  useIdentifyingGateway,
} from "../support/identify.ts";
import { closePayload, fromClient, fromServer } from "../support/websocket-frames.ts";
import type { Connection } from "../support/websocket.ts";

const { current, older } = SUBPROTOCOL;

describe("gateway: GraphQL clients that do not say as they should who they are", () => {
  const gateway = useIdentifyingGateway();
  const { asked, open, speaking } = gateway;

  /** Lets both sides end, and tells what each was told. */
  async function end({ client, server }: Pick<Connection, "client" | "server">) {
    const closed = await server.closing();
    await server.write(fromServer(closePayload(1000), { opcode: OPCODE.close }));
    await client.closing();
    client.socket.destroy();
    await gateway.sockets.gone(server);
    return { closed, server: told(server), client: client.said };
  }

  it("are closed if the service refuses their token, in the way of their protocol", async () => {
    gateway.sockets.gateway.authz.identify = () =>
      JSON.stringify({ result: IDENTIFICATION.refused, code: 4403, reason: "TOKEN_EXPIRED" });
    const modern = await open();
    await modern.client.write(Buffer.concat([fromClient(INIT), fromClient(ME)]), fromClient(ME));
    assert.deepEqual(await end(modern), {
      closed: "close 4403 TOKEN_EXPIRED",
      server: ["close 4403 TOKEN_EXPIRED"],
      client: ["close 4403 TOKEN_EXPIRED"],
    });
    const old = await open(older);
    await old.client.write(fromClient(INIT), fromClient(ME));
    assert.deepEqual(await end(old), {
      closed: "close 4403 TOKEN_EXPIRED",
      server: ["close 4403 TOKEN_EXPIRED"],
      client: [
        'text {"payload":{"message":"TOKEN_EXPIRED"},"type":"connection_error"}',
        "close 4403 TOKEN_EXPIRED",
      ],
    });
  });

  it("are closed if the service says nothing that could be used", async () => {
    for (const answer of [
      "fails",
      "",
      "{}",
      "[]",
      '"identified"',
      '{"result":"permitted"}',
      '{"result":"refused","code":"4403","reason":"x"}',
      JSON.stringify({ result: IDENTIFICATION.identified }),
      identified({ plan: "{}" }),
      identified({ plan: JSON.stringify({ ir: 1, response: { limit: 1, fields: [] } }) }),
      identified({
        plan: JSON.stringify({ ir: 1, websocket: { environment: "test", plain: true, limit: 9 } }),
      }),
      identified({ plan: JSON.stringify({ ir: 99, websocket: { graphql: SOMEBODY, limit: 9 } }) }),
      JSON.stringify({ ...(JSON.parse(identified()) as object), expires_at: "never" }),
    ]) {
      gateway.sockets.gateway.authz.identify = () => answer;
      const connection = await open();
      await connection.client.write(fromClient(INIT), fromClient(ME));
      assert.deepEqual((await end(connection)).server, ["close 1013 SERVICE_UNAVAILABLE"], answer);
      gateway.sockets.reset();
    }
  });

  it("are closed if the worker is not there", async () => {
    for (const cluster of [ownClusterOf(7), "backend"]) {
      speaking(current);
      const connection = await gateway.sockets.open(PLAN, { metadata: { identify: cluster } });
      await connection.client.write(fromClient(INIT), fromClient(ME));
      assert.deepEqual((await end(connection)).server, ["close 1013 SERVICE_UNAVAILABLE"]);
      gateway.sockets.reset();
    }
  });

  describe("are closed, and the service is not asked, if they begin with", () => {
    const large = JSON.stringify({
      type: "connection_init",
      payload: { authorization: "x".repeat(INIT_BYTES) },
    });
    const attacks: readonly (readonly [name: string, bytes: readonly Buffer[], closing: string])[] = [
      ["an operation", [fromClient(ME)], "close 4401 connection_init must come first"],
      [
        "an operation after a ping, in one packet with the rest",
        [Buffer.concat([fromClient(PING), fromClient(ME), fromClient(INIT)])],
        "close 4401 connection_init must come first",
      ],
      ["a binary message", [fromClient(INIT, { opcode: OPCODE.binary })], "close 4400 invalid message"],
      ["no JSON", [fromClient("{"), fromClient(INIT)], "close 4400 invalid message"],
      [
        "a member twice",
        [fromClient('{"type":"ping","type":"connection_init"}'), fromClient(INIT)],
        "close 4400 invalid message",
      ],
      [
        "a type that does not exist",
        [fromClient('{"type":"Connection_init"}')],
        "close 4400 invalid message type",
      ],
      [
        "compressed data",
        [fromClient(INIT, { reserved: 4 }), fromClient(INIT)],
        "close 1002 reserved bits are set",
      ],
      ["more than a message may be", [fromClient("x".repeat(300_001))], "close 1009 the message is too big"],
      [
        "a large connection_init",
        [fromClient(large), fromClient(INIT)],
        "close 1009 connection_init is too large",
      ],
      [
        "a large ping",
        [
          fromClient(JSON.stringify({ type: "ping", payload: { x: "x".repeat(INIT_BYTES) } })),
          fromClient(INIT),
        ],
        "close 1009 too large before connection_init",
      ],
    ];
    for (const [name, bytes, closing] of attacks)
      it(name, async () => {
        const connection = await open();
        await connection.client.write(...bytes, fromClient(ME));
        const { server } = await end(connection);
        assert.deepEqual(
          server.filter((text) => text !== `text ${PING}`),
          [closing],
        );
        assert.deepEqual(asked(), []);
      });
  });

  it("say so once", async () => {
    for (const protocol of [current, older]) {
      const connection = await open(protocol);
      await connection.client.write(Buffer.concat([fromClient(INIT), fromClient(INIT)]), fromClient(ME));
      assert.deepEqual((await end(connection)).server, [
        `text ${INIT}`,
        "close 4429 too many initialisation requests",
      ]);
      gateway.sockets.reset();
    }
    const later = await open();
    await later.client.write(fromClient(INIT));
    await later.server.write(fromServer('{"type":"connection_ack"}'));
    await later.client.heard('text {"type":"connection_ack"}');
    await later.client.write(fromClient(INIT), fromClient(ME));
    assert.deepEqual((await end(later)).server, [
      `text ${INIT}`,
      "close 4429 too many initialisation requests",
    ]);
    assert.deepEqual(asked(), [INIT, INIT, INIT]);
  });
});

describe("gateway: GraphQL clients about whom the service does not answer in time", () => {
  const gateway = useIdentifyingGateway("2s");

  it("are closed", async () => {
    gateway.sockets.gateway.authz.identify = () => "never";
    const { client, server } = await gateway.open();
    await client.write(fromClient(INIT), fromClient(ME));
    assert.equal(await server.closing(), "close 1013 SERVICE_UNAVAILABLE");
    assert.deepEqual(told(server), ["close 1013 SERVICE_UNAVAILABLE"]);
  });
});
