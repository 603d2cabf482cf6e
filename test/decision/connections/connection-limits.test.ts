import assert from "node:assert/strict";
import {
  ConnectionCounts,
  isHeldMessage,
  type HeldMessage,
} from "../../../src/decision/connections/connection-counts.ts";
import { holderOf } from "../../../src/decision/connections/connection-holder.ts";
import type { Identity } from "../../../src/identity/types.ts";
import { until } from "../../audit/support/wait.ts";
import { allow, byId, connection, POLICY_CHANGED, deny, registry, START } from "./support.ts";

/** Processes that hear each other at once. */
function processes(count: number) {
  const all: ConnectionCounts[] = [];
  const sent: HeldMessage[] = [];
  const broadcast = (message: HeldMessage) => {
    const received: unknown = JSON.parse(JSON.stringify(message));
    assert.ok(isHeldMessage(received));
    sent.push(received);
    for (const counts of all) counts.take(received);
  };
  for (let worker = 0; worker < count; worker += 1) all.push(new ConnectionCounts({ worker, broadcast }));
  return { all, sent, broadcast };
}

describe("decision: a handshake that is asked about twice", () => {
  it("is one connection, under both decisions", () => {
    const { connections } = registry();
    assert.equal(connections.add(connection("a", { handshake: "h" })), true);
    assert.equal(connections.add(connection("b", { handshake: "h" })), true);
    assert.equal(connections.add(connection("b", { handshake: "h" })), false);
    assert.equal(connections.size, 1);
    connections.revoke(() => true, POLICY_CHANGED);
    assert.deepEqual(connections.directives().closed, { a: POLICY_CHANGED, b: POLICY_CHANGED });
    connections.ended(["b"]);
    assert.equal(connections.size, 0);
    assert.deepEqual(connections.directives().closed, {});
    assert.equal(connections.add(connection("c", { handshake: "h" })), true);
  });

  it("is over whichever decision is said to be", () => {
    for (const id of ["a", "b"]) {
      const { connections } = registry();
      for (const one of ["a", "b"]) connections.add(connection(one, { handshake: "h" }));
      connections.ended([id]);
      assert.equal(connections.size, 0);
    }
  });

  it("is closed under a decision that comes after it was revoked", () => {
    const { connections, state } = registry();
    connections.add(connection("a", { handshake: "h" }));
    connections.revoke(() => true, POLICY_CHANGED);
    const before = state.changes;
    connections.add(connection("b", { handshake: "h" }));
    assert.deepEqual(Object.keys(connections.directives().closed), ["a", "b"]);
    assert.ok(state.changes > before);
  });

  it("goes on where one of its decisions is withdrawn", () => {
    for (const [first, last] of [
      ["a", "b"],
      ["b", "a"],
    ] as const) {
      const { connections } = registry();
      for (const one of ["a", "b"]) connections.add(connection(one, { handshake: "h" }));
      connections.withdraw(first);
      assert.equal(connections.size, 1);
      connections.withdraw(last);
      assert.equal(connections.size, 0);
    }
  });

  it("gets the plan that is in force, where its decisions had two", async () => {
    const { connections } = registry({ evaluate: byId({ a: allow("new") }) });
    connections.add(connection("a", { handshake: "h", planText: "old" }));
    connections.add(connection("b", { handshake: "h", planText: "new" }));
    await until(() => Object.keys(connections.directives().plans).length > 0, "the plans");
    assert.deepEqual(connections.directives().plans, { a: "new", b: "new" });
  });

  it("is closed under both where it is denied when it is evaluated again", async () => {
    const { connections } = registry({ evaluate: () => deny("CONDITION_FALSE") });
    for (const id of ["a", "b"]) connections.add(connection(id, { handshake: "h" }));
    await connections.reevaluate();
    assert.deepEqual(Object.keys(connections.directives().closed), ["a", "b"]);
  });

  it("is not kept under any number of decisions", () => {
    const { connections } = registry();
    const added = Array.from({ length: 20 }, (_, n) =>
      connections.add(connection(`d${n}`, { handshake: "h" })),
    );
    assert.equal(added.filter(Boolean).length, 8);
    assert.equal(connections.size, 1);
  });
});

