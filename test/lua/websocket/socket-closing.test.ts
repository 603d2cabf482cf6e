import assert from "node:assert/strict";
import type { LuaRunner } from "../../support/lua.ts";
import {
  ADMIN,
  CHAT,
  fromClient,
  fromServer,
  notice,
  PING_OF_OURS,
  RULES,
  startSockets,
  text,
  type Play,
  type Played,
  type Script,
  type Step,
} from "./socket-support.ts";
import { closing, said, saidClose } from "./support.ts";

const NOTHING = { client: Buffer.alloc(0) };
const EXPIRED = { close: { code: 1008, reason: "TOKEN_EXPIRED", by: "expiry" } };
const expired = saidClose(1008, "TOKEN_EXPIRED");
const byPolicy = { code: 1008, reason: "TOKEN_EXPIRED", by: "expiry" };

describe("socket.lua: what a denied sender is told", () => {
  let runner: LuaRunner;
  let play: Play;
  before(async () => {
    ({ runner, play } = await startSockets());
  });
  after(() => runner.close());

  async function playOne(plan: Script["plan"], steps: readonly Step[]): Promise<Played> {
    const [result] = await play([{ plan, steps }]);
    return result!;
  }
  const send = { send: RULES };

  it("comes in place of the PONG, and before that with anything from the server", async () => {
    const pong = fromServer("x", { opcode: 10 });
    for (const first of [
      fromServer("news"),
      fromServer("p", { opcode: 9 }),
      pong,
      pong.subarray(0, 1),
      Buffer.alloc(0),
    ]) {
      const { outputs, client } = await playOne(send, [
        { client: fromClient(ADMIN) },
        { server: first },
        { answer: true },
      ]);
      assert.deepEqual(client.events[0], notice("admin"));
      if (first.length !== 1) assert.equal(outputs[2]!.length, 0, "the PONG is swallowed");
    }
  });

  it("needs one PING for several messages, and another one later", async () => {
    const { server, client } = await playOne(send, [
      { client: Buffer.concat([fromClient(ADMIN), fromClient({ type: "count" })]) },
      { client: fromClient(ADMIN) },
      { answer: true },
      { client: fromClient(ADMIN) },
      { answer: true },
    ]);
    assert.deepEqual(server.events, [PING_OF_OURS, PING_OF_OURS]);
    assert.deepEqual(
      client.events,
      ["admin", "count", "admin", "admin"].map((type) => notice(type)),
    );
  });

  it("does not come between the parts of a message", async () => {
    const { client } = await playOne(send, [
      { server: fromServer("a", { fin: false }) },
      { client: fromClient(ADMIN) },
      { answer: true },
      { server: fromServer("p", { opcode: 9 }) },
      { server: fromServer("b", { opcode: 0 }) },
    ]);
    assert.deepEqual(client, { events: [said("ping", "p"), text("ab"), notice("admin")] });
  });

  it("is lost where the server says nothing, and the server's own PONGs pass", async () => {
    const { client, outcome } = await playOne(send, [{ client: fromClient(ADMIN) }]);
    assert.deepEqual(client.events, []);
    assert.equal(outcome.sent.dropped, 1);
    const own = await playOne(send, [{ server: fromServer("0".repeat(32), { opcode: 10 }) }]);
    assert.deepEqual(own.client.events, [said("pong", "0".repeat(32))]);
  });

  it("waits for at most a hundred messages", async () => {
    const flood = (count: number) => ({
      client: Buffer.concat(Array.from({ length: count }, () => fromClient(ADMIN))),
    });
    const hundred = await playOne(send, [flood(100), { answer: true }, flood(100), { answer: true }]);
    assert.equal(hundred.client.events.length, 200);
    assert.equal(hundred.outcome.closed, undefined);
    const more = await playOne(send, [flood(101), { answer: true }]);
    assert.deepEqual(more.server.events, [PING_OF_OURS, saidClose(1008, "TOO_MANY_DENIED")]);
    assert.deepEqual(more.client.events.slice(99), [notice("admin"), saidClose(1008, "TOO_MANY_DENIED")]);
  });

  for (const guessed of ["ping", "pong"] as const) {
    it(`cannot be brought about by the client's own ${guessed}`, async () => {
      const { server, outcome } = await playOne(send, [
        { client: fromClient(ADMIN) },
        { guessed },
        { answer: true },
      ]);
      assert.deepEqual(server.events, [PING_OF_OURS, saidClose(1002, "unexpected payload")]);
      assert.equal(outcome.closed?.by, "protocol");
      const answered = await playOne(send, [{ client: fromClient(ADMIN) }, { answer: true }, { guessed }]);
      assert.equal(answered.outcome.closed, undefined);
    });
  }
});

