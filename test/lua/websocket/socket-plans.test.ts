import assert from "node:assert/strict";
import type { GraphqlPlanIR, PlannedField } from "../../../src/policy/plan.ts";
import type { LuaRunner } from "../../support/lua.ts";
import {
  CHAT,
  fromClient,
  fromServer,
  json,
  PING_OF_OURS,
  RULES,
  startSockets,
  text,
  type Play,
  type Played,
  type Script,
  type Step,
} from "./socket-support.ts";
import { said, saidClose } from "./support.ts";

const field = (name: string, more: Partial<PlannedField> = {}): PlannedField => ({
  rule: `f.${name}`,
  anchored: false,
  keys: [name],
  action: { kind: "full" },
  ...more,
});
const changed = saidClose(1012, "POLICY_CHANGED");

describe("socket.lua: what the server's messages may say", () => {
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

  it("masks the fields of a message's rule and those of all messages", async () => {
    const receive = { ...RULES, person: { rule: "m[4]", onDeny: "drop", fields: [field("ssn")] } } as const;
    const person = '{ "type":"person", "ssn":"1", "list":[{"phone":2, "name":"x"}] }';
    const { client, outcome } = await playOne(
      { receive, fields: [field("phone", { action: { kind: "remove" } })] },
      [
        { server: Buffer.concat([fromServer(person), fromServer('{"type":"chat","ssn":"1","phone":2}')]) },
        { server: Buffer.concat([fromServer(person), fromServer(CHAT)]) },
      ],
    );
    const masked = text('{ "type":"person", "ssn":"***", "list":[{"name":"x"}] }');
    assert.deepEqual(client.events, [masked, text('{"type":"chat","ssn":"1"}'), masked, text(CHAT)]);
    assert.deepEqual(outcome.received, { delivered: 4, dropped: 0, masked: 3 });
    assert.deepEqual(outcome.paths, ["$.ssn", "$.list[*].phone", "$.phone"]);
  });

  it("masks on a condition that is not false", async () => {
    const when = {
      op: "==",
      left: { op: "attribute", path: ["item", "public"] },
      right: { op: "literal", value: false },
    } as const;
    const { client } = await playOne({ fields: [field("ssn", { when })] }, [
      {
        server: Buffer.concat(
          ['{"public":true,"ssn":1}', '{"public":false,"ssn":1}', '{"ssn":1}'].map((one) => fromServer(one)),
        ),
      },
    ]);
    assert.deepEqual(client.events, [
      text('{"public":true,"ssn":1}'),
      text('{"public":false,"ssn":"***"}'),
      text('{"ssn":"***"}'),
    ]);
  });

  it("does not deliver what cannot be masked", async () => {
    const { client, outcome } = await playOne({ fields: [field("ssn")] }, [
      {
        server: Buffer.concat([
          fromServer('{"ssn":1'),
          fromServer(""),
          fromServer('{"ssn":1}', { opcode: 2 }),
          fromServer("[]"),
        ]),
      },
    ]);
    assert.deepEqual(client.events, [text("[]")]);
    assert.deepEqual(outcome.received, { delivered: 1, dropped: 3, masked: 0 });
  });

  it("delivers binary messages where neither types nor fields say anything", async () => {
    const binary = fromServer("x", { opcode: 2 });
    for (const [plan, events] of [
      [{ send: RULES }, [said("binary", "x")]],
      [{ fields: [] }, [said("binary", "x")]],
      [{ receive: RULES }, []],
      [{ fields: [field("ssn")] }, []],
    ] as const) {
      const { client } = await playOne(plan, [{ server: binary }]);
      assert.deepEqual(client.events, events, json(plan));
    }
  });
});

