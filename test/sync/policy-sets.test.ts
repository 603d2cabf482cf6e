import assert from "node:assert/strict";
import { PolicySets } from "../../src/decision/policies/policy-sets.ts";
import { PolicyStore } from "../../src/decision/policies/policy-store.ts";
import type { Snapshot } from "../../src/decision/policies/snapshot.ts";
import { ControlPlaneClient, controlPlaneSource, StateFeed } from "../../src/sync/index.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import { ruleOf, silentLog } from "../decision/support.ts";
import { eventually } from "../support/eventually.ts";
import { FakeControlPlane } from "../support/fake-control-plane.ts";

const HOUR = 3_600_000;
const versioned = (name: string, version: string) => ({
  version,
  digest: `digest of ${version}`,
  files: [{ name: `${name}.yaml`, text: ruleOf("true", `version: ${version}`) }],
});
const broken = (name: string, version: string) => ({
  ...versioned(name, version),
  files: [
    { name: `${name}/a.yaml`, text: ruleOf("true") },
    { name: `${name}/b.yaml`, text: "policies:\n  - { resource: GET /y, condition: user.role = 1 }\n" },
  ],
});

describe("following: policy sets", () => {
  let plane: FakeControlPlane;
  let client: ControlPlaneClient;
  let feed: StateFeed;
  let metrics: Metrics;
  let errors: [Record<string, unknown>, string][];
  const closing: { close(): void }[] = [];

  beforeEach(async () => {
    plane = await FakeControlPlane.start();
    client = new ControlPlaneClient(plane.options);
    metrics = createMetrics();
    errors = [];
    feed = new StateFeed({ maxStaleMs: 60_000 }, { client, metrics, log: silentLog });
  });
  afterEach(async () => {
    for (const one of closing.splice(0)) one.close();
    feed.close();
    client.close();
    await plane.close();
  });

  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (context: object, message: string) =>
      void errors.push([context as Record<string, unknown>, message]),
  };
  const storeOf = () => {
    const store = new PolicyStore(
      {
        source: controlPlaneSource(client, feed),
        policySet: "main",
        refreshIntervalMs: HOUR,
        caseSensitive: false,
      },
      { metrics, log },
    );
    closing.push(store);
    return store;
  };
  const reads = (name = "main") => plane.askedFor(`policy-sets/${name}`).length;

  describe("the gateway's own", () => {
    it("is loaded, and replaced as soon as another version is active", async () => {
      plane.activate("main", versioned("main", "v1"));
      await feed.start();
      const store = storeOf();
      await store.start();
      assert.equal(store.current?.label, "main@v1");
      plane.activate("main", versioned("main", "v2"));
      await eventually("the second version", () => store.current?.label === "main@v2");
      plane.activate("main", versioned("main", "v1"));
      await eventually("the first version again", () => store.current?.label === "main@v1");
    });

    it("is called by the version that it was published as, whatever its files say", async () => {
      plane.activate("main", { ...versioned("main", "v1"), version: "v1+0a1b2c3d" });
      await feed.start();
      const store = storeOf();
      await store.start();
      assert.equal(store.current?.label, "main@v1+0a1b2c3d");
    });

    it("is not fetched again while the feed says that it is the same", async () => {
      plane.activate("main", versioned("main", "v1"));
      await feed.start();
      const store = storeOf();
      await store.start();
      const before = store.current;
      await store.refresh();
      plane.activate("other", versioned("other", "v9"));
      await eventually("the feed has it", () => feed.current?.policySet("other"));
      await store.refresh();
      assert.equal(reads(), 1);
      assert.equal(store.current, before);
    });

    it("is looked for where the feed knows nothing", async () => {
      plane.activate("main", versioned("main", "v1"));
      const store = storeOf();
      await store.refresh();
      assert.equal(store.current?.label, "main@v1");
      await store.refresh();
      assert.equal(reads(), 2);
      const { values } = await metrics.policyReloads.get();
      assert.deepEqual(
        values.map(({ labels, value }) => [labels.result, value]),
        [
          ["loaded", 1],
          ["unchanged", 1],
        ],
      );
    });

    it("stays the last good one over a version with errors, which are reported as they are for a folder", async () => {
      plane.activate("main", versioned("main", "v1"));
      await feed.start();
      const store = storeOf();
      await store.start();
      const good = store.current;
      plane.activate("main", broken("main", "v2"));
      await eventually("the errors", () => errors.length > 0);
      assert.equal(store.current, good);
      assert.match(String(errors[0]?.[0]["report"]), /main\/b\.yaml:2:/);
      plane.activate("main", versioned("main", "v3"));
      await eventually("the third version", () => store.current?.label === "main@v3");
    });

    it("stays the last good one while the control plane is away, and is replaced soon after", async () => {
      plane.activate("main", versioned("main", "v1"));
      await feed.start();
      const store = storeOf();
      await store.start();
      let failures = 2;
      plane.fault = ({ path }) =>
        path.startsWith("policy-sets") && failures-- > 0 ? { status: 503 } : undefined;
      plane.activate("main", versioned("main", "v2"));
      await eventually("the second version", () => store.current?.label === "main@v2");
      plane.fault = ({ path }) => (path.startsWith("policy-sets") ? { status: 503 } : undefined);
      plane.activate("main", versioned("main", "v3"));
      await eventually("it gives up", () => errors.length > 0);
      assert.equal(store.current?.label, "main@v2");
    });

    it("is absent where there is none, and loaded when there is one", async () => {
      await feed.start();
      const store = storeOf();
      await store.start();
      assert.equal(store.current, undefined);
      assert.match(String(errors[0]?.[0]["report"]), /has no active version in the control plane/);
      plane.activate("main", versioned("main", "v1"));
      await eventually("the first version", () => store.current?.label === "main@v1");
    });

    it("is loaded when the control plane comes after the gateway", async () => {
      plane.fault = () => ({ status: 503 });
      const store = storeOf();
      const starting = Promise.all([feed.start(), store.start()]);
      plane.activate("main", versioned("main", "v1"));
      plane.fault = () => undefined;
      await starting;
      await eventually("the first version", () => store.current?.label === "main@v1");
    });
  });

  describe("those that customers' policies name", () => {
    /** What was published, in order: the version of a set, or null where it was dropped. */
    const published: (readonly [name: string, label: string | null])[] = [];
    beforeEach(() => {
      published.length = 0;
    });
    const publish = (sets: Readonly<Record<string, Snapshot | null>>) => {
      for (const [name, set] of Object.entries(sets)) published.push([name, set?.label ?? null]);
      return Promise.resolve();
    };
    const setsOf = () => {
      const sets = new PolicySets(
        { source: controlPlaneSource(client, feed), refreshIntervalMs: HOUR, caseSensitive: false, publish },
        { metrics, log },
      );
      closing.push(sets);
      return sets;
    };
    const gauges = async () =>
      Object.fromEntries(
        (await metrics.customerPolicySets.get()).values.map(({ labels, value }) => [
          String(labels.state),
          value,
        ]),
      );

    it("are loaded when they are wanted, and dropped when they are not", async () => {
      const names = Array.from({ length: 7 }, (_, n) => `set-${n}`);
      for (const name of names) plane.activate(name, versioned(name, "v1"));
      await feed.start();
      const sets = setsOf();
      assert.equal(sets.get("set-0"), undefined);
      sets.want(names);
      await sets.settled();
      assert.deepEqual(
        names.map((name) => sets.get(name)?.label),
        names.map((name) => `${name}@v1`),
      );
      assert.deepEqual(
        published.sort(),
        names.map((name) => [name, `${name}@v1`]),
      );
      assert.deepEqual(await gauges(), { loaded: 7, missing: 0, outdated: 0 });
      const kept = sets.get("set-1");
      sets.want(["set-1", "set-2"]);
      assert.equal(sets.get("set-0"), undefined);
      assert.equal(sets.get("set-1"), kept);
      assert.deepEqual(
        published.slice(7).map(([, label]) => label),
        [null, null, null, null, null],
      );
      assert.deepEqual(
        sets
          .snapshots()
          .map(({ label }) => label)
          .sort(),
        ["set-1@v1", "set-2@v1"],
      );
      assert.equal(reads("set-1"), 1);
    });

    it("are absent while they cannot be loaded, which keeps no other from being loaded", async () => {
      plane.activate("good", versioned("good", "v1"));
      plane.activate("bad", broken("bad", "v1"));
      await feed.start();
      const sets = setsOf();
      sets.want(["bad", "gone", "good", "__proto__"]);
      await sets.settled();
      assert.equal(sets.get("bad"), undefined);
      assert.equal(sets.get("gone"), undefined);
      assert.equal(sets.get("__proto__"), undefined);
      assert.equal(sets.get("good")?.label, "good@v1");
      assert.deepEqual(await gauges(), { loaded: 1, missing: 3, outdated: 0 });
    });

    it("follow what is activated, and keep their last good version", async () => {
      plane.activate("a", versioned("a", "v1"));
      await feed.start();
      const sets = setsOf();
      sets.want(["a"]);
      await sets.settled();
      plane.activate("a", versioned("a", "v2"));
      await eventually("the second version", () => sets.get("a")?.label === "a@v2");
      plane.activate("a", broken("a", "v3"));
      await eventually("the errors", () => errors.length > 0);
      assert.equal(sets.get("a")?.label, "a@v2");
      assert.deepEqual(await gauges(), { loaded: 1, missing: 0, outdated: 1 });
    });

    it("leave the metrics of the gateway's own set alone", async () => {
      plane.activate("main", versioned("main", "v1"));
      plane.activate("bad", broken("bad", "v1"));
      await feed.start();
      await storeOf().start();
      const sets = setsOf();
      sets.want(["bad"]);
      await sets.settled();
      assert.equal((await metrics.policyReloadFailed.get()).values[0]?.value, 0);
      const { values } = await metrics.policySetInfo.get();
      assert.deepEqual(
        values.map(({ labels }) => labels.policy_set),
        ["main@v1"],
      );
    });

    it("are dropped for good though they were being loaded", async () => {
      plane.activate("slow", versioned("slow", "v1"));
      await feed.start();
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      plane.before = ({ path }) => (path.startsWith("policy-sets") ? held : undefined);
      const sets = setsOf();
      sets.want(["slow"]);
      await eventually("it is being read", () => reads("slow") === 1);
      sets.want([]);
      release();
      await sets.settled();
      assert.equal(sets.get("slow"), undefined);
      assert.deepEqual(published, [["slow", null]]);
      assert.deepEqual(await gauges(), { loaded: 0, missing: 0, outdated: 0 });
    });

    it("are not asked for after they were closed", async () => {
      await feed.start();
      const sets = setsOf();
      sets.close();
      sets.want(["a"]);
      await sets.settled();
      assert.equal(reads("a"), 0);
    });
  });
});