describe("socket.lua: how a connection ends", () => {
  let runner: LuaRunner;
  let play: Play;
  before(async () => {
    ({ runner, play } = await startSockets());
  });
  after(() => runner.close());

  async function playOne(plan: Script["plan"], steps: readonly Step[]): Promise<Played> {
    const [result] = await play([{ plan, steps }]);
    return result!;
  }

  it("from outside: nothing passes any more, and each side is told with its next bytes", async () => {
    for (const plan of [{}, { send: RULES, receive: RULES }]) {
      const { server, client, outcome } = await playOne(plan, [
        EXPIRED,
        { client: fromClient(CHAT) },
        { client: fromClient(CHAT) },
        { server: fromServer(CHAT) },
        { server: fromServer(CHAT) },
      ]);
      assert.deepEqual(server, { events: [expired] });
      assert.deepEqual(client, { events: [expired] });
      assert.deepEqual(outcome.closed, byPolicy);
      assert.deepEqual([outcome.sent.delivered, outcome.received.delivered], [0, 0]);
    }
  });

  it("tells also with no bytes, in the midst of a frame, and what waits for the client", async () => {
    const frame = fromClient(CHAT);
    const { server, client } = await playOne({ send: RULES }, [
      { client: Buffer.concat([fromClient(ADMIN), frame.subarray(0, 9)]) },
      EXPIRED,
      NOTHING,
      { client: frame.subarray(9) },
      { server: Buffer.alloc(0) },
    ]);
    assert.deepEqual(server, { events: [PING_OF_OURS, expired] });
    assert.deepEqual(client, { events: [notice("admin"), expired] });
  });

  it("breaks off a large message that passes, so that it never is one", async () => {
    const big = "x".repeat(90_000);
    for (const at of [10, 66_000, 89_000]) {
      const [up, down] = [fromClient(big), fromServer(big)];
      const { server, client } = await playOne({}, [
        { client: up.subarray(0, at) },
        { server: down.subarray(0, at) },
        EXPIRED,
        { client: up.subarray(at) },
        { server: down.subarray(at) },
      ]);
      assert.deepEqual(server, { events: [expired] });
      assert.deepEqual(client, { events: [expired] });
    }
  });

  it("by the server's message that must not come", async () => {
    const { server, client, outcome } = await playOne({ receive: RULES }, [
      { server: Buffer.concat([fromServer(CHAT), fromServer({ type: "kick" }), fromServer(CHAT)]) },
      { client: fromClient("x") },
    ]);
    assert.deepEqual(client, { events: [text(CHAT), saidClose(1008, "ACCESS_DENIED")] });
    assert.deepEqual(server, { events: [saidClose(1008, "ACCESS_DENIED")] });
    assert.deepEqual(outcome.denied, [{ direction: "receive", type: "kick", rule: "m[2]", count: 1 }]);
  });

  it("by a server that breaks the protocol", async () => {
    for (const [bytes, code] of [
      [fromServer("x", { key: Buffer.from("abcd") }), 1002],
      [fromServer("x", { reserved: 2 }), 1002],
      [fromServer("", { declared: 100_001n }).subarray(0, 10), 1009],
    ] as const) {
      const { server, client, outcome } = await playOne({}, [
        { server: Buffer.concat([fromServer("a"), bytes, fromServer("b")]) },
        { client: fromClient("x") },
      ]);
      const { reason } = outcome.closed!;
      assert.deepEqual(client.events, [text("a"), saidClose(code, reason)]);
      assert.deepEqual(server.events, [saidClose(code, reason)]);
      assert.equal(outcome.closed!.by, "protocol");
    }
  });

  it("by the peers: their CLOSE passes, once each way, and nothing after it", async () => {
    const { server, client, outcome, outputs } = await playOne({ send: RULES, receive: RULES }, [
      { client: Buffer.concat([fromClient(closing(1000, "bye"), { opcode: 8 }), fromClient(CHAT)]) },
      { client: fromClient(CHAT) },
      { server: Buffer.concat([fromServer(CHAT), fromServer("", { opcode: 8 }), fromServer(CHAT)]) },
      { server: fromServer(CHAT) },
    ]);
    assert.deepEqual(server, { events: [saidClose(1000, "bye")] });
    assert.deepEqual(client, { events: [text(CHAT), saidClose()] });
    assert.deepEqual([outputs[1]!.length, outputs[3]!.length], [0, 0]);
    assert.deepEqual(outcome.closed, { code: 1000, reason: "bye", by: "peer" });
    const silent = await playOne({}, [{ server: fromServer("", { opcode: 8 }) }]);
    assert.deepEqual(silent.outcome.closed, { reason: "", by: "peer" });
  });

  it("by the first who ends it: a token that expires while the peers say goodbye changes no more than what passes", async () => {
    const { client, outcome } = await playOne({}, [
      { client: fromClient(closing(1000), { opcode: 8 }) },
      EXPIRED,
      { close: { code: 1011, reason: "LATER", by: "policy" } },
      { server: Buffer.concat([fromServer("x"), fromServer(closing(1000), { opcode: 8 })]) },
    ]);
    assert.deepEqual(client.events, [expired]);
    assert.deepEqual(outcome.closed, { code: 1000, reason: "", by: "peer" });
  });

  it("with a code that may be sent, and a reason that fits", async () => {
    for (const [code, reason, expected] of [
      [1005, "x", saidClose(1008, "x")],
      [77, "x", saidClose(1008, "x")],
      ["1000", "x", saidClose(1008, "x")],
      [1000.5, "x", saidClose(1008, "x")],
      [4401, "é".repeat(100), saidClose(4401, "é".repeat(61))],
    ] as const) {
      const { client } = await playOne({}, [
        { close: { code, reason, by: "policy" } },
        { server: Buffer.alloc(0) },
      ]);
      assert.deepEqual(client.events, [expected]);
    }
    const { client } = await playOne({}, [
      { close: { code: 1000, reason: undefined, by: "policy" } },
      { server: Buffer.alloc(0) },
    ]);
    assert.deepEqual(client.events, [saidClose(1000)]);
  });
});
