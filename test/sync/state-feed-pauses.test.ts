import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { ControlPlaneError, StateFeed, type ControlPlaneClient } from "../../src/sync/index.ts";
import type { StateAnswer } from "../../src/protocol/index.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { FakeControlPlane } from "../support/fake-control-plane.ts";

describe("following: pauses of the state feed", () => {
  let plane: FakeControlPlane;
  const feeds: StateFeed[] = [];

  beforeEach(async () => {
    plane = await FakeControlPlane.start();
  });
  afterEach(async () => {
    for (const feed of feeds.splice(0)) feed.close();
    await plane.close();
  });

  const feedOf = (client: Pick<ControlPlaneClient, "state">, sleep: (ms: number) => Promise<void>) => {
    const say = () => undefined;
    const log = { info: say, warn: say, error: say };
    const clock = () => Date.parse("2026-01-01T00:00:00Z");
    const metrics = createMetrics();
    const feed = new StateFeed({ maxStaleMs: 60_000 }, { client, metrics, log, clock, sleep });
    feeds.push(feed);
    return feed;
  };

  /** How long the feed pauses between questions, until it has asked so many, each answered as `answer` says. */
  const pausesUntil = async (
    questions: number,
    answer: (asked: number) => StateAnswer,
  ): Promise<number[]> => {
    const pauses: number[] = [];
    const sleep = async (ms: number) => {
      pauses.push(ms);
      await setImmediate();
    };
    await new Promise<void>((resolve) => {
      let asked = 0;
      const state = () => {
        asked += 1;
        if (asked === questions) {
          resolve();
          feed.close();
        }
        // what it throws is an answer, too
        return new Promise<StateAnswer>((tell) => {
          tell(answer(asked));
        });
      };
      const feed = feedOf({ state }, sleep);
      void feed.start();
    });
    return pauses;
  };

  it("asks less and less often while it fails, and not before it is told to", async () => {
    const gone = new ControlPlaneError("UNREACHABLE", "gone");
    const told = new ControlPlaneError("RATE_LIMIT_EXCEEDED", "wait", { status: 429, retryAfterMs: 30_000 });
    const pauses = await pausesUntil(12, (asked) => {
      throw asked < 10 ? gone : told;
    });
    for (const [n, pause] of pauses.slice(0, 9).entries()) {
      const longest = Math.min(5_000, 100 * 2 ** n);
      assert.ok(pause >= longest / 2 && pause <= longest, `${pause} after ${n + 1} failures`);
    }
    assert.deepEqual(pauses.slice(9), [30_000, 30_000]);
  });

  it("does not flood a server that does not wait, or that takes every cursor back", async () => {
    for (const complete of [false, true]) {
      const pauses = await pausesUntil(4, (asked) => ({
        ...plane.changesSince(0),
        complete: complete || asked === 1,
      }));
      assert.deepEqual(pauses, [250, 250]);
    }
  });

  it("asks on at once where a page says that there is more, whatever the page holds", async () => {
    const pauses = await pausesUntil(5, (asked) => ({
      ...plane.changesSince(0),
      complete: asked === 1,
      ...(asked === 2 && { more: true }),
    }));
    // behind the complete state and behind the page there is none
    assert.deepEqual(pauses, [250, 250]);
  });
});