describe("socket.lua under a new plan", () => {
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
  const NEW = {
    environment: "test",
    plain: false,
    limit: 1_000,
    send: { chat: { rule: "n", when: false, onDeny: "drop" } },
  } as const;

  it("evaluates by it from the next message on", async () => {
    const { server, outcome } = await playOne({ send: RULES }, [
      { client: fromClient(CHAT) },
      { client: fromClient('{"type":', { fin: false }) },
      { replan: NEW },
      { client: fromClient('"chat"}', { opcode: 0 }) },
      { client: fromClient(CHAT) },
      { client: fromClient("", { declared: 1_001n }).subarray(0, 4) },
    ]);
    assert.deepEqual(server.events, [text(CHAT), PING_OF_OURS, saidClose(1009, "the message is too big")]);
    assert.deepEqual(outcome.denied, [{ direction: "send", type: "chat", rule: "n", count: 2 }]);
  });

  it("says of each denied message whose rule it was, and which sets there were", async () => {
    const denied = { client: fromClient(CHAT) };
    const by = (set: string) => ({ replan: { ...NEW, set } });
    const { outcome } = await playOne({ send: { chat: { rule: "n", when: false, onDeny: "drop" } } }, [
      ...[denied, by("second"), denied, denied, by("third"), denied, by("second"), denied],
      { close: { code: 1008, reason: "POLICY_CHANGED", by: "policy", set: "fourth" } },
    ]);
    const entry = { direction: "send", type: "chat", rule: "n" };
    assert.deepEqual(outcome.denied, [
      { ...entry, count: 1 },
      { ...entry, set: "second", count: 3 },
      { ...entry, set: "third", count: 1 },
    ]);
    assert.deepEqual(outcome.sets, ["second", "third", "second", "fourth"]);
    const many = await playOne(
      {},
      Array.from({ length: 30 }, (_, n) => by(`set ${n}`)),
    );
    assert.deepEqual(many.outcome.sets, ["...", ...Array.from({ length: 10 }, (_, n) => `set ${n + 20}`)]);
    assert.equal((await playOne({}, [denied])).outcome.sets, undefined);
  });

  it("names no set where it is that of the handshake, also after another one", async () => {
    const denied = { client: fromClient(CHAT) };
    const by = (set: string) => ({ replan: { ...NEW, set } });
    const plan = { send: { chat: { rule: "n", when: false, onDeny: "drop" } } } as const;
    const steps = [denied, by("first"), denied, by("second"), denied, by("first"), denied];
    const [played, same] = await play([
      { plan, set: "first", steps },
      { plan, set: "first", steps: steps.slice(0, 3) },
    ]);
    const entry = { direction: "send", type: "chat", rule: "n" };
    assert.deepEqual(played?.outcome.denied, [
      { ...entry, count: 3 },
      { ...entry, set: "second", count: 1 },
    ]);
    assert.deepEqual(played.outcome.sets, ["second", "first"]);
    assert.equal(same?.outcome.sets, undefined);
  });

  it("keeps entries of the set in force, and counts the others together", async () => {
    const types = Array.from({ length: 15 }, (_, n) => `t${n}`);
    const send = Object.fromEntries(
      types.map((type) => [type, { rule: type, when: false, onDeny: "drop" } as const]),
    );
    const all = types.flatMap((type) => [{ client: fromClient({ type }) }, { server: fromServer("x") }]);
    const [played] = await play([
      {
        plan: { send },
        set: "first",
        steps: [
          ...all,
          { replan: { environment: "test", plain: false, limit: 1_000, send, set: "second" } },
          ...all,
        ],
      },
    ]);
    const { denied, sent } = played!.outcome;
    assert.deepEqual(
      denied.slice(0, -1).map(({ rule, set }) => [rule, set]),
      types.slice(0, 10).map((type) => [type, "second"]),
    );
    // all of the first set, and what there was no room for
    assert.deepEqual(denied.at(-1), { direction: "send", type: "...", count: 20 });
    assert.equal(
      denied.reduce((sum, { count }) => sum + count, 0),
      sent.dropped,
    );
  });

  it("goes on where there were no rules before, or are none any more", async () => {
    const { server } = await playOne({}, [
      { client: fromClient(CHAT) },
      { replan: NEW },
      { client: fromClient(CHAT) },
    ]);
    assert.deepEqual(server.events, [text(CHAT), PING_OF_OURS]);
    const free = await playOne({ send: RULES }, [
      { client: fromClient("a", { fin: false, opcode: 2 }) },
      { replan: { environment: "test", plain: false, limit: 10 } },
      { client: Buffer.concat([fromClient("b", { opcode: 0 }), fromClient("c")]) },
    ]);
    assert.deepEqual(free.server.events, [said("binary", "ab"), text("c")]);
  });

  it("ends where a part of a message has passed that would have to be evaluated", async () => {
    const up = await playOne({}, [
      { client: fromClient("a", { fin: false }) },
      { replan: NEW },
      { client: fromClient("b", { opcode: 0 }) },
    ]);
    assert.deepEqual(up.server.events, [changed]);
    const down = await playOne({ send: RULES }, [
      { server: fromServer("a", { fin: false }) },
      { replan: { ...NEW, receive: {} } },
      { server: fromServer("b", { opcode: 0 }) },
      { client: fromClient(CHAT) },
    ]);
    assert.deepEqual([down.client.events, down.server.events], [[changed], [changed]]);
  });

  it("ends where one of the plans is about GraphQL: running operations were evaluated by the old one", async () => {
    for (const [plan, replan] of [
      [{ graphql: GRAPHQL }, { ...NEW, graphql: GRAPHQL }],
      [{ graphql: GRAPHQL }, NEW],
      [{}, { ...NEW, graphql: GRAPHQL }],
    ] as const) {
      const { server, client } = await playOne(plan, [
        { accept: "graphql-ws" },
        { replan },
        { client: fromClient("x") },
        { server: fromServer("x") },
      ]);
      assert.deepEqual([client.events, server.events], [[changed], [changed]]);
    }
  });
});

