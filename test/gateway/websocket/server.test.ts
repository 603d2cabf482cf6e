import assert from "node:assert/strict";
import { OPCODE } from "../../lua/websocket/support.ts";
import { field } from "../support/plans.ts";
import { closePayload, fromClient, fromServer } from "../support/websocket-frames.ts";
import { startSocketGateway, switching, type Plan, type SocketGateway } from "../support/websocket.ts";

const SECRET = "123-45-6789";

/** `news` is permitted, its `ssn` masked; `card` is masked everywhere. */
const PLAN: Plan = {
  limit: 2000,
  receive: {
    news: { rule: "m[0]", onDeny: "drop", fields: [field("ssn")] },
    order: {
      rule: "m[1]",
      onDeny: "drop",
      when: {
        op: "==",
        left: { op: "attribute", path: ["message", "owner"] },
        right: { op: "literal", value: "me" },
      },
    },
    fatal: { rule: "m[2]", onDeny: "close", when: false },
  },
  fields: [field("card")],
};
const NEWS = `{"type":"news","ssn":"${SECRET}","n":1.0}`;
const MASKED = 'text {"type":"news","ssn":"***","n":1.0}';
const INTERNAL = `{"type":"internal","ssn":"${SECRET}"}`;
const END = '{"type":"news"}';

