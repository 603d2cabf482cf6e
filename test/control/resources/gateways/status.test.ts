import assert from "node:assert/strict";
import {
  lagsLong,
  statusesOf,
  type GatewayState,
  type PublishedSet,
} from "../../../../src/control/resources/gateways/status.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const ago = (ms: number) => new Date(NOW.getTime() - ms);
const MINUTE = 60_000;

function gatewayOf(changes: Partial<GatewayState> = {}): GatewayState {
  return {
    ...{ policy_source: "control_plane", policy_set: "main", digest: "b", digest_since: ago(10 * MINUTE) },
    ...{ interval_ms: 5_000, seen_at: ago(1_000) },
    ...changes,
  };
}

const PUBLISHED: PublishedSet = { digest: "b", activatedAt: ago(5 * MINUTE), digests: new Set(["a", "b"]) };
const statuses = (gateways: readonly GatewayState[], set: PublishedSet = PUBLISHED) =>
  statusesOf(gateways, { now: NOW, published: new Map([["main", set]]) });

describe("status of gateways", () => {
  it("lags for long a minute after the activation, or after its last step towards it", () => {
    const facts = { now: NOW, published: new Map([["main", PUBLISHED]]) };
    const late = (ms: number, activated = 5 * MINUTE) =>
      lagsLong(gatewayOf({ digest: "a", digest_since: ago(ms) }), {
        ...facts,
        published: new Map([["main", { ...PUBLISHED, activatedAt: ago(activated) }]]),
      });
    assert.deepEqual([late(MINUTE), late(MINUTE + 1), late(2 * MINUTE, MINUTE)], [false, true, false]);
    assert.equal(
      lagsLong(gatewayOf({ digest_since: ago(MINUTE + 1) }), { now: NOW, published: new Map() }),
      true,
    );
  });

  it("is lost after three intervals without a report, and at least 15 s", () => {
    const seen = (ms: number, interval: number) => gatewayOf({ seen_at: ago(ms), interval_ms: interval });
    assert.deepEqual(statuses([seen(15_000, 1_000), seen(15_001, 1_000)]), ["alive", "lost"]);
    assert.deepEqual(statuses([seen(30_000, 10_000), seen(30_001, 10_000)]), ["alive", "lost"]);
  });

  it("compares with what is published: active, not yet, never", () => {
    const digests = ["b", "a", "c", null].map((digest) => gatewayOf({ digest }));
    assert.deepEqual(statuses(digests), ["alive", "lagging", "diverged", "lagging"]);
    const fresh = { ...PUBLISHED, activatedAt: ago(5_000) };
    assert.deepEqual(statuses(digests, fresh), ["alive", "alive", "diverged", "lagging"]);
    assert.deepEqual(
      statusesOf([gatewayOf()], { now: NOW, published: new Map() }),
      ["diverged"],
      "of a set that does not exist",
    );
  });

  it("compares folders with each other, once all have had time to change", () => {
    const folder = (digest: string | null, sinceMs = 10 * MINUTE, changes: Partial<GatewayState> = {}) =>
      gatewayOf({ policy_source: "directory", digest, digest_since: ago(sinceMs), ...changes });
    assert.deepEqual(statuses([folder("x"), folder("x"), folder("y")]), ["alive", "alive", "diverged"]);
    assert.deepEqual(statuses([folder("x"), folder("y")]), ["alive", "alive"], "nobody is right");
    assert.deepEqual(statuses([folder("x"), folder("x"), folder("y", MINUTE - 1)]), [
      "alive",
      "alive",
      "alive",
    ]);
    assert.deepEqual(statuses([folder("x"), folder("x"), folder(null)]), ["alive", "alive", "lagging"]);
    const lost = { seen_at: ago(MINUTE) };
    assert.deepEqual(
      statuses([folder("x", undefined, lost), folder("x", undefined, lost), folder("y")]),
      ["lost", "lost", "alive"],
      "who is lost does not count",
    );
    const other = folder("y", undefined, { policy_set: "other" });
    assert.deepEqual(statuses([folder("x"), folder("x"), other]), ["alive", "alive", "alive"]);
  });

  it("is told at a cost that grows with the gateways, and not with their square", () => {
    const count = 300;
    let reads = 0;
    const counted = (index: number): GatewayState => ({
      ...gatewayOf({ policy_source: "directory" }),
      get policy_set() {
        reads += 1;
        return `set-${index}`;
      },
    });
    const own = Array.from({ length: count }, (_, index) => counted(index));
    assert.ok(statuses(own).every((status) => status === "alive"));
    assert.ok(reads <= 5 * count, `${reads} reads for ${count} gateways`);
  });
});