const GRAPHQL: GraphqlPlanIR = {
  rules: [
    { rule: "g[0]", operation: "subscription", field: "orders", onDeny: "reject" },
    { rule: "g[1]", operation: "query", field: "secrets", onDeny: "reject", when: false },
  ],
  limits: { depth: 10, aliases: 10, rootFields: 10, tokens: 1000 },
  introspection: "deny",
  default: "deny",
};

describe("socket.lua at a GraphQL endpoint", () => {
  let runner: LuaRunner;
  let play: Play;
  before(async () => {
    ({ runner, play } = await startSockets());
  });
  after(() => runner.close());

  async function playOne(plan: Script["plan"], steps: readonly Step[]): Promise<Played> {
    const [result] = await play([{ plan: { graphql: GRAPHQL, ...plan }, steps }]);
    return result!;
  }
  const ACCEPT = { accept: "graphql-transport-ws" };
  const INIT = { type: "connection_init" };
  const subscribe = (id: string, query: string) => ({ id, type: "subscribe", payload: { query } });

  it("lets operations pass, and answers those that it denies", async () => {
    const permitted = subscribe("1", "subscription { orders { id } }");
    const next = { id: "1", type: "next", payload: { data: { orders: { id: 1, ssn: "2" } } } };
    const { server, client, outcome } = await playOne({ fields: [field("ssn")] }, [
      ACCEPT,
      {
        client: Buffer.concat([
          fromClient(INIT),
          fromClient(permitted),
          fromClient(subscribe("2", "{ secrets }")),
        ]),
      },
      { answer: true },
      {
        server: Buffer.concat([
          fromServer(next),
          fromServer({ ...next, id: "9" }),
          fromServer(next, { opcode: 2 }),
        ]),
      },
    ]);
    assert.deepEqual(server.events, [text(INIT), text(permitted), PING_OF_OURS]);
    assert.equal(client.events.length, 2);
    const reply = JSON.parse(Buffer.from(client.events[0]!.slice("text ".length), "hex").toString()) as {
      readonly id: string;
      readonly type: string;
      readonly payload: readonly { readonly extensions: { readonly code: string } }[];
    };
    assert.deepEqual(
      [reply.id, reply.type, reply.payload[0]!.extensions.code],
      ["2", "error", "ACCESS_DENIED"],
    );
    assert.deepEqual(client.events[1], text(json(next).replace('"2"', '"***"')));
    assert.deepEqual(outcome.sent, { delivered: 2, dropped: 1 });
    assert.deepEqual(outcome.received, { delivered: 1, dropped: 2, masked: 1 });
    assert.deepEqual(outcome.denied, [
      { direction: "send", rule: "g[1]", count: 1 },
      { direction: "receive", count: 2 },
    ]);
  });

  it("delivers no binary message from the server", async () => {
    const { client, outcome } = await playOne({}, [
      ACCEPT,
      { server: fromServer({ type: "ka" }, { opcode: 2 }) },
    ]);
    assert.deepEqual(client.events, []);
    assert.equal(outcome.received.dropped, 1);
  });

  it("closes with the protocol's code where a message is none of it", async () => {
    for (const bytes of [fromClient("x"), fromClient(INIT, { opcode: 2 })]) {
      const { server, client, outcome } = await playOne({}, [
        ACCEPT,
        { client: bytes },
        { server: Buffer.alloc(0) },
      ]);
      assert.deepEqual(server.events, [saidClose(4400, "invalid message")]);
      assert.deepEqual(client.events, [saidClose(4400, "invalid message")]);
      assert.deepEqual(outcome.closed, { code: 4400, reason: "invalid message", by: "protocol" });
    }
  });

  it("needs a protocol that it knows, and takes nothing before the server has chosen it", async () => {
    const accepted = await Promise.all(
      ["graphql-transport-ws", "graphql-ws", "", "mqtt", "__index"].map(async (accept) =>
        String((await playOne({}, [{ accept }])).outputs[0]),
      ),
    );
    assert.deepEqual(accepted, ["true", "true", "false", "false", "false"]);
    const { server, outcome } = await playOne({}, [
      { client: fromClient(INIT) },
      ACCEPT,
      { client: fromClient(INIT) },
    ]);
    assert.deepEqual(server.events, [saidClose(1002, "data before the handshake was over")]);
    assert.equal(outcome.closed?.by, "protocol");
  });

  it("accepts any protocol elsewhere", async () => {
    const [none, some] = await play(["", "mqtt"].map((accept) => ({ plan: {}, steps: [{ accept }] })));
    assert.deepEqual([String(none!.outputs[0]), String(some!.outputs[0])], ["true", "true"]);
  });
});
