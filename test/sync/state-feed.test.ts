import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { ControlPlaneClient, StateFeed, type StateChange } from "../../src/sync/index.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import { eventually } from "../support/eventually.ts";
import { FakeControlPlane, ordinary, type Fault } from "../support/fake-control-plane.ts";
import { freePort } from "../support/free-port.ts";

const suspended = (id: string) => ({ ...ordinary(id), status: "suspended" as const });
const NOTHING: StateChange = { sessions: [], customers: [], users: [], policySets: [], complete: false };

describe("following: state feed", () => {
  let plane: FakeControlPlane;
  let client: ControlPlaneClient;
  let metrics: Metrics;
  let logged: string[];
  let now: number;
  const feeds: StateFeed[] = [];

  beforeEach(async () => {
    plane = await FakeControlPlane.start(await freePort());
    client = new ControlPlaneClient(plane.options);
    metrics = createMetrics();
    logged = [];
    now = Date.parse("2026-01-01T00:00:00Z");
  });
  afterEach(async () => {
    for (const feed of feeds.splice(0)) feed.close();
    client.close();
    await plane.close();
  });

  const feedOf = (maxStaleMs = 60_000) => {
    const say = (_fields: object, message: string) => void logged.push(message);
    const log = { info: say, warn: say, error: say };
    const feed = new StateFeed({ maxStaleMs }, { client, metrics, log, clock: () => now });
    feeds.push(feed);
    return feed;
  };
  const started = async (maxStaleMs?: number) => {
    const feed = feedOf(maxStaleMs);
    await feed.start();
    assert.ok(feed.current);
    return feed;
  };
  const failures = async () => (await metrics.feedFailures.get()).values[0]?.value ?? 0;

  it("knows nothing before the first answer, and all of it after", async () => {
    plane.setCustomer(suspended("cus_1"));
    plane.endSession("ses_1");
    plane.setUser("usr_1", {}, "suspended");
    plane.activate("main", { version: "v3", digest: "d3", files: [] });
    const feed = feedOf();
    const before = feed.current;
    assert.equal(before, undefined);
    await feed.start();
    const { current } = feed;
    assert.ok(current);
    assert.equal(current.customer("cus_1")?.status, "suspended");
    assert.equal(current.customer("cus_2"), undefined);
    assert.equal(current.sessionEnded("ses_1"), true);
    assert.equal(current.sessionEnded("ses_2"), false);
    assert.equal(current.userStatus("usr_1"), "suspended");
    assert.equal(current.userStatus("usr_2"), "active");
    assert.deepEqual(current.policySet("main"), { version: "v3", digest: "d3" });
    assert.equal((await metrics.feedEntries.get()).values[0]?.value, 4);
    assert.equal((await metrics.feedTime.get()).values[0]?.value, now / 1000);
  });

  it("follows every kind of change, tells what it was about, and leaves what was taken before as it was", async () => {
    const feed = await started();
    const told: StateChange[] = [];
    feed.onChange((change) => told.push(change));
    const before = feed.current;

    const changes: [() => void, Partial<StateChange>][] = [
      [
        () => {
          plane.setCustomer(suspended("cus_1"));
        },
        { customers: ["cus_1"] },
      ],
      [
        () => {
          plane.endSession("ses_1");
        },
        { sessions: ["ses_1"] },
      ],
      [
        () => {
          plane.setUser("usr_1", {}, "deleted");
        },
        { users: ["usr_1"] },
      ],
      [
        () => {
          plane.activate("main", { version: "v1", digest: "d1", files: [] });
        },
        { policySets: ["main"] },
      ],
      [
        () => {
          plane.setCustomer(ordinary("cus_1"));
        },
        { customers: ["cus_1"] },
      ],
    ];
    for (const [n, [act, what]] of changes.entries()) {
      act();
      await eventually("the change is told", () => told.length > n);
      assert.deepEqual(told[n], { ...NOTHING, ...what });
    }
    const after = feed.current;
    assert.ok(after);
    assert.equal(after.customer("cus_1"), undefined);
    assert.equal(after.sessionEnded("ses_1"), true);
    assert.equal(after.userStatus("usr_1"), "deleted");
    assert.equal(before?.sessionEnded("ses_1"), false);
    assert.equal(plane.askedFor("state").filter(({ query }) => !query.has("after")).length, 1);
  });

  it("asks for the complete state again when a newer control plane lists the deleted customers, and no more than once", async () => {
    const nothing = { customers: [], sessions_ended: [], users: [], policy_sets: [] };
    const deleted = (ids: string[]) => ({ customers_deleted: ids });
    const answers = [
      { ...nothing, cursor: "1.a", complete: true },
      { ...nothing, cursor: "2.b", complete: false },
      // from here on another instance answers
      { ...nothing, ...deleted([]), cursor: "3.c", complete: false },
      { ...nothing, ...deleted(["cus_gone"]), cursor: "3.c", complete: true },
      { ...nothing, ...deleted([]), cursor: "4.d", complete: false },
    ];
    const asked: (string | undefined)[] = [];
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const rolling = {
      state: (after: string | undefined) => {
        asked.push(after);
        const answer = answers[asked.length - 1];
        return answer === undefined ? new Promise<never>(() => undefined) : Promise.resolve(answer);
      },
    };
    const feed = new StateFeed({ maxStaleMs: 60_000 }, { client: rolling, metrics, log, clock: () => now });
    feeds.push(feed);
    await feed.start();
    await eventually("it waits again", () => asked.length > answers.length);
    assert.deepEqual(asked, [undefined, "1.a", "2.b", undefined, "3.c", "4.d"]);
    assert.equal(feed.current?.customer("cus_gone")?.status, "deleted");
  });

  it("has put a change in force when it tells of it, and a listener that throws keeps nobody from hearing", async () => {
    const feed = await started();
    const seen: unknown[] = [];
    feed.onChange(() => {
      throw new Error("a listener's own fault");
    });
    const stop = feed.onChange(() => seen.push(feed.current?.sessionEnded("ses_1")));
    plane.endSession("ses_1");
    await eventually("the change is told", () => seen.length > 0);
    assert.deepEqual(seen, [true]);
    stop();
    plane.endSession("ses_2");
    await eventually("the next change", () => feed.current?.sessionEnded("ses_2"));
    assert.equal(seen.length, 1);
  });

  const faults: [string, Fault][] = [
    ["errors", { status: 500 }],
    ["a refused key", { status: 401, code: "UNAUTHORIZED" }],
    ["answers of somebody else", { status: 200, body: "<html>" }],
    ["answers cut short", "cut"],
    ["connections that break", "reset"],
    [
      "a state with a status nobody knows",
      {
        body: JSON.stringify({
          success: true,
          data: {
            cursor: "c9",
            complete: true,
            customers: [{ ...ordinary("cus_1"), status: "frozen" }],
            sessions_ended: [],
            users: [],
            policy_sets: [],
          },
        }),
      },
    ],
  ];
  for (const [what, fault] of faults) {
    it(`keeps the last good state over ${what}, and goes on where it was`, async () => {
      plane.setCustomer(suspended("cus_1"));
      const feed = await started();
      plane.fault = () => fault;
      plane.endSession("ses_1"); // ends the poll that waits, whose answer is still a good one
      await eventually("several failures", async () => (await failures()) >= 3);
      plane.endSession("ses_2");
      assert.equal(feed.current?.customer("cus_1")?.status, "suspended");
      assert.equal(feed.current.sessionEnded("ses_2"), false);
      plane.fault = () => undefined;
      await eventually("what was missed", () => feed.current?.sessionEnded("ses_2"));
      assert.equal(plane.askedFor("state").filter(({ query }) => !query.has("after")).length, 1);
      const said = logged.filter((message) => /could not sync|refused this gateway's API key/.test(message));
      assert.equal(said.length, 1, logged.join("\n"));
    });
  }

  it("comes back after the control plane was gone, on whatever it remembers", async () => {
    const feed = await started();
    plane.setCustomer(suspended("cus_1"));
    await eventually("the change", () => feed.current?.customer("cus_1"));
    const port = Number(new URL(plane.url).port);
    await plane.close();
    await eventually("a failure", async () => (await failures()) > 0);
    assert.ok(feed.current);
    plane = await FakeControlPlane.start(port); // with another database: its cursors are others
    plane.forgotten = 2;
    const told: StateChange[] = [];
    feed.onChange((change) => {
      plane.forgotten = 0;
      told.push(change);
    });
    plane.endSession("ses_9");
    await eventually("the whole state", () => told.some(({ complete }) => complete));
    assert.equal(feed.current.customer("cus_1"), undefined, "a complete answer replaces everything");
    assert.equal(feed.current.sessionEnded("ses_9"), true);
  });

  it("asks at once for what is older than wanted, and is ready with the answer or the failure", async () => {
    const feed = await started();
    const asked = () => plane.askedFor("state").length;
    await eventually("it waits", () => asked() === 2);
    plane.before = ({ query }) => {
      // an answer without news that is not held, as for a process that does not wait
      query.set("wait", "0");
    };
    await feed.freshen(1_000);
    assert.equal(asked(), 2);
    now += 1_001;
    await feed.freshen(1_000);
    assert.ok(asked() > 2);
    assert.equal((await metrics.feedTime.get()).values[0]?.value, now / 1000);
    plane.fault = () => ({ status: 500 });
    now += 1_001;
    await feed.freshen(1_000);
    assert.ok((await failures()) > 0);
    now += 1_001;
    const waiting = feed.freshen(1_000);
    feed.close();
    await waiting;
  });

  it("does not apply changes to nothing", async () => {
    plane.setCustomer(suspended("cus_1"));
    plane.fault = () => ({ body: JSON.stringify({ success: true, data: plane.changesSince(0) }) });
    const feed = feedOf();
    await feed.start();
    assert.equal(feed.current, undefined);
    assert.equal(await failures(), 1);
  });

  it("knows nothing any more when the last answer is too old, and again with the next one", async () => {
    const feed = await started(10_000);
    plane.fault = () => ({ status: 500 });
    plane.endSession("ses_1"); // ends the poll that waits
    await eventually("a failure", async () => (await failures()) > 0);
    now += 9_999;
    assert.ok(feed.current);
    now += 1;
    assert.equal(feed.current, undefined);
    plane.fault = () => undefined;
    await eventually("an answer", () => feed.current?.sessionEnded("ses_1"));
  });

  it("does not take what is known for younger when the clock is set back", async () => {
    const feed = await started(10_000);
    now -= 10_000;
    assert.equal(feed.current, undefined);
  });

  it("lets answers wait well below the time after which they are too old", async () => {
    for (const [maxStaleMs, wait] of [
      [3_600_000, "20"],
      [10_000, "3"],
      [1_000, "0"],
    ] as const) {
      const feed = feedOf(maxStaleMs);
      plane.asked.length = 0;
      await feed.start();
      const next = await eventually("the question after the first", () => plane.asked[1]);
      assert.equal(next.query.get("wait"), wait);
      feed.close();
    }
  });

  it("forgets ended sessions when no token of theirs can be good any more", async () => {
    const timers: (() => void)[] = [];
    const setInterval = globalThis.setInterval;
    globalThis.setInterval = ((step: () => void, ms: number) => {
      timers.push(step);
      return setInterval(() => undefined, ms);
    }) as typeof setInterval;
    try {
      plane.endSession("ses_1", new Date(now + 60_000).toISOString());
      plane.endSession("ses_2", new Date(now + 3_600_000).toISOString());
      const feed = await started(1e9);
      const sweep = async () => {
        for (const step of timers) step();
        await setImmediate();
      };
      now += 60_000;
      await sweep();
      assert.equal(feed.current?.sessionEnded("ses_1"), true, "clocks differ");
      now += 11 * 60_000;
      await sweep();
      assert.equal(feed.current.sessionEnded("ses_1"), false);
      assert.equal(feed.current.sessionEnded("ses_2"), true);
      now += 3_600_000;
      await sweep();
      assert.equal((await metrics.feedEntries.get()).values[0]?.value, 0);
    } finally {
      globalThis.setInterval = setInterval;
    }
  });

  it("reads the whole state anew once a day", async () => {
    const feed = await started(7 * 86_400_000);
    now += 86_400_000;
    plane.endSession("ses_1"); // ends the poll that waits
    await eventually(
      "a second whole state",
      () => plane.askedFor("state").filter(({ query }) => !query.has("after")).length === 2,
    );
    assert.ok(feed.current);
  });

  it("hears nothing after it was closed", async () => {
    const feed = await started();
    await eventually("it waits for a change", () => plane.asked.length === 2);
    feed.close();
    plane.endSession("ses_1");
    await eventually("the poll is answered", () => plane.cursor === "c1");
    assert.equal(feed.current?.sessionEnded("ses_1"), false);
    await feed.start();
    assert.equal(plane.asked.length, 2);
  });

  it("holds many, and changes none of what was taken before", async () => {
    for (let n = 0; n < 20_000; n += 1) plane.endSession(`ses_${n}`);
    const feed = await started();
    const { current } = feed;
    plane.endSession("ses_x");
    await eventually("the change", () => feed.current?.sessionEnded("ses_x"));
    assert.equal(current?.sessionEnded("ses_x"), false);
    assert.equal(feed.current?.sessionEnded("ses_19999"), true);
    assert.equal((await metrics.feedEntries.get()).values[0]?.value, 20_001);
  });
});
