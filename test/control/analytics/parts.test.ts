import assert from "node:assert/strict";
import fc from "fast-check";
import { bucketOf, longestIn, percentileOf } from "../../../src/control/analytics/rollups/latency.ts";
import { spansOf } from "../../../src/control/analytics/rollups/spans.ts";
import { runs } from "../../support/runs.ts";

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

describe("analytics: parts", () => {
  it("buckets hold their durations, and are narrow", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60_000_000 }), (microseconds) => {
        const longest = longestIn(bucketOf(microseconds));
        assert.ok(longest >= microseconds - 1e-6 && longest <= microseconds * 1.0906);
      }),
      { numRuns: runs(500) },
    );
    assert.equal(bucketOf(0), 0);
    assert.equal(bucketOf(Number.MAX_SAFE_INTEGER), bucketOf(2 ** 26));
    assert.equal(percentileOf([], 0.5), undefined);
  });

  it("spans cover a range once, with as few of the shortest as can be", () => {
    const time = fc.integer({ min: 0, max: 20 * DAY });
    fc.assert(
      fc.property(time, time, time, time, (a, b, hours, minutes) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const since = [
          ["day", 0],
          ["hour", hours],
          ["minute", minutes],
        ] as const;
        const spans = spansOf(from, to, since);
        let end = from;
        for (const span of spans) {
          assert.equal(span.from, end);
          assert.ok(span.to > span.from);
          end = span.to;
        }
        assert.equal(end, from === to ? from : to);
        for (const { granularity, from: start, to: stop } of spans) {
          const period = { day: DAY, hour: HOUR, minute: MINUTE, record: 1 }[granularity];
          assert.deepEqual([start % period, stop % period], [0, 0]);
          if (granularity === "minute" && minutes === 0 && hours === 0) assert.ok(stop - start < HOUR);
          if (granularity === "record" && minutes === 0 && hours === 0) assert.ok(stop - start < MINUTE);
        }
      }),
      { numRuns: runs(500) },
    );
    assert.deepEqual(
      spansOf(HOUR, Number.POSITIVE_INFINITY, [
        ["day", 0],
        ["hour", 0],
      ]),
      [
        { granularity: "hour", from: HOUR, to: DAY },
        { granularity: "day", from: DAY, to: Number.POSITIVE_INFINITY },
      ],
    );
  });
});
