import assert from "node:assert/strict";
import { ConnectionCounts } from "../../../src/decision/connections/connection-counts.ts";
import { ConnectionSlots } from "../../../src/decision/connections/connection-slots.ts";
import { bytesOf } from "../../../src/decision/connections/connection-space.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { connection, POLICY_CHANGED, registry } from "./support.ts";
import { accessOf } from "../support.ts";

describe("decision: connections whose end nobody told", () => {
  /** Time passes, and the registry looks every five seconds. */
  function reporting() {
    const time = { now: 0 };
    const metrics = createMetrics();
    const { connections, state, logged } = registry({ stopwatch: () => time.now, metrics });
    const pass = (seconds: number, open: readonly string[] = []) => {
      for (let second = 0; second < seconds; second += 1) {
        time.now += 1_000;
        if (second % 10 === 0) connections.reported(open);
        if (second % 5 === 4) connections.sweep();
      }
    };
    const unreported = async () => (await metrics.connectionsUnreported.get()).values[0]?.value;
    return { connections, state, logged, time, pass, unreported };
  }

  it("are forgotten when Envoy has not reported them for forty seconds, which is counted", async () => {
    const { connections, pass, unreported, logged } = reporting();
    for (const id of ["a", "b", "c"]) connections.add(connection(id, { reported: true }));
    pass(40, ["b"]);
    assert.deepEqual([connections.size, await unreported()], [3, 0]);
    pass(5, ["b"]);
    assert.deepEqual([connections.size, await unreported()], [1, 2]);
    assert.deepEqual(logged.at(-1)?.object, { count: 2 });
    pass(600, ["b"]);
    assert.deepEqual([connections.size, await unreported()], [1, 2]);
    pass(45);
    assert.deepEqual([connections.size, await unreported()], [0, 3]);
  });

  it("are kept where Envoy reports none", () => {
    const { connections, pass } = reporting();
    connections.add(connection("a"));
    pass(3_600, ["a"]);
    assert.equal(connections.size, 1);
  });

  it("are reported under any of their decisions", () => {
    const { connections, pass } = reporting();
    for (const id of ["a", "b"]) connections.add(connection(id, { handshake: "h", reported: true }));
    pass(120, ["b"]);
    assert.equal(connections.size, 1);
  });

  it("are not forgotten by a process that stood still before it has read what was reported", () => {
    const { connections, pass, time } = reporting();
    connections.add(connection("a", { reported: true }));
    pass(10);
    time.now += 300_000;
    connections.sweep();
    assert.equal(connections.size, 1);
    pass(60, ["a"]);
    assert.equal(connections.size, 1);
    pass(45);
    assert.equal(connections.size, 0);
  });

  it("are forgotten at once where the client left during the handshake", () => {
    const { connections } = registry();
    for (const id of ["a", "b"]) connections.add(connection(id, { handshake: `stream ${id}` }));
    connections.abandoned(["a", "a", "x", ""]);
    assert.equal(connections.slotOf("a"), undefined);
    assert.equal(connections.size, 1);
    connections.abandoned(["a"]);
    assert.equal(connections.size, 1);
  });

  it("are known to have left before they come", () => {
    const { connections } = registry();
    connections.abandoned(["early", ""]);
    assert.deepEqual(
      ["early", "late", ""].map((id) => connections.hasLeft(id)),
      [true, false, false],
    );
    connections.abandoned(Array.from({ length: 32_768 }, (_, n) => `other ${n}`));
    assert.equal(connections.hasLeft("early"), false, "as many as are remembered came later");
  });

  it("give everything back, however they are forgotten", () => {
    const access = accessOf({ requestId: "r", headers: [["cookie", "c".repeat(30_000)]] });
    for (const forget of [
      (of: ReturnType<typeof reporting>) => {
        of.connections.ended(["a"]);
      },
      (of: ReturnType<typeof reporting>) => {
        of.connections.abandoned(["r"]);
      },
      (of: ReturnType<typeof reporting>) => {
        of.pass(45);
      },
      (of: ReturnType<typeof reporting>) => {
        of.connections.withdraw("a");
      },
    ]) {
      const all = reporting();
      const { connections } = all;
      for (let n = 0; n < 400; n += 1) {
        assert.equal(connections.add(connection("a", { access, reported: true, handshake: "h" })), true);
        connections.revoke(() => true, POLICY_CHANGED);
        forget(all);
        assert.deepEqual([connections.size, connections.directives().closed], [0, {}]);
        assert.equal(connections.slots().slots, "");
      }
    }
  });
});

