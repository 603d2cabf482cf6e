import assert from "node:assert/strict";
import { RateBudget } from "../../src/runtime/rate-budget.ts";
import { SharedBudget } from "../../src/runtime/shared-budget.ts";

const taken = (count: number, take: () => boolean) =>
  Array.from({ length: count }, take).filter(Boolean).length;

describe("runtime: rate budget", () => {
  it("gives ten seconds' worth at once, and then what time brings", () => {
    let now = 0;
    const budget = new RateBudget({ perSecond: 5, clock: () => now });
    const take = (count: number) => taken(count, () => budget.take());
    assert.equal(budget.isSpent(), false);
    assert.equal(take(100), 50);
    assert.equal(budget.isSpent(), true);
    now += 100;
    assert.equal(take(10), 0);
    now += 100;
    assert.equal(take(10), 1);
    now += 1_000;
    assert.equal(take(10), 5);
    now += 3_600_000;
    assert.equal(take(100), 50);
  });

  it("gives nothing where there is none", () => {
    let now = 0;
    const budget = new RateBudget({ perSecond: 0, clock: () => (now += 1_000_000) });
    assert.equal(budget.take(), false);
  });

  it("has a burst of its own, and takes nothing back when the clock is set back", () => {
    let now = 1_000_000;
    const budget = new RateBudget({ perSecond: 1, burst: 3, clock: () => now });
    assert.equal(budget.take(), true);
    now = 0;
    assert.equal(
      taken(10, () => budget.take()),
      2,
    );
    now += 1_000;
    assert.equal(
      taken(10, () => budget.take()),
      1,
    );
  });
});

describe("runtime: shared budget", () => {
  it("gives each source its share, and all of them together no more than the total", () => {
    const clock = () => 0;
    const budget = new SharedBudget({
      total: { perSecond: 1, burst: 5, clock },
      perSource: { perSecond: 1, burst: 2, clock },
    });
    const take = (source: string) => taken(10, () => budget.take(source));
    assert.deepEqual([take("a"), take("b"), take("c"), take("a")], [2, 2, 1, 0]);
  });
});
