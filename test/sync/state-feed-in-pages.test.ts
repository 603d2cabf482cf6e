import assert from "node:assert/strict";
import type { StateAnswer } from "../../src/protocol/index.ts";
import { ControlPlaneError, StateFeed, type StateChange } from "../../src/sync/index.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";

const suspended = (id: string): StateAnswer["customers"][number] => ({
  ...{ id, status: "suspended", policy_sets: [] },
  authentication: { mfa_required: false, allowed_email_domains: [], allowed_ip_ranges: [] },
});
const pageOf = (cursor: string, customer: string, more: boolean, first = false): StateAnswer => ({
  ...{ cursor, complete: first, customers: [suspended(customer)], customers_deleted: [] },
  ...{ sessions_ended: [{ session_id: `ses_${customer}`, until: "2100-01-01T00:00:00Z" }] },
  ...{ users: [], policy_sets: [] },
  ...(more && { more }),
});

const idle = (cursor: string): StateAnswer => ({
  ...pageOf(cursor, "", false),
  ...{ customers: [], sessions_ended: [] },
});

describe("following: a complete state in pages", () => {
  let script: (StateAnswer | Error)[];
  let asked: (string | undefined)[];
  /** How long the control plane may hold each response, in seconds. */
  let waits: number[];
  let now: number;
  /** Of a response, in milliseconds. */
  let latency = 200;
  let feed: StateFeed;
  let changes: StateChange[];
  let ended: () => void;

  function follow(...answers: (StateAnswer | Error)[]): Promise<void> {
    [script, asked, waits, changes, now] = [answers, [], [], [], 1_000_000];
    const over = new Promise<void>((resolve) => (ended = resolve));
    feed = new StateFeed(
      { maxStaleMs: 60_000 },
      {
        client: {
          state: (after, wait) => {
            asked.push(after);
            waits.push(wait);
            now += latency;
            const answer = script.shift();
            if (answer === undefined) {
              ended();
              return new Promise(() => undefined);
            }
            return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
          },
        },
        metrics: createMetrics(),
        log: { info: () => undefined, warn: () => undefined, error: () => undefined },
        clock: () => now,
        sleep: (ms) => {
          now += ms;
          return Promise.resolve();
        },
      },
    );
    feed.onChange((change) => changes.push(change));
    return over;
  }
  afterEach(() => {
    latency = 200;
    feed.close();
  });
  const status = (id: string) => feed.current?.customer(id)?.status;

  it("is in force when its last page has arrived, and is awaited by the start", async () => {
    const over = follow(
      pageOf("p1", "a", true, true),
      pageOf("p2", "b", true),
      pageOf("c1", "c", false),
      idle("c1"),
    );
    await feed.start();
    assert.deepEqual(["a", "b", "c"].map(status), ["suspended", "suspended", "suspended"]);
    await over;
    assert.deepEqual(asked, [undefined, "p1", "p2", "c1", "c1"]);
    assert.deepEqual(
      changes.map(({ complete, sessions }) => [complete, sessions]),
      [[true, ["ses_a", "ses_b", "ses_c"]]],
    );
  });

  it("is nothing as long as a page is missing, and goes on where it stopped", async () => {
    const failure = new ControlPlaneError("UNREACHABLE", "away");
    const over = follow(
      pageOf("p1", "a", true, true),
      failure,
      failure,
      pageOf("c1", "b", false),
      idle("c1"),
    );
    await feed.start();
    assert.equal(feed.current, undefined);
    assert.equal(feed.status().ok, false);
    await over;
    assert.deepEqual(asked, [undefined, "p1", "p1", "p1", "c1", "c1"]);
    assert.deepEqual(["a", "b"].map(status), ["suspended", "suspended"]);
  });

  it("begins anew where the control plane does, and keeps nothing of the pages before", async () => {
    const over = follow(
      pageOf("p1", "a", true, true),
      pageOf("p9", "b", true, true),
      pageOf("c1", "c", false),
      idle("c1"),
    );
    await feed.start();
    await over;
    assert.deepEqual(["a", "b", "c"].map(status), [undefined, "suspended", "suspended"]);
    assert.deepEqual(changes[0]?.sessions, ["ses_b", "ses_c"]);
  });

  it("replaces the state in force at once, and does not make that younger meanwhile", async () => {
    const over = follow(
      { ...pageOf("c1", "old", false, true) },
      // the changes since are too many
      pageOf("p1", "a", true, true),
      new ControlPlaneError("UNREACHABLE", "away"),
    );
    await feed.start();
    now += 50_000;
    await over;
    assert.deepEqual([status("old"), status("a")], ["suspended", undefined]);
    now += 10_000;
    assert.equal(feed.current, undefined, "pages are no news of what is in force");
  });

  describe("once a day", () => {
    const DAY_MS = 86_400_000;
    const active = (answer: StateAnswer): StateAnswer => ({
      ...answer,
      customers: answer.customers.map((customer) => ({ ...customer, status: "active" })),
    });
    const sessionsSeen = () => changes.map(({ complete, sessions }) => [complete, sessions]);

    it("lets the state in force follow the changes between its pages", async () => {
      const over = follow(
        pageOf("c1", "old", false, true),
        idle("c2"),
        pageOf("p1", "a", true, true),
        pageOf("c3", "meanwhile", false),
        new ControlPlaneError("UNREACHABLE", "away"),
        pageOf("c4", "later", false),
        pageOf("p2", "b", true),
        idle("c4"),
        pageOf("c2", "c", false),
        idle("c5"),
        // all that has changed since the first page
        pageOf("c3", "meanwhile", true),
        idle("c5"),
        pageOf("c4", "later", false),
      );
      await feed.start();
      now += DAY_MS;
      await over;
      assert.deepEqual(asked, [
        ...[undefined, "c1", undefined, "c2", "p1", "c3", "p1", "c4", "p2", "c4", "c2", "c5", "c3", "c4"],
      ]);
      assert.deepEqual(sessionsSeen(), [
        ...[
          [true, ["ses_old"]],
          [false, ["ses_meanwhile"]],
          [false, ["ses_later"]],
        ],
        [true, ["ses_a", "ses_b", "ses_c", "ses_meanwhile", "ses_later"]],
      ]);
      assert.deepEqual(["old", "a", "b", "c", "meanwhile", "later"].map(status), [
        undefined,
        ...Array.from({ length: 5 }, () => "suspended"),
      ]);
    });

    it("forgets nothing that the state in force has heard meanwhile", async () => {
      const over = follow(
        pageOf("c1", "old", false, true),
        idle("c1"),
        pageOf("p1", "a", true, true),
        pageOf("c2", "old", false),
        active(pageOf("c1", "old", false)),
        idle("c2"),
        pageOf("c2", "old", false),
      );
      const seen: (string | undefined)[] = [];
      feed.onChange(() => seen.push(status("old")));
      await feed.start();
      now += DAY_MS;
      await over;
      assert.deepEqual([seen.length > 2, [...new Set(seen)]], [true, ["suspended"]]);
    });

    describe("does not flood a control plane that has no next page for it", () => {
      const busy = new ControlPlaneError("UNAVAILABLE", "busy", { status: 503, retryAfterMs: 5_000 });
      const begin = [pageOf("c1", "old", false, true), idle("c1"), pageOf("p1", "a", true, true), idle("c1")];
      const cases = {
        "another page": [busy],
        "the changes since the first page": [pageOf("c2", "b", false), idle("c1"), busy],
      };
      for (const [what, answers] of Object.entries(cases)) {
        it(`${what}: changes are waited for`, async () => {
          const over = follow(...begin, ...answers, idle("c1"), idle("c1"), idle("c1"));
          await feed.start();
          now += DAY_MS;
          await over;
          const failed = begin.length + answers.length;
          assert.deepEqual(asked.slice(failed), ["c1", "c1", "c1", "c1"]);
          assert.deepEqual(waits.slice(failed), [5, 5, 5, 4]);
        });

        it(`${what}: changes are not asked for all the time where it does not wait`, async () => {
          latency = 0;
          const idles = Array.from({ length: 60 }, () => idle("c1"));
          const over = follow(...begin, ...answers, ...idles);
          await feed.start();
          now += DAY_MS;
          await over;
          const failed = begin.length + answers.length;
          // four per second for five seconds
          assert.equal(
            asked.slice(failed).findIndex((after) => after !== "c1"),
            20,
          );
        });
      }

      it("takes every cursor of a page back: pages are not asked for all the time", async () => {
        latency = 0;
        const over = follow(...Array.from({ length: 11 }, () => pageOf("p1", "a", true, true)));
        const began = now;
        void feed.start();
        await over;
        assert.equal(now - began, 10 * 250);
      });
    });

    it("reads the pages only, where the changes since are too many", async () => {
      const over = follow(
        pageOf("c1", "old", false, true),
        idle("c1"),
        pageOf("p1", "a", true, true),
        // instead of the changes since c1
        pageOf("p9", "a", true, true),
        pageOf("p2", "b", true),
        pageOf("c2", "c", false),
        idle("c2"),
      );
      await feed.start();
      now += DAY_MS;
      await over;
      assert.deepEqual(asked, [undefined, "c1", undefined, "c1", "p1", "p2", "c2", "c2"]);
      assert.deepEqual(["a", "b", "c"].map(status), ["suspended", "suspended", "suspended"]);
    });
  });

  it("takes what follows it for changes", async () => {
    const over = follow(
      pageOf("p1", "a", true, true),
      pageOf("c1", "b", false),
      idle("c1"),
      pageOf("c2", "c", false),
    );
    await feed.start();
    await over;
    assert.deepEqual(["a", "b", "c"].map(status), ["suspended", "suspended", "suspended"]);
    assert.deepEqual(
      changes.map(({ complete }) => complete),
      [true, false],
    );
  });
});
