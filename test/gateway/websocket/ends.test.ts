import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import type { PlanIR } from "../../../src/policy/index.ts";
import { OPCODE } from "../../lua/websocket/support.ts";
import { until } from "../support/client.ts";
import { openState, type ConnectionsState } from "../support/state-file.ts";
import { closePayload, fromClient, fromServer } from "../support/websocket-frames.ts";
import { startSocketGateway, type Connection, type Plan, type SocketGateway } from "../support/websocket.ts";

const CHAT = '{"type":"chat"}';
const ADMIN = '{"type":"admin"}';
const TYPES = { chat: { rule: "m[0]", onDeny: "drop" } } as const;
const PLAN: Plan = { send: TYPES, receive: TYPES };

describe("gateway: the end of a WebSocket connection that was permitted", () => {
  let sockets: SocketGateway;
  before(async () => {
    sockets = await startSocketGateway();
  });
  afterEach(async () => {
    sockets.reset();
    await sockets.state.set({});
  });
  after(() => sockets.stop());

  /** Both directions work. */
  async function assertOpen({ client, server }: Connection): Promise<void> {
    await client.write(fromClient(CHAT));
    await server.heard(`text ${CHAT}`);
    await server.write(fromServer(CHAT));
    await client.heard(`text ${CHAT}`);
  }

  /** The client goes on until the server gets a CLOSE, and its answer is the client's. Nothing else passes. */
  async function assertEnds({ client, server }: Connection, expected: string): Promise<void> {
    const ended = () => server.said.some((text) => text.startsWith("close"));
    await until(async () => {
      if (!ended()) await client.write(fromClient(CHAT));
      return ended();
    }, "the server got a CLOSE");
    const told = server.said;
    // the client may have got its CLOSE with something from the server
    const before = client.said.filter((text) => !text.startsWith("close"));
    await client.write(fromClient(CHAT), fromClient("x", { opcode: OPCODE.ping }));
    await server.write(
      fromServer(CHAT),
      fromServer(closePayload(1000), { opcode: OPCODE.close }),
      fromServer(CHAT),
    );
    assert.equal(await client.closing(), expected);
    client.socket.end();
    await sockets.gone(server);
    assert.equal(told.at(-1), expected);
    assert.deepEqual([client.said, server.said], [[...before, expected], told]);
  }

  /** A connection for each of these words about it, once the state has them. */
  async function openEach<T>(
    words: readonly T[],
    state: (words: Readonly<Record<string, T>>) => ConnectionsState,
  ): Promise<readonly Connection[]> {
    const connections: Connection[] = [];
    while (connections.length < words.length) connections.push(await sockets.open(PLAN));
    await sockets.state.set(
      state(Object.fromEntries(connections.map(({ id }, index) => [id, words[index]!] as const))),
    );
    return connections;
  }

  it("comes with the token's", async () => {
    const connection = await sockets.open(PLAN, {
      metadata: { expires_at: Math.floor(Date.now() / 1000) + 8 },
    });
    await assertOpen(connection);
    await assertEnds(connection, "close 1008 TOKEN_EXPIRED");
  });

  it("is there at once where the token has expired, for plans without rules, too", async () => {
    for (const plan of [PLAN, {}]) {
      const metadata = { expires_at: Math.floor(Date.now() / 1000) - 1 };
      const connection = await sockets.open(plan, { metadata });
      await assertEnds(connection, "close 1008 TOKEN_EXPIRED");
      assert.deepEqual(connection.server.said, ["close 1008 TOKEN_EXPIRED"]);
    }
  });

  it("is there where an expiry cannot be read", async () => {
    const { client, server } = await sockets.open(PLAN, { metadata: { expires_at: "tomorrow" } });
    await client.write(fromClient(CHAT));
    await server.write(fromServer(CHAT));
    client.socket.end();
    await sockets.gone(server);
    assert.deepEqual([client.said, server.said], [[], []]);
  });

  it("stops the server first, where the client is silent", async () => {
    const metadata = { expires_at: Math.floor(Date.now() / 1000) - 1 };
    const { client, server } = await sockets.open(PLAN, { metadata });
    await server.write(Buffer.concat([fromServer(CHAT), fromServer(CHAT)]), fromServer(CHAT));
    assert.equal(await client.closing(), "close 1008 TOKEN_EXPIRED");
    // the client's own answer is not delivered but replaced
    await client.write(fromClient(closePayload(1000, "bye"), { opcode: OPCODE.close }), fromClient(CHAT));
    assert.equal(await server.closing(), "close 1008 TOKEN_EXPIRED");
    client.socket.end();
    await sockets.gone(server);
    assert.deepEqual(
      [client.said, server.said],
      [["close 1008 TOKEN_EXPIRED"], ["close 1008 TOKEN_EXPIRED"]],
    );
  });

  it("comes for idle connections with any frame, and in the midst of one", async () => {
    const metadata = { expires_at: Math.floor(Date.now() / 1000) - 1 };
    const pong = fromClient("", { opcode: OPCODE.pong });
    for (const bytes of [pong, pong.subarray(0, 1), fromClient(CHAT).subarray(0, 8)]) {
      const { client, server } = await sockets.open({}, { metadata });
      await client.write(bytes);
      assert.equal(await server.closing(), "close 1008 TOKEN_EXPIRED");
    }
  });

  it("comes when the service says so, with its code and reason, and only for this connection", async () => {
    const ended = await sockets.open(PLAN);
    const other = await sockets.open(PLAN);
    await assertOpen(ended);
    await assertOpen(other);
    await sockets.state.set({ closed: { [ended.id]: { code: 4001, reason: "SESSION_ENDED" } } });
    await assertEnds(ended, "close 4001 SESSION_ENDED");
    await assertOpen(other);
  });

  it("comes with another code where the service's cannot be sent", async () => {
    const closings = [1005, 70_000, -1, 1.5].map((code) => ({ code, reason: "X" }));
    for (const connection of await openEach(closings, (closed) => ({ closed })))
      await assertEnds(connection, "close 1008 X");
  });

  describe("comes when the service no longer knows the connection", () => {
    const GENERATION = "0000000z";
    const FREE = "--------";
    const seated = { slot: 1, generation: GENERATION };
    const unknown: readonly [
      name: string,
      state: ConnectionsState,
      metadata?: Record<string, string | number>,
    ][] = [
      ["its slot is free", { newest: GENERATION, slots: `00000001${FREE}00000002` }],
      ["its slot is another's", { newest: "00000010", slots: `${FREE}00000010` }],
      ["only another slot is its own", { newest: "00000010", slots: GENERATION }],
      ["nothing is known", { newest: GENERATION, slots: "" }],
      ["no slots", { newest: GENERATION }],
      ["no newest", { slots: FREE + GENERATION }],
      ["slots that are no text", { newest: GENERATION, slots: [] as never }],
      [
        "a slot that is no number",
        { newest: GENERATION, slots: GENERATION },
        { slot: "0", generation: GENERATION },
      ],
      ["no generation", { newest: GENERATION, slots: FREE }, { slot: 0 }],
    ];
    for (const [name, state, metadata = seated] of unknown) {
      it(name, async () => {
        // a file of its own: Lua looks at each once a second
        const own = await openState();
        try {
          await own.set(state);
          const connection = await sockets.open(PLAN, { metadata: { ...own.metadata, ...metadata } });
          await assertEnds(connection, "close 1013 SERVICE_UNAVAILABLE");
        } finally {
          await own.close();
        }
      });
    }

    it("and forgets it on the way, but not while it is known or newer than the file", async () => {
      const own = await openState();
      try {
        await own.set({ newest: "00000001", slots: "00000001" });
        const connection = await sockets.open(PLAN, { metadata: { ...own.metadata, ...seated } });
        await assertOpen(connection);
        await own.set({ newest: "00000010", slots: `00000010${GENERATION}` });
        for (const end = Date.now() + 2_500; Date.now() < end;) await assertOpen(connection);
        await own.set({ newest: "00000010", slots: `00000010${FREE}` });
        await assertEnds(connection, "close 1013 SERVICE_UNAVAILABLE");
      } finally {
        await own.close();
      }
    });
  });

  describe("comes when the service is lost", () => {
    const now = () => Math.floor(Date.now() / 1000);
    const good = () => ({ epoch: "e-1", at: now(), closed: {}, plans: {} });
    const states: readonly [name: string, state: () => string | undefined][] = [
      ["no file", () => undefined],
      ["an empty file", () => ""],
      ["broken JSON", () => JSON.stringify(good()).slice(0, -1)],
      ["another document", () => "[]"],
      ["null", () => "null"],
      ["another life of it", () => JSON.stringify({ ...good(), epoch: "e-2" })],
      ["no life of it", () => JSON.stringify({ ...good(), epoch: undefined })],
      ["a stale file", () => JSON.stringify({ ...good(), at: now() - 60 })],
      ["a file from the future", () => JSON.stringify({ ...good(), at: now() + 3600 })],
      ["a file of no time", () => JSON.stringify({ ...good(), at: "now" })],
      ["no word of what is closed", () => JSON.stringify({ ...good(), closed: undefined })],
      ["nonsense about what is closed", () => JSON.stringify({ ...good(), closed: "none" })],
      ["nonsense about plans", () => JSON.stringify({ ...good(), plans: 7 })],
    ];
    for (const [name, state] of states) {
      it(name, async () => {
        const own = await openState();
        await own.remove();
        const text = state();
        if (text !== undefined) await writeFile(own.metadata.state_file, text);
        try {
          const connection = await sockets.open(PLAN, { metadata: own.metadata });
          await assertEnds(connection, "close 1013 SERVICE_UNAVAILABLE");
          assert.deepEqual(connection.server.said, ["close 1013 SERVICE_UNAVAILABLE"]);
        } finally {
          await own.close();
        }
      });
    }

    it("on the way", async () => {
      const own = await openState();
      try {
        const connection = await sockets.open(PLAN, { metadata: own.metadata });
        await assertOpen(connection);
        await own.remove();
        await assertEnds(connection, "close 1013 SERVICE_UNAVAILABLE");
      } finally {
        await own.close();
      }
    });

    it("no telling how it is closed", async () => {
      const closings = [true, {}, { code: "x", reason: 1 }] as never[];
      for (const connection of await openEach(closings, (closed) => ({ closed })))
        await assertEnds(connection, "close 1008 POLICY_CHANGED");
    });
  });

  describe("is not there when policies change", () => {
    const changed = (websocket: Plan): string =>
      JSON.stringify({
        ir: 1,
        websocket: { environment: "test", plain: false, limit: 1000, ...websocket },
      } satisfies PlanIR);

    it("but what may pass is what the new plan says, from the next message on", async () => {
      const connection = await sockets.open(PLAN);
      const { client, server, id } = connection;
      await assertOpen(connection);
      const other = { admin: { rule: "m[1]", onDeny: "drop" } } as const;
      await sockets.state.set({ plans: { [id]: changed({ send: other, receive: other }) } });
      await until(async () => {
        await client.write(fromClient(ADMIN));
        return server.said.includes(`text ${ADMIN}`);
      }, "the new plan is in force");
      const [sent, received] = [server.said.length, client.said.length];
      await client.write(fromClient(CHAT), fromClient('{"type":"admin","n":2}'));
      await server.heard('text {"type":"admin","n":2}');
      await server.write(fromServer(CHAT), fromServer('{"type":"admin","n":3}'));
      await client.heard('text {"type":"admin","n":3}');
      assert.ok(!server.said.slice(sent).includes(`text ${CHAT}`));
      assert.ok(!client.said.slice(received).includes(`text ${CHAT}`));
    });

    it("unless the new plan is none", async () => {
      const broken = ["nonsense", "", "{}", '{"ir":1}', '{"ir":99,"websocket":{}}'];
      for (const connection of await openEach(broken, (plans) => ({ plans })))
        await assertEnds(connection, "close 1011 PLAN_UNUSABLE");
    });

    it("unless a message has passed in part that would be evaluated now", async () => {
      const connection = await sockets.open({});
      const { client, server, id } = connection;
      await client.write(fromClient('{"type":"ad', { fin: false }));
      await server.heard('part of text {"type":"ad');
      await sockets.state.set({ plans: { [id]: changed(PLAN) } });
      const more = fromClient(" ", { opcode: OPCODE.continuation, fin: false });
      await until(async () => {
        await client.write(more);
        return server.said.some((text) => text.startsWith("close"));
      }, "the server got a CLOSE");
      assert.equal(server.said.at(-1), "close 1012 POLICY_CHANGED");
    });
  });
});

describe("gateway: a WebSocket connection that nobody uses", () => {
  it("ends after `gateway.websocket_idle_timeout`, and one that is used does not", async () => {
    const sockets = await startSocketGateway({ "gateway.websocket_idle_timeout": "4s" });
    try {
      const idle = await sockets.open(PLAN);
      const used = await sockets.open({});
      const stop = { now: false };
      const using = (async () => {
        while (!stop.now) {
          await used.client.write(fromClient("x"));
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      })();
      await sockets.gone(idle.client);
      await sockets.gone(idle.server);
      stop.now = true;
      await using;
      assert.deepEqual([used.client.ended, used.server.ended], [false, false]);
      assert.deepEqual([idle.client.said, idle.server.said], [[], []]);
    } finally {
      await sockets.stop();
    }
  });
});