describe("gateway: WebSocket messages from a hostile server", () => {
  let sockets: SocketGateway;
  before(async () => {
    sockets = await startSocketGateway();
  });
  afterEach(() => {
    sockets.reset();
  });
  after(() => sockets.stop());

  /** What the client was told, when the server has said this and its last. */
  async function told(parts: readonly Buffer[], plan: Plan = PLAN): Promise<readonly string[]> {
    const { client, server } = await sockets.open(plan);
    await server.write(...parts, fromServer(END));
    await client.heard(`text ${END}`);
    assert.ok(!client.bytes.includes(SECRET), client.said.join());
    assert.ok(client.frames.every(({ masked }) => !masked));
    return client.said.slice(0, -1);
  }

  function fragments(text: string, size: number): Buffer[] {
    const count = Math.ceil(text.length / size);
    return Array.from({ length: count }, (_, index) =>
      fromServer(text.slice(index * size, (index + 1) * size), {
        opcode: index === 0 ? OPCODE.text : OPCODE.continuation,
        fin: index === count - 1,
      }),
    );
  }

  it("are masked, however they come", async () => {
    const whole = fromServer(NEWS);
    for (const parts of [
      [whole],
      [Buffer.concat([whole.subarray(0, 5)]), whole.subarray(5, 20), whole.subarray(20)],
      Array.from(whole, (byte) => Buffer.from([byte])),
      fragments(NEWS, 1),
      fragments(NEWS, 15),
      [Buffer.concat(fragments(NEWS, 15))],
    ])
      assert.deepEqual(await told(parts), [MASKED]);
    assert.deepEqual(await told([Buffer.concat([whole, fromServer(INTERNAL), whole])]), [MASKED, MASKED]);
  });

  it("are masked behind the 101, in its packet", async () => {
    sockets.handshake = (request) =>
      Buffer.concat([Buffer.from(switching(request)), fromServer(INTERNAL), fromServer(NEWS)]);
    const { client } = await sockets.open(PLAN);
    await client.heard(MASKED);
    assert.deepEqual(client.said, [MASKED]);
  });

  it("are masked around control frames between the fragments", async () => {
    const [first, second] = fragments(NEWS, 25);
    const ping = fromServer("p", { opcode: OPCODE.ping });
    assert.deepEqual(await told([Buffer.concat([first!, ping, second!])]), ["ping p", MASKED]);
  });

  it("are masked in a message larger than any packet", async () => {
    const filling = "f".repeat(400_000);
    const large = `{"type":"news","a":"${filling}","ssn":"${SECRET}"}`;
    const expected = `text ${large.replace(SECRET, "***")}`;
    const plan = { ...PLAN, limit: 500_000 };
    assert.deepEqual(await told([fromServer(large)], plan), [expected]);
    assert.deepEqual(await told(fragments(large, 70_001), plan), [expected]);
  });

  describe("are not delivered where they are not certain", () => {
    const messages: readonly [name: string, frames: readonly Buffer[]][] = [
      ["another type", [fromServer(INTERNAL)]],
      ["a condition that is false", [fromServer(`{"type":"order","owner":"you","x":"${SECRET}"}`)]],
      ["a condition that is unknown", [fromServer(`{"type":"order","x":"${SECRET}"}`)]],
      ["a type in fragments", fragments(INTERNAL, 11)],
      ["duplicate `type`", [fromServer(`{"type":"news","type":"internal","a":"${SECRET}"}`)]],
      ["an escaped `type`", [fromServer(`{"typ\\u0065":"news","a":"${SECRET}"}`)]],
      ["a nested `type`", [fromServer(`{"m":{"type":"news"},"a":"${SECRET}"}`)]],
      ["a batch", [fromServer(`[${NEWS}]`)]],
      ["no JSON", [fromServer(`type=news ssn=${SECRET}`)]],
      ["broken JSON", [fromServer(NEWS.slice(0, -1))]],
      ["more behind it", [fromServer(`${NEWS} ${SECRET}`)]],
      ["a byte order mark", [fromServer(`\uFEFF${NEWS}`)]],
      ["binary", [fromServer(NEWS, { opcode: OPCODE.binary })]],
      [
        "binary in fragments",
        [
          fromServer(NEWS.slice(0, 9), { opcode: OPCODE.binary, fin: false }),
          fromServer(NEWS.slice(9), { opcode: OPCODE.continuation }),
        ],
      ],
      [
        "deep nesting",
        [fromServer(`{"type":"news","ssn":"${SECRET}","a":${"[".repeat(900)}${"]".repeat(900)}}`)],
      ],
    ];
    for (const [name, frames] of messages) {
      it(name, async () => {
        assert.deepEqual(await told(frames), []);
      });
    }

    it("where only fields are to be masked", async () => {
      const plan = { fields: [field("ssn")] };
      assert.deepEqual(
        await told(
          [
            fromServer(`{"ssn":"${SECRET}"}`),
            fromServer(`[{"ssn":"${SECRET}"},{"s\\u0073n":"${SECRET}"}]`),
            fromServer(`{"ssn":"${SECRET}","ssn":{"a":"${SECRET}"}}`),
            fromServer(`ssn: ${SECRET}`),
            fromServer(`{"ssn":"${SECRET}"}`, { opcode: OPCODE.binary }),
            fromServer(`{"ssn":"${SECRET}"`),
          ],
          plan,
        ),
        ['text {"ssn":"***"}', 'text [{"ssn":"***"},{"s\\u0073n":"***"}]', 'text {"ssn":"***","ssn":"***"}'],
      );
    });
  });

  describe("that break the protocol end the connection", () => {
    const attacks: readonly (readonly [name: string, bytes: readonly Buffer[], code: number])[] = [
      ["masked", [fromClient(NEWS)], 1002],
      [
        "masked with zeros, in the midst",
        [
          fromServer(NEWS.slice(0, 9), { fin: false }),
          fromServer(NEWS.slice(9), { opcode: OPCODE.continuation, key: Buffer.alloc(4) }),
        ],
        1002,
      ],
      ["compressed", [fromServer(NEWS, { reserved: 4 })], 1002],
      ["a reserved opcode", [fromServer(NEWS, { opcode: 3 })], 1002],
      ["a length that is not the shortest", [fromServer(NEWS, { lengthBytes: 8 })], 1002],
      ["too large", [fromServer(NEWS, { declared: 2001n })], 1009],
      ["too large in fragments", [...fragments(NEWS.padEnd(2001), 500)], 1009],
      ["no UTF-8", [fromServer(Buffer.from(`{"type":"news","a":"\xff${SECRET}"}`, "latin1"))], 1007],
      ["a text within a text", [fromServer(NEWS, { fin: false }), fromServer(NEWS)], 1002],
      ["a continuation of nothing", [fromServer(NEWS, { opcode: OPCODE.continuation })], 1002],
      ["a PING with a secret, too large", [fromServer(NEWS.padEnd(126), { opcode: OPCODE.ping })], 1002],
      ["a bad close code", [fromServer(closePayload(1006, SECRET), { opcode: OPCODE.close })], 1002],
      ["a page, no frames", [Buffer.from(`<html>${SECRET}</html>`)], 1002],
      ["a type that closes", [fromServer(`{"type":"fatal","a":"${SECRET}"}`)], 1008],
    ];
    // all at once: when a server has hung up, Envoy waits for a second before it does so to the client
    it("with a CLOSE each way, and nothing behind it", async () => {
      const ends: Promise<void>[] = [];
      for (const [name, bytes, code] of attacks) {
        const { client, server } = await sockets.open(PLAN);
        await server.write(Buffer.concat([...bytes, fromServer(NEWS)]), fromServer(NEWS));
        const end = await client.closing();
        assert.match(end, new RegExp(`^close ${String(code)}( |$)`), name);
        await client.write(fromClient("news"), fromClient(closePayload(code), { opcode: OPCODE.close }));
        assert.equal(await server.closing(), end, name);
        await server.write(fromServer(NEWS));
        server.socket.end();
        ends.push(
          sockets.gone(client).then(() => {
            assert.deepEqual([client.said, server.said], [[end], [end]], name);
          }),
        );
      }
      await Promise.all(ends);
    });
  });

  it("do not pass after the server's own CLOSE", async () => {
    const { client, server } = await sockets.open(PLAN);
    const close = fromServer(closePayload(1001, "bye"), { opcode: OPCODE.close });
    await server.write(Buffer.concat([fromServer(NEWS), close, fromServer(NEWS)]), fromServer(NEWS));
    assert.equal(await client.closing(), "close 1001 bye");
    server.socket.end();
    await sockets.gone(client);
    assert.deepEqual(client.said, [MASKED, "close 1001 bye"]);
  });

  it("pass untouched where no rule is about them, but never against the protocol", async () => {
    const { client, server } = await sockets.open({});
    const parts = [
      fromServer(NEWS),
      fromServer(Buffer.from([0xff, 0]), { opcode: OPCODE.binary }),
      ...fragments(NEWS, 15),
      fromServer("p", { opcode: OPCODE.pong }),
    ];
    await server.write(...parts);
    await client.heard("pong p");
    assert.deepEqual(client.bytes, Buffer.concat(parts));
    await server.write(fromServer(NEWS, { reserved: 4 }), fromServer(NEWS));
    assert.match(await client.closing(), /^close 1002 /);
    server.socket.end();
    await sockets.gone(client);
    assert.equal(client.said.filter((text) => text === `text ${NEWS}`).length, 1);
  });
});
