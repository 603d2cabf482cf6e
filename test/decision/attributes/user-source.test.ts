import assert from "node:assert/strict";
import { UserSource } from "../../../src/decision/attributes/user-source.ts";
import type { ValueObject } from "../../../src/policy/index.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";

type Answer = ValueObject | undefined;

describe("decision: user source", () => {
  let metrics: Metrics;
  let asked: string[];
  let warnings: number;
  let now: number;
  let directory: Map<string, ValueObject>;
  let fetchUser: (id: string) => Promise<Answer>;
  let source: UserSource;

  beforeEach(() => {
    metrics = createMetrics();
    asked = [];
    warnings = 0;
    now = 1_000_000;
    directory = new Map([["usr_1", { id: "usr_1", department: "sales" }]]);
    fetchUser = (id) => Promise.resolve(directory.get(id));
    source = sourceOf({});
  });

  const sourceOf = (options: { size?: number; ttlMs?: number }) =>
    new UserSource(options, {
      fetchUser: (id) => {
        asked.push(id);
        return fetchUser(id);
      },
      metrics,
      log: { warn: () => (warnings += 1) },
      clock: () => now,
    });
  const departmentOf = async (id = "usr_1") => (await source.lookup(id))?.["department"];
  const valueOf = async (counter: Metrics["cacheHits"]) =>
    (await counter.get()).values.find(({ labels }) => labels.cache === "attributes")?.value ?? 0;
  const failures = async () =>
    Object.fromEntries(
      (await metrics.userLookupFailures.get()).values.map(({ labels, value }) => [
        String(labels.cause),
        value,
      ]),
    );
  /** Calls that are answered when the test says so. */
  const held = () => {
    const calls: { id: string; answer: (user: Answer) => void; fail: () => void }[] = [];
    fetchUser = (id) =>
      new Promise((resolve, reject) => {
        const fail = () => {
          reject(new Error("away"));
        };
        calls.push({ id, answer: resolve, fail });
      });
    return calls;
  };
  const failing = () => {
    fetchUser = () => Promise.reject(new Error("away"));
  };
  const fails = async (id: string) => {
    await assert.rejects(async () => source.lookup(id));
  };

  it("asks for a user once a while, and knows them meanwhile", async () => {
    assert.equal(await departmentOf(), "sales");
    directory.set("usr_1", { id: "usr_1", department: "legal" });
    now += 59_000;
    assert.deepEqual(source.lookup("usr_1"), { id: "usr_1", department: "sales" });
    now += 2_000;
    assert.equal(await departmentOf(), "legal");
    assert.deepEqual(asked, ["usr_1", "usr_1"]);
    assert.deepEqual([await valueOf(metrics.cacheHits), await valueOf(metrics.cacheMisses)], [1, 2]);
  });

  it("knows for a short while that there is no such user", async () => {
    assert.equal(await source.lookup("usr_9"), undefined);
    assert.equal(source.lookup("usr_9"), undefined);
    assert.deepEqual(asked, ["usr_9"]);
    directory.set("usr_9", { id: "usr_9", department: "new" });
    now += 5_001;
    assert.equal(await departmentOf("usr_9"), "new");
  });

  it("keeps so many users, and none the less for those who are not there", async () => {
    source = sourceOf({ size: 10 });
    await departmentOf();
    for (let n = 0; n < 1_500; n += 1) await source.lookup(`made-up-${n}`);
    assert.deepEqual(source.lookup("usr_1"), directory.get("usr_1"));
    fetchUser = (id) => Promise.resolve({ id });
    for (let n = 0; n < 20; n += 1) await source.lookup(`usr_x${n}`);
    assert.equal(await valueOf(metrics.cacheEvictions), 11);
  });

  it("does not keep what was looked up under a very long key", async () => {
    const long = "x".repeat(257);
    await source.lookup(long);
    await source.lookup(long);
    assert.equal(asked.length, 2);
  });

  it("makes one call for all who ask at the same time", async () => {
    const calls = held();
    const answers = [source.lookup("usr_1"), source.lookup("usr_1"), source.lookup("usr_2")];
    assert.equal(calls.length, 2);
    calls[0]?.answer({ id: "usr_1" });
    calls[1]?.fail();
    assert.deepEqual(await Promise.all(answers.slice(0, 2).map((one) => Promise.resolve(one))), [
      { id: "usr_1" },
      { id: "usr_1" },
    ]);
    await assert.rejects(Promise.resolve(answers[2]));
  });

  it("forgets users who have changed, those who were not there, and everybody", async () => {
    await departmentOf();
    await source.lookup("usr_9");
    await source.lookup("usr_8");
    directory.set("usr_1", { id: "usr_1", department: "legal" });
    directory.set("usr_9", { id: "usr_9", department: "new" });
    directory.set("usr_8", { id: "usr_8", department: "new" });
    source.invalidate(["usr_1", "usr_9"]);
    assert.equal(await departmentOf(), "legal");
    assert.equal(await departmentOf("usr_9"), "new");
    assert.equal(await departmentOf("usr_8"), undefined);
    directory.set("usr_1", { id: "usr_1", department: "support" });
    source.invalidateAll();
    assert.equal(await departmentOf(), "support");
    assert.equal(await departmentOf("usr_8"), "new");
  });

  for (const [what, act] of [
    [
      "a user changed",
      () => {
        source.invalidate(["usr_1"]);
      },
    ],
    [
      "everybody may have changed",
      () => {
        source.invalidateAll();
      },
    ],
  ] as const) {
    it(`does not keep a late answer to a call that began before ${what}, nor share that call any more`, async () => {
      const calls = held();
      const before = source.lookup("usr_1");
      act();
      const after = source.lookup("usr_1");
      assert.equal(calls.length, 2);
      calls[1]?.answer({ id: "usr_1", department: "new" });
      assert.deepEqual(await after, { id: "usr_1", department: "new" });
      calls[0]?.answer({ id: "usr_1", department: "old" });
      assert.deepEqual(await before, { id: "usr_1", department: "old" });
      assert.equal(await departmentOf(), "new");
    });

    it(`does not keep that there is nobody, told by a call that began before ${what}`, async () => {
      const calls = held();
      const before = source.lookup("usr_1");
      act();
      calls[0]?.answer(undefined);
      assert.equal(await before, undefined);
      void source.lookup("usr_1");
      assert.equal(calls.length, 2);
    });
  }

  it("throws where it cannot say, and keeps nothing of that", async () => {
    failing();
    await fails("usr_1");
    fetchUser = (id) => Promise.resolve(directory.get(id));
    assert.equal(await departmentOf(), "sales");
  });

  it("throws for users whose time is over, however long the directory is away", async () => {
    await departmentOf();
    failing();
    now += 60_001;
    await fails("usr_1");
  });

  it("leaves a directory in peace that fails again and again, and tries it with one call", async () => {
    failing();
    for (let n = 0; n < 5; n += 1) await fails(`usr_${n}`);
    assert.equal(asked.length, 5);
    for (let n = 0; n < 20; n += 1) assert.throws(() => source.lookup(`usr_${n}`), /does not respond/);
    assert.equal(asked.length, 5);
    assert.deepEqual(await failures(), { failed: 5, circuit: 20 });
    assert.equal(warnings, 2);

    now += 1_001;
    const calls = held();
    const probe = source.lookup("usr_1");
    assert.throws(() => source.lookup("usr_2"), /does not respond/);
    calls[0]?.fail();
    await assert.rejects(Promise.resolve(probe));
    assert.throws(() => source.lookup("usr_1"), /does not respond/, "for a while again");

    now += 1_001;
    fetchUser = (id) => Promise.resolve(directory.get(id));
    assert.equal(await departmentOf(), "sales");
    await Promise.all(["usr_2", "usr_3"].map(async (id) => source.lookup(id)));
    assert.equal(asked.length, 9);
  });

  it("answers from what it knows while the directory is left in peace", async () => {
    await departmentOf();
    failing();
    for (let n = 0; n < 6; n += 1) await fails(`usr_x${n}`);
    assert.deepEqual(source.lookup("usr_1"), directory.get("usr_1"));
  });

  it("has so many calls under way and no more", async () => {
    const calls = held();
    const answers = Array.from({ length: 200 }, (_, n) => source.lookup(`usr_${n}`));
    assert.throws(() => source.lookup("usr_200"), /too many/);
    void source.lookup("usr_199"); // shared
    assert.equal(calls.length, 200);
    for (const { answer } of calls) answer(undefined);
    await Promise.all(answers.map((one) => Promise.resolve(one)));
    void source.lookup("usr_200");
    assert.equal(calls.length, 201);
    assert.deepEqual(await failures(), { overload: 1 });
  });
});
