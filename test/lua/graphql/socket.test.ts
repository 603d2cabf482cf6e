import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_VALUES } from "../../../src/json/index.ts";
import type { LuaRunner } from "../../support/lua.ts";
import { runs } from "../../support/runs.ts";
import {
  closed,
  delivered,
  dropped,
  event,
  order,
  ORDERS,
  SOCKET_PLAN,
  startSockets,
  subscribe,
  type LuaSocket,
  type OpenSocket,
} from "./socket-support.ts";

describe("GraphQL over WebSocket in Lua", () => {
  let runner: LuaRunner;
  let open: OpenSocket;
  before(async () => {
    ({ runner, open } = await startSockets());
  });
  after(() => runner.close());

  describe("graphql-transport-ws", () => {
    let socket: LuaSocket;
    beforeEach(async () => {
      socket = await open(SOCKET_PLAN, "graphql-transport-ws");
    });

    it("passes what opens and keeps a connection, byte for byte", async () => {
      await delivered(socket, "client", ' { "payload" : {"token":"\\u0041"},"type":"connection_init" } ');
      await delivered(socket, "server", '{"type":"connection_ack","payload":{"a": 1.0}}');
      for (const side of ["client", "server"] as const) {
        await delivered(socket, side, { type: "ping", payload: { at: 1 } });
        await delivered(socket, side, { type: "pong" });
      }
    });

    it("reads as many values of a client's message as of a body, and any number of a server's", async () => {
      const payload = (values: number) => ({ list: Array.from({ length: values - 4 }, () => 1) });
      await delivered(socket, "client", { type: "ping", payload: payload(MAX_VALUES) });
      await delivered(socket, "server", { type: "ping", payload: payload(MAX_VALUES + 1) });
      await closed(socket, { type: "ping", payload: payload(MAX_VALUES + 1) }, 4400);
    });

    it("delivers permitted operations, and tells of denied ones with the fields", async () => {
      await delivered(socket, "client", subscribe("{hello}"));
      const denied = await socket.client(subscribe("{hello a:secret b:secret}", "2"));
      const entry = (path: string) => ({
        message: `access to "${path}" is denied`,
        path: [path],
        extensions: { code: "ACCESS_DENIED" },
      });
      assert.equal(denied.drop, true);
      assert.deepEqual([denied.rule, denied.code], ["query secret", "ACCESS_DENIED"]);
      assert.deepEqual(JSON.parse(denied.reply ?? ""), {
        id: "2",
        type: "error",
        payload: [entry("a"), entry("b")],
      });
      const refused = await socket.client(subscribe("{hello", "3"));
      assert.equal(refused.code, "GRAPHQL_MALFORMED");
      assert.deepEqual(JSON.parse(refused.reply ?? ""), {
        id: "3",
        type: "error",
        payload: [{ message: "the document cannot be read", extensions: { code: "GRAPHQL_MALFORMED" } }],
      });
      await delivered(
        socket,
        "client",
        subscribe("mutation($a:Int){pay(amount:$a)}", "2", { variables: { a: 9 } }),
      );
      const late = await socket.client(
        subscribe("mutation($a:Int){pay(amount:$a)}", "4", { variables: { a: 11 } }),
      );
      assert.equal(late.code, "ACCESS_DENIED");
    });

    it("answers with the id as it came, whatever characters it has", async () => {
      for (const id of ['"', "\\", "é\u{1F600}", "a".repeat(255), "__proto__", "__index"]) {
        const { reply = "" } = await socket.client(subscribe("{secret}", id));
        assert.equal((JSON.parse(reply) as { id: string }).id, id);
      }
    });

    it("closes on what it cannot read in one way", async () => {
      const messages = [
        "",
        "ping",
        "[]",
        '"ping"',
        "null",
        '{"type":"ping"',
        '{"type":"ping"} x',
        '{"type":"ping","type":"pong"}',
        '{"type":"ping","typ\\u0065":"pong"}',
        '{"type":"ping","payload":{"a":{"b":1,"b":2}}}',
        '{"type":"ping","Type":"subscribe"}',
        '{"type":"ping","payload":{"a":"\\u0000"}}',
        '{"type":"ping","payload":{"a\\u0000":1}}',
        '{"type":"ping","payload":{"a":"\\ud800"}}',
        `{"type":"ping","payload":${"[".repeat(200)}${"]".repeat(200)}}`,
        '{"type":"ping","query":"{secret}"}',
        { type: "subscription_start", id: "1", query: "{secret}" },
        { type: "start", id: "1", payload: { query: "{hello}" } },
        { type: "stop", id: "1" },
        { type: "connection_terminate" },
        { type: "next", id: "1", payload: {} },
        { type: "Subscribe", id: "1", payload: { query: "{hello}" } },
        { type: "subscribe ", id: "1", payload: { query: "{hello}" } },
        { type: ["subscribe"], id: "1", payload: { query: "{hello}" } },
        { id: "1", payload: { query: "{hello}" } },
        subscribe("{hello}", 1),
        subscribe("{hello}", null),
        subscribe("{hello}", ""),
        subscribe("{hello}", "a\n"),
        subscribe("{hello}", "a\u0000"),
        subscribe("{hello}", "a".repeat(256)),
        { type: "subscribe", payload: { query: "{hello}" } },
        '{"id":"1","type":"subscribe","payload":{"query":"{hello}","query":"{secret}"}}',
        '{"id":"1","type":"subscribe","payload":{"query":"{secret}","quer\\u0079":"{hello}"}}',
        '{"id":"1","id":"2","type":"subscribe","payload":{"query":"{hello}"}}',
        '{"id":"\\ud800","type":"subscribe","payload":{"query":"{hello}"}}',
      ];
      for (const message of messages) await closed(socket, message, 4400);
    });

    it("refuses payloads that hold more than one request", async () => {
      const payloads = [
        undefined,
        null,
        [],
        [{ query: "{hello}" }],
        "{hello}",
        {},
        { query: "" },
        { query: ["{hello}"] },
        { query: "{hello}", Query: "{secret}" },
        { query: "{hello}", id: "x" },
        { query: "{hello}", documentId: "x" },
        { query: "{hello}", operationName: 1 },
        { query: "{hello}", operationName: "" },
        { query: "{hello}", variables: [] },
        { query: "{hello}", variables: "{}" },
        { query: "{hello}", extensions: [] },
      ];
      for (const payload of payloads) {
        const action = await socket.client({ id: "1", type: "subscribe", payload });
        assert.deepEqual([action.drop, action.code], [true, "GRAPHQL_MALFORMED"], JSON.stringify(payload));
      }
      for (const persistedQuery of [{ version: 1, sha256Hash: "0" }, null]) {
        const payload = { query: "{hello}", extensions: { persistedQuery } };
        const action = await socket.client({ id: "1", type: "subscribe", payload });
        assert.deepEqual([action.drop, action.code], [true, "PERSISTED_QUERY_NOT_SUPPORTED"]);
      }
      const nothing = { operationName: null, variables: null, extensions: null };
      await delivered(socket, "client", subscribe("{hello}", "1", nothing));
    });

    it("closes where an id is in use, and only then", async () => {
      await delivered(socket, "client", subscribe("{hello}"));
      await closed(socket, subscribe("{hello}"), 4409);
      await closed(socket, '{"id":"\\u0031","type":"subscribe","payload":{"query":"{hello}"}}', 4409);
      await delivered(socket, "server", { id: "1", type: "complete" });
      await delivered(socket, "client", subscribe("{hello}"));
      await delivered(socket, "server", { id: "1", type: "error", payload: [{ message: "no" }] });
      await delivered(socket, "client", subscribe("{hello}"));
      await delivered(socket, "client", { id: "1", type: "complete" });
      await delivered(socket, "client", subscribe("{hello}"));
      await socket.client(subscribe("{secret}", "2"));
      await delivered(socket, "client", subscribe("{hello}", "2"));
    });

    it("delivers results of operations that run, and no others", async () => {
      await dropped(socket, event({ hello: 1 }));
      await delivered(socket, "client", subscribe("{hello}"));
      await delivered(socket, "server", '{"id":"1","type":"next", "payload":{"data":{"hello":1e400}}}');
      await delivered(socket, "server", event({ hello: 1 }, { hasNext: true, incremental: [] }));
      await dropped(socket, { ...event({ hello: 1 }), id: "2" });
      await dropped(socket, { ...event({ hello: 1 }), id: 1 });
      await dropped(socket, { type: "next", payload: { data: { hello: 1 } } });
      await delivered(socket, "client", { id: "1", type: "complete" });
      await dropped(socket, event({ hello: 1 }));
    });

    it("drops what the server sends that cannot be read, or is of no known type", async () => {
      await delivered(socket, "client", subscribe("{hello}"));
      const messages = [
        "",
        "{",
        "[]",
        { id: "1", type: "data", payload: { data: { hello: 1 } } },
        { id: "1", payload: { data: { hello: 1 } } },
        { type: "ka" },
        '{"id":"1","type":"next","type":"next","payload":{"data":{"hello":1}}}',
        '{"id":"1","type":"next","payload":{"data":{"hello":1,"hello":2}}}',
      ];
      for (const message of messages) await dropped(socket, message);
    });

    it("bounds how many operations run", async () => {
      const many = Array.from(
        { length: 1000 },
        (_, index) => ["client", subscribe("{hello}", `n${index}`)] as const,
      );
      assert.ok((await socket.all(many)).every(({ deliver }) => deliver !== undefined));
      assert.equal((await socket.client(subscribe("{hello}", "more"))).code, "GRAPHQL_LIMIT_EXCEEDED");
      await delivered(socket, "server", { id: "n7", type: "complete" });
      await delivered(socket, "client", subscribe("{hello}", "more"));
      assert.equal((await socket.client(subscribe("{hello}", "n7"))).code, "GRAPHQL_LIMIT_EXCEEDED");
    });

    it("bounds what it keeps for events, and what it remembers of ended ones", async () => {
      const large = (id: number) => subscribe(ORDERS, `n${id}`, { variables: { a: "x".repeat(200_000) } });
      const results = await socket.all([0, 1, 2, 3, 4, 5].map((id) => ["client", large(id)] as const));
      assert.deepEqual(
        results.map(({ code }) => code),
        [undefined, undefined, undefined, undefined, undefined, "GRAPHQL_LIMIT_EXCEEDED"],
      );
      await delivered(socket, "client", { id: "n0", type: "complete" });
      await delivered(socket, "client", large(5));

      const ended = await socket.all(
        Array.from({ length: 10_000 }, (_, index) => [
          ["client", subscribe(ORDERS, String(index))] as const,
          ["client", { type: "complete", id: String(index) }] as const,
        ]).flat(),
      );
      assert.deepEqual(
        ended.slice(0, 19_998).filter(({ deliver }) => deliver === undefined),
        [],
      );
      assert.equal(ended.at(-1)?.close, 1013);
    });
  });

  describe("graphql-ws, the older protocol", () => {
    let socket: LuaSocket;
    beforeEach(async () => {
      socket = await open(SOCKET_PLAN, "graphql-ws");
    });
    const start = (query: string, id: unknown = "1") => ({ id, type: "start", payload: { query } });
    const data = (value: unknown, id = "1") => ({ id, type: "data", payload: { data: value } });

    it("passes what opens, keeps and ends a connection", async () => {
      await delivered(socket, "client", { type: "connection_init", payload: {} });
      for (const type of ["connection_ack", "ka", "connection_error"])
        await delivered(socket, "server", { type });
      await delivered(socket, "client", { type: "connection_terminate" });
    });

    it("evaluates operations and events", async () => {
      await delivered(socket, "client", start("{hello}"));
      await delivered(socket, "server", data({ hello: 1 }));
      await delivered(socket, "server", { id: "1", type: "complete" });
      await dropped(socket, data({ hello: 1 }));
      await delivered(socket, "client", start(ORDERS));
      await delivered(socket, "server", data(order("c1")));
      await dropped(socket, data(order("c2")));
      await dropped(socket, { ...data(order("c1")), type: "next" });
      await delivered(socket, "client", { id: "1", type: "stop" });
      await dropped(socket, data(order("c1")));
    });

    it("tells of a denied operation in its own form", async () => {
      const replyTo = async (query: string) =>
        JSON.parse((await socket.client(start(query))).reply ?? "") as unknown;
      const entry = (path: string) => ({
        message: `access to "${path}" is denied`,
        path: [path],
        extensions: { code: "ACCESS_DENIED" },
      });
      assert.deepEqual(await replyTo("{secret}"), { id: "1", type: "error", payload: entry("secret") });
      assert.deepEqual(await replyTo("{a:secret secret}"), {
        id: "1",
        type: "error",
        payload: { ...entry("a"), errors: [entry("a"), entry("secret")] },
      });
    });

    it("closes on an id in use, which its servers would replace, and on types of other protocols", async () => {
      await delivered(socket, "client", start("{hello}"));
      await closed(socket, start("{hello}"), 4409);
      const types = [
        "subscribe",
        "complete",
        "ping",
        "subscription_start",
        "subscription_end",
        "init",
        "data",
      ];
      for (const type of types) await closed(socket, { ...start("{hello}", "2"), type }, 4400);
    });
  });

  it("does one thing with every message, whatever it is", async () => {
    const texts = [
      { type: "connection_init", payload: {} },
      { type: "start", id: "1", payload: { query: ORDERS, variables: { a: [1, "\u{1F600}"] } } },
      { type: "data", id: "1", payload: { data: order("c1"), errors: null } },
      { type: "stop", id: "1" },
    ].map((message) => JSON.stringify(message));
    const edit = fc.record({
      text: fc.constantFrom(...texts),
      at: fc.nat({ max: 150 }),
      length: fc.nat({ max: 20 }),
      instead: fc.oneof(
        fc.json({ maxDepth: 1 }),
        fc.constantFrom("", "\\", '"', "{", "\u0000", '"id":"2",', "null"),
      ),
    });
    const message = fc
      .oneof(edit, edit, fc.constantFrom(...texts), fc.string())
      .map((one) =>
        typeof one === "string"
          ? one
          : one.text.slice(0, one.at) + one.instead + one.text.slice(one.at + one.length),
      )
      .map((text) => text.toWellFormed());
    const side = fc.constantFrom<"client" | "server">("client", "server");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(side, message), { minLength: 50, maxLength: 100 }),
        async (messages) => {
          const socket = await open(SOCKET_PLAN, "graphql-ws");
          const actions = await socket.all(messages);
          for (const [index, { deliver, drop, close }] of actions.entries()) {
            const [from, text] = messages[index]!;
            assert.equal([deliver, drop, close].filter((one) => one !== undefined).length, 1, text);
            assert.equal(deliver ?? text, text);
            assert.ok(from === "client" || close === undefined, text);
          }
        },
      ),
      { numRuns: runs(5) },
    );
  });
});