describe("decision: connections of one holder", () => {
  it("are counted while they are open, a handshake once", () => {
    const [counts] = processes(1).all;
    const { connections, state } = registry({ perHolder: { limit: 2, counts: counts! } });
    const more = { handshake: "h1", holder: "u" };
    connections.add(connection("a", more));
    connections.add(connection("b", more));
    assert.equal(counts!.of("u"), 1);
    connections.add(connection("c", { handshake: "h2", holder: "u", expiresAt: START / 1000 }));
    assert.equal(connections.isWithinLimit({ handshake: "h3", holder: "u" }), false);
    // asked about once more
    assert.equal(connections.isWithinLimit({ handshake: "h1", holder: "u" }), true);
    assert.equal(connections.isWithinLimit({ handshake: "h3", holder: "v" }), true);
    connections.ended(["b"]);
    assert.deepEqual([counts!.of("u"), connections.isWithinLimit({ holder: "u" })], [1, true]);
    state.now += 120_000;
    connections.sweep();
    assert.equal(counts!.of("u"), 0);
    connections.add(connection("d", { holder: "u" }));
    connections.endedAll();
    assert.equal(counts!.of("u"), 0);
  });

  it("are counted over all processes", async () => {
    const { all, sent } = processes(3);
    const [first, second, third] = all as [ConnectionCounts, ConnectionCounts, ConnectionCounts];
    first.add("u", 1);
    first.add("u", 1);
    second.add("u", 1);
    await until(() => third.of("u") === 3, "the others");
    assert.equal(first.of("u"), 3);
    // changes that come together are told together
    assert.equal(sent.length, 2);
    first.add("u", -1);
    first.add("u", -1);
    await until(() => third.of("u") === 1, "the end");
  });

  it("are forgotten with the process that had them, and told to one that begins", async () => {
    const { all, broadcast } = processes(2);
    const [first, second] = all as [ConnectionCounts, ConnectionCounts];
    first.add("u", 1);
    second.add("u", 1);
    await until(() => second.of("u") === 2, "both");
    const again = new ConnectionCounts({ worker: 0, broadcast });
    all[0] = again;
    again.start();
    assert.deepEqual([again.of("u"), second.of("u")], [1, 1]);
  });

  it("take no message that is none", () => {
    for (const message of [
      { type: "connections_held" },
      { type: "connections_held", worker: "0", counts: {} },
      { type: "connections_held", worker: 0, counts: { u: "1" } },
      { type: "connections_held", worker: 0, counts: null },
      null,
      "connections_held",
    ])
      assert.equal(isHeldMessage(message), false, JSON.stringify(message));
  });

  it("are those of a user, of whichever customer, and without one of a client's address", () => {
    const identity = (userId: string, customer?: string): Identity => ({
      user: { id: userId },
      ...(customer !== undefined && { customer: { id: customer } }),
      userId,
      session: { amr: [], ...(userId === "" && { subject: "s" }) },
      expiresAt: 0,
    });
    const holders = [
      holderOf(identity("u-1", "c-1"), "10.0.0.1"),
      holderOf(identity("u-1", "c-2"), "10.0.0.1"),
      holderOf(identity("u-2", "c-1"), "10.0.0.1"),
      holderOf(identity(""), "10.0.0.1"),
      holderOf(undefined, "10.0.0.1"),
      holderOf(undefined, "10.0.0.2"),
      holderOf(undefined, "2001:db8:0:1::1"),
      holderOf(undefined, "2001:db8:0:2::1"),
      holderOf(undefined, ""),
    ];
    assert.equal(new Set(holders).size, holders.length);
    assert.equal(holderOf(identity("u-1", "c-1"), "10.9.9.9"), holders[0]);
    for (const same of ["2001:db8:0:1::2", "2001:db8:0:1:ffff::", "2001:0db8:0:1:1:2:3:4"])
      assert.equal(holderOf(undefined, same), holders[6], same);
    assert.notEqual(holderOf(undefined, "::ffff:10.0.0.1"), holderOf(undefined, "::ffff:10.0.0.2"));
  });
});
