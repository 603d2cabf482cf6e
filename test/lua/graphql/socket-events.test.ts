import assert from "node:assert/strict";
import type { LuaRunner } from "../../support/lua.ts";
import {
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

describe("events of GraphQL subscriptions in Lua", () => {
  let runner: LuaRunner;
  let open: OpenSocket;
  let socket: LuaSocket;
  before(async () => {
    ({ runner, open } = await startSockets());
  });
  beforeEach(async () => {
    socket = await open(SOCKET_PLAN, "graphql-transport-ws");
  });
  after(() => runner.close());

  it("evaluates each event by what it delivers", async () => {
    await delivered(socket, "client", subscribe(ORDERS));
    await delivered(socket, "server", event(order("c1")));
    await delivered(socket, "server", event(null, { errors: [{ message: "x" }] }));
    await delivered(socket, "server", { id: "1", type: "next", payload: { errors: [{ message: "x" }] } });
    await delivered(socket, "server", event({ orderUpdated: null }));
    await delivered(socket, "server", event(order("c1"), { extensions: {} }));
    for (const customer of ["c2", null, 1, ["c1"], undefined]) await dropped(socket, event(order(customer)));
    for (const value of ["c1", { id: 1 }, { order: "c1" }, { order: [{ customer_id: "c1" }] }, true]) {
      await dropped(socket, event({ orderUpdated: value }));
    }
    await dropped(socket, event(order("c1"), { incremental: [] }));
    await dropped(socket, event(order("c1"), { hasNext: false }));
    for (const payload of [null, [], "x", undefined])
      await dropped(socket, { id: "1", type: "next", payload });
    for (const data of [[], "x", 1, true]) await dropped(socket, event(data));
    const { rule, code } = await socket.server(event(order("c2")));
    assert.deepEqual([rule, code], ["subscription orderUpdated", "ACCESS_DENIED"]);
  });

  it("drops parts if response rules apply, whatever the operation was", async () => {
    const guarded = await open({ ...SOCKET_PLAN, guardedNames: ["ssn"] }, "graphql-transport-ws");
    const parts = event(null, { incremental: [{ path: ["hello"], data: { ssn: 1 } }] });
    for (const one of [socket, guarded]) await delivered(one, "client", subscribe("{ hello }"));
    await delivered(socket, "server", parts);
    await dropped(guarded, parts);
    await dropped(guarded, event(undefined, { patch: [] }));
    await delivered(guarded, "server", event({ hello: 1 }, { extensions: {} }));
  });

  it("evaluates every item of a list", async () => {
    await delivered(socket, "client", subscribe("subscription { orderUpdated { customer_id } }"));
    const list = (...customers: unknown[]) =>
      event({ orderUpdated: customers.map((customer) => customer && { customer_id: customer }) });
    await delivered(socket, "server", list());
    await delivered(socket, "server", list("c1", "c1"));
    await dropped(socket, list("c1", "c2"));
    await dropped(socket, list("c1", null));
    await delivered(socket, "server", event({ orderUpdated: [[{ customer_id: "c1" }]] }));
    await dropped(socket, event({ orderUpdated: [[{ customer_id: "c1" }], [{ customer_id: "c2" }]] }));
  });

  it("evaluates events by the arguments of their operation and by the time of the event", async () => {
    const query = "subscription($o:String) { x: orders(owner: $o) { owner } }";
    await delivered(socket, "client", subscribe(query, "1", { variables: { o: "me" } }));
    await delivered(socket, "client", subscribe(query, "2", { variables: { o: "you" } }));
    const result = (id: string, owner: string) => ({
      id,
      type: "next",
      payload: { data: { x: { owner } } },
    });
    const outcomes = async (id: string, owner: string, env?: object) =>
      (await socket.server(result(id, owner), env)).deliver !== undefined;
    assert.equal(await outcomes("1", "me", { open: true }), true);
    assert.equal(await outcomes("1", "me", { open: false }), false);
    assert.equal(await outcomes("1", "me"), false);
    assert.equal(await outcomes("1", "you", { open: true }), false);
    assert.equal(await outcomes("2", "you", { open: true }), true);
  });

  it("denies a subscription that does not select what its rule reads", async () => {
    const queries = [
      "subscription { orderUpdated { id } }",
      "subscription { orderUpdated { order { id } } }",
      "subscription { orderUpdated { order { x: customer_id } } }",
      "subscription { orderUpdated { order { customer_id: id } } }",
      "subscription { orderUpdated { x: order { customer_id } } }",
      "subscription { orderUpdated { order: other { customer_id } } }",
      "subscription { orderUpdated { order { customer_id } ...F } } fragment F on O { order: other { customer_id } }",
      "subscription { orderUpdated { x: order { customer_id } customer_id } }",
    ];
    for (const query of queries) {
      const { reply = "" } = await socket.client(subscribe(query));
      const { payload } = JSON.parse(reply) as { payload: { message: string }[] };
      assert.match(payload[0]?.message ?? "", /^select "(order\.)?customer_id" to subscribe$/, query);
    }
    const selected =
      "subscription { orderUpdated { ...F } } fragment F on O { order { ... { customer_id } } }";
    await delivered(socket, "client", subscribe(selected));
  });

  it("does not let a client end an evaluated subscription and take its events under another one's rules", async () => {
    await delivered(socket, "client", subscribe(ORDERS));
    await delivered(socket, "client", { id: "1", type: "complete" });
    await dropped(socket, event(order("c1")));
    const again = await socket.client(subscribe("subscription { tick }"));
    assert.deepEqual([again.drop, again.code], [true, "GRAPHQL_MALFORMED"]);
    await dropped(socket, event(order("c2")));
    await delivered(socket, "server", { id: "1", type: "complete" });
    await delivered(socket, "client", subscribe("subscription { tick }"));
  });

  it("takes a field that was skipped for unknown, not for missing", async () => {
    const query = "subscription($s:Boolean!) { unowned { id owner @skip(if: $s) } }";
    await delivered(socket, "client", subscribe(query, "1", { variables: { s: true } }));
    await delivered(socket, "server", event({ unowned: { id: 1, owner: null } }));
    await dropped(socket, event({ unowned: { id: 1, owner: "c2" } }));
    await dropped(socket, event({ unowned: { id: 1 } }));
  });
});
