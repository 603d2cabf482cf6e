import assert from "node:assert/strict";
import type { LuaRunner } from "../../support/lua.ts";
import { bytewise } from "./frames-support.ts";
import {
  ADMIN,
  CHAT,
  fromClient,
  fromServer,
  json,
  notice,
  PING_OF_OURS,
  RULES,
  startSockets,
  text,
  UNLISTED,
  UNREADABLE,
  type Play,
  type Played,
  type Script,
  type Step,
} from "./socket-support.ts";
import { closing, said, saidClose } from "./support.ts";

const ping = (payload: string) => fromClient(payload, { opcode: 9 });
const part = (payload: string | Buffer) => fromClient(payload, { fin: false });
const rest = (payload: string | Buffer, fin = true) => fromClient(payload, { opcode: 0, fin });

/** What a client sends beside its rules: what the server gets in its place, and why the sender is told it was denied. */
const ATTACKS: readonly (readonly [
  name: string,
  bytes: Buffer,
  server: readonly string[],
  notice?: string,
])[] = [
  ["a denied message", fromClient(ADMIN), [PING_OF_OURS], notice("admin")],
  ["a type that is not listed", fromClient({ type: "other" }), [PING_OF_OURS], notice("other", UNLISTED)],
  ["a type of Lua's own names", fromClient({ type: "__index" }), [PING_OF_OURS], notice("__index", UNLISTED)],
  ["a false condition", fromClient({ type: "count", n: 7 }), [PING_OF_OURS], notice("count")],
  ["an unknown condition", fromClient({ type: "count", n: "1" }), [PING_OF_OURS], notice("count")],
  ["a missing member", fromClient({ type: "count" }), [PING_OF_OURS], notice("count")],
  [
    "a duplicate member that is read",
    fromClient('{"type":"count","n":1,"n":1}'),
    [PING_OF_OURS],
    notice("count"),
  ],
  [
    "a duplicate member in escapes",
    fromClient('{"type":"count","n":1,"\\u006e":9}'),
    [PING_OF_OURS],
    notice("count"),
  ],
  ["no type", fromClient({ text: "hi" }), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  ["a type that is no string", fromClient({ type: ["chat"] }), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  [
    "a duplicate type",
    fromClient('{"type":"chat","type":"chat"}'),
    [PING_OF_OURS],
    notice(undefined, UNREADABLE),
  ],
  [
    "a second type in escapes",
    fromClient('{"type":"chat","\\u0074ype":"admin"}'),
    [PING_OF_OURS],
    notice(undefined, UNREADABLE),
  ],
  ["a type in escapes", fromClient('{"\\u0074ype":"chat"}'), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  ["a denied type in escapes", fromClient('{"type":"\\u0061dmin"}'), [PING_OF_OURS], notice("admin")],
  [
    "half a surrogate pair for a type",
    fromClient('{"type":"\\ud800"}'),
    [PING_OF_OURS],
    notice(undefined, UNREADABLE),
  ],
  ["a type within an object", fromClient({ message: CHAT }), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  ["a batch", fromClient([CHAT, ADMIN]), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  [
    "more values than are read",
    fromClient({ ...CHAT, list: Array.from({ length: 10_000 }, () => 1) }),
    [PING_OF_OURS],
    notice(undefined, UNREADABLE),
  ],
  ["a string", fromClient('"chat"'), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  ["no JSON", fromClient("{type:'chat'}"), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  ["two documents", fromClient(`${json(CHAT)}${json(ADMIN)}`), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  ["a byte order mark", fromClient(`\ufeff${json(CHAT)}`), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  ["an empty text", fromClient(""), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  ["a binary message", fromClient(CHAT, { opcode: 2 }), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  ["deep nesting", fromClient("[".repeat(9_000)), [PING_OF_OURS], notice(undefined, UNREADABLE)],
  [
    "a denied message in parts",
    Buffer.concat([part('{"type":"ad'), rest('min"}')]),
    [PING_OF_OURS],
    notice("admin"),
  ],
  [
    "a denied message in parts of one byte",
    Buffer.concat([part(""), ...Array.from(json(ADMIN), (one) => rest(one, false)), rest("")]),
    [PING_OF_OURS],
    notice("admin"),
  ],
  [
    "a denied message around a control frame",
    Buffer.concat([part('{"type":"ad'), ping("p"), rest('min"}')]),
    [said("ping", "p"), PING_OF_OURS],
    notice("admin"),
  ],
  [
    "a denied message between permitted ones",
    Buffer.concat([fromClient(CHAT), fromClient(ADMIN), fromClient({ type: "count", n: 1 })]),
    [text(CHAT), PING_OF_OURS, text({ type: "count", n: 1 })],
    notice("admin"),
  ],
  [
    "a denied message that ends a connection",
    Buffer.concat([fromClient(CHAT), fromClient({ type: "kick" }), fromClient(CHAT)]),
    [text(CHAT), saidClose(1008, "ACCESS_DENIED")],
  ],
  ["a frame that is not masked", fromServer(CHAT), [saidClose(1002, "a frame is not masked")]],
  [
    "reserved bits after a permitted message",
    Buffer.concat([fromClient(CHAT), fromClient(CHAT, { reserved: 4 }), fromClient(CHAT)]),
    [text(CHAT), saidClose(1002, "reserved bits are set")],
  ],
  [
    "too much in one message",
    fromClient("", { declared: 100_001n }).subarray(0, 10),
    [saidClose(1009, "the message is too big")],
  ],
  ["a text that is not UTF-8", fromClient(Buffer.of(0xff)), [saidClose(1007, "a text is not UTF-8")]],
  [
    "a bad close code",
    fromClient(closing(1005), { opcode: 8 }),
    [saidClose(1002, "the close code is not allowed")],
  ],
];

describe("socket.lua", () => {
  let runner: LuaRunner;
  let play: Play;
  before(async () => {
    ({ runner, play } = await startSockets());
  });
  after(() => runner.close());

  async function playOne(plan: Script["plan"], steps: readonly Step[], broken?: string): Promise<Played> {
    const [result] = await play([{ plan, steps, ...(broken !== undefined && { broken }) }]);
    return result!;
  }

  for (const [name, bytes, server, told] of ATTACKS) {
    it(`keeps from the server: ${name}`, async () => {
      const whole = await playOne({ send: RULES }, [{ client: bytes }, { answer: true }]);
      assert.deepEqual(whole.server, { events: server });
      if (told === undefined) {
        const { code, reason, by } = whole.outcome.closed!;
        assert.deepEqual(
          [server.at(-1), by],
          [saidClose(code, reason), code === 1008 ? "policy" : "protocol"],
        );
        assert.deepEqual(whole.client.events, [saidClose(code, reason)]);
      } else {
        assert.deepEqual(whole.client, { events: [told] });
        assert.equal(whole.outcome.sent.dropped, 1);
      }
      const single = bytes.length < 1_000 ? bytewise(bytes) : [bytes.subarray(0, 1), bytes.subarray(1)];
      const split = await playOne({ send: RULES }, [
        ...single.map((client) => ({ client })),
        { answer: true },
      ]);
      assert.deepEqual({ ...split, outputs: [] }, { ...whole, outputs: [] });
    });
  }

  it("delivers what is permitted, whole and byte for byte", async () => {
    const odd = ' { "n" : 1.0 , "type":"co\\u0075nt" } ';
    const { server, client, outcome } = await playOne({ send: RULES }, [
      { client: Buffer.concat([part(odd.slice(0, 9)), ping("p"), rest(odd.slice(9)), fromClient(CHAT)]) },
      { server: fromServer("anything") },
    ]);
    assert.deepEqual(server, { events: [said("ping", "p"), text(odd), text(CHAT)] });
    assert.deepEqual(client, { events: [text("anything")] });
    assert.deepEqual(outcome, {
      sent: { delivered: 2, dropped: 0 },
      received: { delivered: 1, dropped: 0, masked: 0 },
      denied: [],
      paths: [],
    });
  });

  it("without rules passes everything that keeps the protocol, as it came", async () => {
    const bytes = Buffer.concat([
      part("a"),
      ping("p"),
      rest("b"),
      fromClient(Buffer.of(0xff), { opcode: 2 }),
      fromClient(""),
    ]);
    const answer = Buffer.concat([
      fromServer("x", { fin: false }),
      fromServer("y", { opcode: 0 }),
      fromServer("z", { opcode: 9 }),
    ]);
    const { server, outputs, outcome } = await playOne({}, [{ client: bytes }, { server: answer }]);
    assert.deepEqual(server.events, [
      said("ping", "p"),
      text("ab"),
      said("binary", Buffer.of(0xff)),
      text(""),
    ]);
    assert.deepEqual(outputs[1], answer);
    assert.deepEqual([outcome.sent.delivered, outcome.received.delivered], [3, 1]);
  });

  it("masks frames for the server by a fresh key each", async () => {
    const { outputs } = await playOne({ send: RULES }, [
      { client: fromClient(CHAT) },
      { client: fromClient(CHAT) },
    ]);
    const keys = outputs.map((output) => output.toString("hex", 2, 6));
    assert.equal(new Set([...keys, "00000000", "a501ff7e"]).size, 4);
  });

  it("takes an empty list of rules for rules: nothing is listed", async () => {
    const { server, client } = await playOne({ send: {}, receive: {} }, [
      { client: fromClient(CHAT) },
      { server: fromServer(CHAT) },
    ]);
    assert.deepEqual(server.events, [PING_OF_OURS]);
    assert.deepEqual(client.events, [notice("chat", UNLISTED)]);
  });

  it("closes with 1011 where something raises, and delivers nothing any more", async () => {
    const send = {
      client: Buffer.concat([fromClient(CHAT), fromClient({ type: "count", n: 1 }), fromClient(CHAT)]),
    };
    const field = { rule: "f", anchored: false, keys: ["ssn"], action: { kind: "full" } } as const;
    const plan = { send: RULES, receive: RULES, fields: [field] };
    const receive = { server: fromServer({ ...CHAT, ssn: "123" }) };
    const more = [{ client: fromClient(CHAT) }, { server: fromServer(CHAT) }];
    for (const [broken, server] of [
      ["random", []],
      ["short random", []],
      ["env", [text(CHAT), saidClose(1011, "INTERNAL_ERROR")]],
      ["condition", [text(CHAT), saidClose(1011, "INTERNAL_ERROR")]],
      ["messages", [saidClose(1011, "INTERNAL_ERROR")]],
    ] as const) {
      const result = await playOne(plan, [send, receive, ...more], broken);
      assert.deepEqual(result.server, { events: server }, broken);
      assert.deepEqual(result.client, { events: [saidClose(1011, "INTERNAL_ERROR")] }, broken);
      assert.deepEqual(result.outcome.closed, { code: 1011, reason: "INTERNAL_ERROR", by: "error" });
    }
    const masked = await playOne(plan, [receive, ...more], "mask");
    assert.deepEqual(masked.server.events, [saidClose(1011, "INTERNAL_ERROR")]);
    assert.deepEqual(masked.client.events, [saidClose(1011, "INTERNAL_ERROR")]);
  });

  it("says what happened: denied messages by type and rule, and what has no rule apart", async () => {
    const types = Array.from({ length: 25 }, (_, index) => `t${index}`);
    const long = "é".repeat(60);
    const { outcome } = await playOne({ send: RULES, receive: RULES }, [
      {
        client: Buffer.concat(
          [ADMIN, ADMIN, { type: "a\u0000\n\u202eb\u009f" }, { type: long }].map((one) => fromClient(one)),
        ),
      },
      {
        server: Buffer.concat([
          fromServer("x"),
          fromServer(ADMIN),
          ...types.map((type) => fromServer({ type })),
        ]),
      },
    ]);
    assert.deepEqual(outcome.denied, [
      { direction: "send", type: "admin", rule: "m[1]", count: 2 },
      { direction: "receive", type: "admin", rule: "m[1]", count: 1 },
      { direction: "send", type: "a???b?", count: 1 },
      { direction: "send", type: "é".repeat(50), count: 1 },
      { direction: "receive", count: 1 },
      ...["t0", "t1", "t2", "t3"].map((type) => ({ direction: "receive", type, count: 1 })),
      { direction: "receive", type: "...", count: 21 },
    ]);
    assert.deepEqual(outcome.received, { delivered: 0, dropped: 27, masked: 0 });
  });

  it("says what a rule has denied, however many types the client invents before", async () => {
    const invented = Array.from({ length: 60 }, (_, index) => ({ type: `x${index}` }));
    // each message of the server's takes the notices with it, so that there are never too many
    const steps = invented.flatMap((one) => [{ client: fromClient(one) }, { server: fromServer(CHAT) }]);
    const { outcome } = await playOne({ send: RULES, receive: RULES }, [
      ...steps,
      { client: fromClient(ADMIN) },
    ]);
    assert.deepEqual(outcome.denied[0], { direction: "send", type: "admin", rule: "m[1]", count: 1 });
    assert.equal(
      outcome.denied.reduce((sum, { count }) => sum + count, 0),
      outcome.sent.dropped,
    );
  });
});
