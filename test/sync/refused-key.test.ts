import assert from "node:assert/strict";
import { ControlPlaneClient, StateFeed } from "../../src/sync/index.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import { eventually } from "../support/eventually.ts";
import { FakeControlPlane, type Fault } from "../support/fake-control-plane.ts";

describe("following: a control plane that refuses the key", () => {
  let plane: FakeControlPlane;
  let client: ControlPlaneClient;
  let feed: StateFeed;
  let metrics: Metrics;
  let logged: string[];
  let now: number;

  beforeEach(async () => {
    plane = await FakeControlPlane.start();
    client = new ControlPlaneClient(plane.options);
    metrics = createMetrics();
    logged = [];
    now = Date.parse("2026-01-01T00:00:00Z");
  });
  afterEach(async () => {
    feed.close();
    client.close();
    await plane.close();
  });

  const feedOf = (maxStaleMs = 3_600_000) => {
    const say = (_fields: object, message: string) => void logged.push(message);
    feed = new StateFeed(
      { maxStaleMs },
      { client, metrics, log: { info: say, warn: say, error: say }, clock: () => now },
    );
    return feed;
  };
  const started = async () => {
    await feedOf().start();
    assert.ok(feed.current);
    return feed;
  };
  const failures = async () => (await metrics.feedFailures.get()).values[0]?.value ?? 0;

  const refusals: readonly (readonly [what: string, Fault, RegExp])[] = [
    [
      "that was revoked",
      { status: 401, code: "API_KEY_REVOKED" },
      /\(401 API_KEY_REVOKED: it says API_KEY_REVOKED\)/,
    ],
    ["of another scope", { status: 403, code: "INSUFFICIENT_SCOPE" }, /\(403 INSUFFICIENT_SCOPE: /],
    [
      "that a proxy in front refuses",
      { status: 403, body: "<html>" },
      /\(403 MALFORMED_ANSWER: status 403, /,
    ],
  ];
  const refused = async () => (await metrics.feedKeyRefused.get()).values[0]?.value;
  for (const [what, fault, detail] of refusals) {
    it(`${what}: is not ready at once, and nothing is known after the grace`, async () => {
      const feed = await started();
      assert.deepEqual(feed.status(), { ok: true, detail: "in sync" });
      assert.equal(await refused(), 0);
      plane.fault = () => fault;
      plane.endSession("ses_1");
      await eventually("it is refused", () => !feed.status().ok);
      assert.match(
        feed.status().detail,
        /^it refused this gateway's API key .*; the last state .* is used until 2026-01-01T00:01:00/,
      );
      assert.match(feed.status().detail, detail);
      assert.equal(await refused(), 1);
      assert.ok(
        logged.includes(
          "the control plane refused this gateway's API key; using the last state for at most 60 s",
        ),
      );
      now += 59_999;
      assert.ok(feed.current);
      now += 1;
      assert.equal(feed.current, undefined);
      assert.match(feed.status().detail, /^it refused .* is no longer used$/);
      plane.fault = () => undefined;
      await eventually("it is heard of again", () => feed.current?.sessionEnded("ses_1"));
      assert.deepEqual(feed.status(), { ok: true, detail: "in sync" });
      assert.equal(await refused(), 0);
    });
  }

  it("before anything is known", async () => {
    plane.fault = () => ({ status: 401, code: "UNAUTHORIZED" });
    const feed = feedOf();
    await feed.start();
    assert.equal(feed.current, undefined);
    assert.deepEqual(feed.status(), {
      ok: false,
      detail: "no state yet: it refused this gateway's API key (401 UNAUTHORIZED: it says UNAUTHORIZED)",
    });
    assert.deepEqual(logged, [
      "the control plane refused this gateway's API key; no state yet; refusing tokens of its users",
    ]);
  });

  it("stays refused though nobody answers afterwards, and is not used for longer by that", async () => {
    const feed = await started();
    plane.fault = () => ({ status: 401, code: "UNAUTHORIZED" });
    plane.endSession("ses_1");
    await eventually("it is refused", () => !feed.status().ok);
    plane.fault = () => "reset";
    const before = await failures();
    await eventually("several failures", async () => (await failures()) >= before + 2);
    assert.equal(feed.status().ok, false);
    now += 60_000;
    assert.equal(feed.current, undefined);
  });

  it("is another thing than an outage, during which what is known is used for longer", async () => {
    const feed = await started();
    plane.fault = () => ({ status: 503 });
    plane.endSession("ses_1");
    await eventually("a failure", async () => (await failures()) > 0);
    assert.match(
      feed.status().detail,
      /^it says INTERNAL_ERROR; the last state .* is used until 2026-01-01T01:00:00/,
    );
    now += 120_000;
    assert.equal(feed.status().ok, true);
    assert.ok(feed.current);
    assert.equal(await refused(), 0);
  });

  it("hears at once that the key is accepted again, though nothing has changed", async () => {
    const feed = await started();
    const waits = () => plane.askedFor("state").map(({ query }) => query.get("wait"));
    plane.fault = () => ({ status: 401, code: "API_KEY_REVOKED" });
    feed.askNow();
    await eventually("it is refused", () => !feed.status().ok);
    plane.fault = () => undefined;
    feed.askNow();
    await eventually("it is followed", () => feed.status().ok);
    assert.ok(waits().includes("0"));
    await eventually("a question that waits", () => waits().at(-1) === "20");
    assert.deepEqual(feed.status(), { ok: true, detail: "in sync" });
  });

  it("asks at once when there is reason to, also while it waits", async () => {
    const feed = await started();
    await eventually("a question that waits", () => plane.askedFor("state").length === 2);
    feed.askNow();
    await eventually("the next one", () => plane.askedFor("state").length === 3);
    assert.equal(await failures(), 0);
    assert.ok(feed.current);
  });
});
