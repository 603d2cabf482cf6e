import assert from "node:assert/strict";
import { deflateRawSync } from "node:zlib";
import { OPCODE } from "../../lua/websocket/support.ts";
import { closePayload, fromClient, fromServer } from "../support/websocket-frames.ts";
import { startSocketGateway, type Connection, type Plan, type SocketGateway } from "../support/websocket.ts";

/** `chat` of room 1 is permitted, `admin` denied, `leave` closes. */
const SEND: NonNullable<Plan["send"]> = {
  chat: {
    rule: "m[0]",
    onDeny: "drop",
    when: {
      op: "==",
      left: { op: "attribute", path: ["message", "room"] },
      right: { op: "literal", value: 1 },
    },
  },
  "": { rule: "m[1]", onDeny: "drop", when: false },
  admin: { rule: "m[2]", onDeny: "drop", when: false },
  leave: { rule: "m[3]", onDeny: "close", when: false },
  end: { rule: "m[4]", onDeny: "drop" },
};
const CHAT = '{"type":"chat","room":1}';
const ADMIN = '{"type":"admin","room":1}';
const END = '{"type":"end"}';

/** Its name, what is sent, and the code of the CLOSE that follows. */
type Attack = readonly [name: string, bytes: readonly Buffer[], code: number];

describe("gateway: WebSocket messages from a hostile client", () => {
  let sockets: SocketGateway;
  before(async () => {
    sockets = await startSocketGateway();
  });
  afterEach(() => {
    sockets.reset();
  });
  after(() => sockets.stop());

  const open = () => sockets.open({ send: SEND });

  /** What the server was told, when the client has said its last; PINGs of the gateway's own are left out. */
  async function told({ client, server }: Connection): Promise<readonly string[]> {
    await client.write(fromClient(END));
    await server.heard(`text ${END}`);
    assertWellFormed({ client, server });
    return server.said.filter((text) => !/^ping [0-9a-f]{32}$/.test(text)).slice(0, -1);
  }

  /** Section 5.1: the server gets masked frames only, and the client none. */
  function assertWellFormed({ client, server }: Pick<Connection, "client" | "server">): void {
    assert.ok(
      server.frames.every(({ masked, reserved }) => masked && reserved === 0),
      server.said.join(),
    );
    assert.ok(
      client.frames.every(({ masked, reserved }) => !masked && reserved === 0),
      client.said.join(),
    );
  }

  const notice = (type: string | undefined, message = "the message was denied") =>
    `text ${JSON.stringify({
      type: "error",
      error: { code: "ACCESS_DENIED", message },
      ...(type !== undefined && { message_type: type }),
    })}`;

  describe("are evaluated as a whole", () => {
    /** Cuts a message into fragments of `size` bytes. */
    function fragments(text: string, size: number): Buffer[] {
      const count = Math.ceil(text.length / size);
      return Array.from({ length: count }, (_, index) =>
        fromClient(text.slice(index * size, (index + 1) * size), {
          opcode: index === 0 ? OPCODE.text : OPCODE.continuation,
          fin: index === count - 1,
        }),
      );
    }

    it("in fragments, of one byte as well, in one packet and in many", async () => {
      for (const size of [1, 7, 20]) {
        const connection = await open();
        const { client } = connection;
        await client.write(...fragments(ADMIN, size), ...fragments(CHAT, size));
        await client.write(Buffer.concat([...fragments(ADMIN, size), ...fragments(CHAT, size)]));
        assert.deepEqual(await told(connection), [`text ${CHAT}`, `text ${CHAT}`]);
      }
    });

    it("with empty fragments around and between", async () => {
      const connection = await open();
      const empty = fromClient("", { opcode: OPCODE.continuation, fin: false });
      const last = fromClient("", { opcode: OPCODE.continuation });
      for (const text of [ADMIN, CHAT])
        await connection.client.write(fromClient("", { fin: false }), empty, ...parts(text), empty, last);
      assert.deepEqual(await told(connection), [`text ${CHAT}`]);
      function parts(text: string): Buffer[] {
        return [fromClient(text, { opcode: OPCODE.continuation, fin: false })];
      }
    });

    it("byte by byte", async () => {
      const connection = await open();
      for (const byte of Buffer.concat([fromClient(ADMIN), fromClient(CHAT)]))
        await connection.client.write(Buffer.from([byte]));
      assert.deepEqual(await told(connection), [`text ${CHAT}`]);
    });

    it("many in one packet, permitted and denied in turn", async () => {
      const connection = await open();
      await connection.client.write(
        Buffer.concat([CHAT, ADMIN, CHAT, ADMIN, ADMIN, CHAT].map((text) => fromClient(text))),
      );
      assert.deepEqual(await told(connection), [`text ${CHAT}`, `text ${CHAT}`, `text ${CHAT}`]);
    });

    it("larger than any packet, at any place of it", async () => {
      const connection = await sockets.open({ send: SEND, limit: 600_000 });
      const filling = "f".repeat(150_000);
      const large = (type: string) => `{"filling":"${filling}","room":1,"type":"${type}"}`;
      await connection.client.write(
        Buffer.concat([fromClient(large("chat")), fromClient(large("admin")), fromClient(large("chat"))]),
        ...fragments(large("admin"), 50_001),
        ...fragments(large("chat"), 50_001),
      );
      assert.deepEqual(
        (await told(connection)).map((text) => text.slice(-25)),
        Array.from({ length: 3 }, () => large("chat").slice(-25)),
      );
    });

    it("with control frames between the fragments", async () => {
      const connection = await open();
      const [first, second] = fragments(ADMIN, 20);
      const ping = (text: string) => fromClient(text, { opcode: OPCODE.ping });
      await connection.client.write(Buffer.concat([first!, ping("a"), second!]));
      await connection.client.write(
        first!,
        fromClient("b", { opcode: OPCODE.pong }),
        second!,
        fromClient(CHAT),
      );
      assert.deepEqual(await told(connection), ["ping a", "pong b", `text ${CHAT}`]);
      await connection.client.heard("pong a");
    });

    it("whatever keys they are masked with", async () => {
      const connection = await open();
      for (const key of ["00000000", "ffffffff", "7b227479"])
        for (const text of [ADMIN, CHAT])
          await connection.client.write(fromClient(text, { key: Buffer.from(key, "hex") }));
      assert.deepEqual(await told(connection), [`text ${CHAT}`, `text ${CHAT}`, `text ${CHAT}`]);
    });
  });

  describe("are not delivered where their type is not certain", () => {
    const UNREADABLE = notice(undefined, "a message must be a JSON object with one `type`");
    const messages: readonly [name: string, payload: string | Buffer, notice: string, opcode?: number][] = [
      ["duplicate `type`", '{"type":"admin","type":"chat","room":1}', UNREADABLE],
      ["duplicate `type`, the other way", '{"type":"chat","room":1,"type":"admin"}', UNREADABLE],
      ["an escaped key", String.raw`{"\u0074ype":"chat","room":1}`, UNREADABLE],
      [
        "an escaped key beside a plain one",
        String.raw`{"type":"chat","t\u0079pe":"admin","room":1}`,
        UNREADABLE,
      ],
      ["an escaped value", String.raw`{"type":"\u0061dmin"}`, notice("admin")],
      ["a nested `type`", '{"a":{"type":"chat","room":1},"room":1}', UNREADABLE],
      [
        "a nested `type` of another kind",
        '{"type":"admin","a":{"type":"chat","room":1},"room":1}',
        notice("admin"),
      ],
      ["a batch", `[${CHAT},${CHAT}]`, UNREADABLE],
      ["two documents", `${CHAT}${CHAT}`, UNREADABLE],
      ["lines", `${CHAT}\n${ADMIN}`, UNREADABLE],
      ["a text", '"chat"', UNREADABLE],
      ["null", "null", UNREADABLE],
      ["nothing", "", UNREADABLE],
      ["white space", "  ", UNREADABLE],
      ["a byte order mark", `\uFEFF${CHAT}`, UNREADABLE],
      ["a trailing comma", '{"type":"chat","room":1,}', UNREADABLE],
      ["a comment", '{"type":"chat",/*"type":"admin",*/"room":1}', UNREADABLE],
      ["single quotes", "{'type':'chat','room':1}", UNREADABLE],
      ["a type of another kind", '{"type":["chat"],"room":1}', UNREADABLE],
      ["an empty type", '{"type":"","room":1}', notice("")],
      ["another case", '{"Type":"chat","room":1}', UNREADABLE],
      [
        "a name of Lua's",
        '{"type":"__index"}',
        notice("__index", "no rule exists for messages of this type"),
      ],
      [
        "a NUL",
        '{"type":"chat\\u0000","room":1}',
        notice("chat?", "no rule exists for messages of this type"),
      ],
      ["another condition's value", '{"type":"chat","room":"1"}', notice("chat")],
      ["a duplicate that the condition reads", '{"type":"chat","room":2,"room":1}', notice("chat")],
      ["deep nesting", `{"type":"chat","room":1,"a":${"[".repeat(400)}${"]".repeat(400)}}`, UNREADABLE],
      ["binary", CHAT, UNREADABLE, OPCODE.binary],
    ];
    for (const [name, payload, expected, opcode = OPCODE.text] of messages) {
      it(name, async () => {
        const connection = await open();
        await connection.client.write(fromClient(payload, { opcode }), fromClient(CHAT));
        assert.deepEqual(await told(connection), [`text ${CHAT}`]);
        await connection.client.heard(expected);
        assert.deepEqual(connection.client.said, [expected]);
      });
    }
  });

  describe("that break the protocol end the connection", () => {
    const chat = (change: Parameters<typeof fromClient>[1] = {}) => fromClient(CHAT, change);
    const PARTS = { fin: false } as const;
    const attacks: readonly Attack[] = [
      ["not masked", [fromServer(CHAT)], 1002],
      ["not masked, in the midst", [chat(PARTS), fromServer("", { opcode: OPCODE.continuation })], 1002],
      ...[1, 2, 3, 4, 7].map(
        (reserved) => [`reserved bits ${String(reserved)}`, [chat({ reserved })], 1002] as const,
      ),
      ["compressed all the same", [fromClient(deflateRawSync(ADMIN), { reserved: 4 })], 1002],
      ["a control frame with reserved bits", [chat({ opcode: OPCODE.ping, reserved: 4 })], 1002],
      ...[3, 4, 5, 6, 7, 11, 15].map(
        (opcode) => [`opcode ${String(opcode)}`, [chat({ opcode })], 1002] as const,
      ),
      ["a length in two bytes that fits in one", [chat({ lengthBytes: 2 })], 1002],
      ["a length in eight bytes that fits in one", [chat({ lengthBytes: 8 })], 1002],
      ["a length in eight bytes that fits in two", [fromClient(CHAT.padEnd(300), { lengthBytes: 8 })], 1002],
      ["a length over 2^63", [chat({ declared: 0x8000_0000_0000_0010n })], 1002],
      ["a huge length", [chat({ declared: 0x7fff_ffff_ffff_ffffn })], 1009],
      ["a length over the limit, the bytes to come", [chat({ declared: 1001n })], 1009],
      [
        "fragments over the limit",
        [
          fromClient("x".repeat(600), PARTS),
          fromClient("x".repeat(600), { opcode: OPCODE.continuation, fin: false }),
        ],
        1009,
      ],
      ["no UTF-8", [fromClient(Buffer.from('{"type":"chat","room":1,"a":"\xff"}', "latin1"))], 1007],
      [
        "surrogates",
        [fromClient(Buffer.from('{"type":"chat","room":1,"a":"\xed\xa0\x80"}', "latin1"))],
        1007,
      ],
      ["overlong", [fromClient(Buffer.from('{"type":"chat","room":1,"a":"\xc0\xaf"}', "latin1"))], 1007],
      ["a continuation of nothing", [chat({ opcode: OPCODE.continuation })], 1002],
      ["a text within a text", [chat(PARTS), chat()], 1002],
      ["a fragmented PING", [chat({ opcode: OPCODE.ping, fin: false })], 1002],
      ["a large PING", [fromClient("p".repeat(126), { opcode: OPCODE.ping })], 1002],
      ["a huge PING", [fromClient("p".repeat(70_000), { opcode: OPCODE.ping })], 1002],
      ["half a close code", [fromClient("x", { opcode: OPCODE.close })], 1002],
      ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535].map(
        (code) =>
          [
            `close code ${String(code)}`,
            [fromClient(closePayload(code), { opcode: OPCODE.close })],
            1002,
          ] as const,
      ),
      [
        "a close reason that is no UTF-8",
        [fromClient(closePayload(1000, Buffer.from([0xff])), { opcode: OPCODE.close })],
        1007,
      ],
    ];
    for (const [name, bytes, code] of attacks) {
      it(name, async () => {
        const { client, server } = await open();
        await client.write(fromClient(CHAT));
        await server.heard(`text ${CHAT}`);
        await client.write(Buffer.concat([...bytes, fromClient(CHAT)]), fromClient(CHAT));
        const end = await server.closing();
        assert.match(end, new RegExp(`^close ${String(code)}( |$)`));
        // the server's answer brings the client its own
        await server.write(fromServer(closePayload(code), { opcode: OPCODE.close }), fromServer(CHAT));
        assert.equal(await client.closing(), end);
        await client.write(fromClient(CHAT));
        client.socket.end();
        await sockets.gone(server);
        assert.deepEqual(server.said, [`text ${CHAT}`, end]);
        assert.deepEqual(client.said, [end]);
        assertWellFormed({ client, server });
      });
    }
  });

  it("close where the rule says so, and nothing behind them passes", async () => {
    const { client, server } = await open();
    await client.write(Buffer.concat(['{"type":"leave"}', CHAT, END].map((text) => fromClient(text))));
    assert.equal(await server.closing(), "close 1008 ACCESS_DENIED");
    await server.write(fromServer(CHAT));
    assert.equal(await client.closing(), "close 1008 ACCESS_DENIED");
    await client.write(fromClient(CHAT));
    client.socket.end();
    await sockets.gone(server);
    assert.deepEqual(server.said, ["close 1008 ACCESS_DENIED"]);
    assert.deepEqual(client.said, ["close 1008 ACCESS_DENIED"]);
  });

  it("do not pass after the client's own CLOSE", async () => {
    for (const code of [undefined, 1000, 1001, 3000, 4999]) {
      const { client, server } = await open();
      const close = fromClient(closePayload(code, code === undefined ? "" : "bye"), { opcode: OPCODE.close });
      await client.write(Buffer.concat([fromClient(CHAT), close, fromClient(CHAT)]), fromClient(CHAT));
      const end = code === undefined ? "close" : `close ${String(code)} bye`;
      assert.equal(await server.closing(), end);
      // the server may have its say until it closes, too
      await server.write(fromServer("last"), fromServer(closePayload(code), { opcode: OPCODE.close }));
      await server.write(fromServer("later"));
      await client.closing();
      client.socket.end();
      await sockets.gone(server);
      assert.deepEqual(server.said, [`text ${CHAT}`, end]);
      assert.deepEqual(client.said, ["text last", end.replace(" bye", "")]);
    }
  });
});