describe("decision: slots of connections", () => {
  it("are told apart by generation, and used again", () => {
    const slots = new ConnectionSlots();
    const [a, b, c] = [slots.take(), slots.take(), slots.take()];
    assert.deepEqual([a.slot, b.slot, c.slot], [0, 1, 2]);
    assert.deepEqual(slots.table(), {
      newest: c.generation,
      slots: a.generation + b.generation + c.generation,
    });
    slots.free(b);
    slots.free(b);
    assert.equal(slots.table().slots, `${a.generation}--------${c.generation}`);
    const d = slots.take();
    assert.equal(d.slot, 1);
    slots.free(b);
    assert.deepEqual(slots.table(), {
      newest: d.generation,
      slots: a.generation + d.generation + c.generation,
    });
    slots.free(d);
    slots.free(c);
    assert.deepEqual(slots.table(), { newest: d.generation, slots: a.generation });
  });

  it("have generations of one length that grow as text does", () => {
    const slots = new ConnectionSlots();
    let before = slots.table().newest;
    for (let n = 0; n < 2_000; n += 1) {
      const { generation } = slots.take();
      assert.ok(generation.length === 8 && generation > before, generation);
      before = generation;
    }
  });
});

describe("decision: the memory of handshakes", () => {
  const large = (id: string) => accessOf({ requestId: id, headers: [["x-pad", "p".repeat(55_000)]] });

  it("is bounded in all, and of each holder", () => {
    const counts = new ConnectionCounts({ worker: 0, broadcast: () => undefined });
    const { connections } = registry({ capacity: 1_000, perHolder: { limit: 200, counts } });
    const bytes = bytesOf(large("a"));
    assert.ok(bytes > 55_000 && bytes < 56_000);
    const take = (holder: string) => {
      let taken = 0;
      for (let n = 0; n < 200; n += 1) {
        const id = `${holder}-${n}`;
        const access = large(id);
        if (!connections.isWithinLimit({ handshake: id, holder, access })) break;
        if (!connections.add(connection(id, { access, holder }))) break;
        taken += 1;
      }
      return taken;
    };
    const ofHolder = Math.floor((200 * 8_192) / bytes);
    for (const holder of ["a", "b", "c", "d", "e"]) assert.equal(take(holder), ofHolder, holder);
    // a holder's usual handshakes are not in the way of each other
    const usual = (id: string) => connection(id, { access: accessOf({ requestId: id }), holder: "f" });
    for (let n = 0; n < 199; n += 1) assert.equal(connections.add(usual(`f-${n}`)), true);
    let more = 0;
    while (connections.add(connection(`z-${more}`, { access: large(`z-${more}`) }))) more += 1;
    assert.equal(5 * ofHolder + more, Math.floor((1_000 * 8_192 - 199 * bytesOf(accessOf())) / bytes));
    connections.ended(["a-0"]);
    assert.equal(connections.isWithinLimit({ holder: "a", access: large("a-0") }), true);
    assert.equal(connections.add(connection("a-0", { access: large("a-0"), holder: "a" })), true);
  });

  it("leaves room for long cookies where few connections are allowed", () => {
    const counts = new ConnectionCounts({ worker: 0, broadcast: () => undefined });
    const { connections } = registry({ capacity: 2, perHolder: { limit: 2, counts } });
    for (const id of ["a", "b"]) {
      assert.equal(connections.isWithinLimit({ holder: "h", access: large(id) }), true);
      assert.equal(connections.add(connection(id, { access: large(id), holder: "h" })), true);
    }
  });
});
