import assert from "node:assert/strict";
import {
  addSamples,
  entryOf,
  longestIn,
  quantileOf,
  type ArmSample,
} from "../../../src/decision/rollout/arm-sample.ts";
import type { HeavyCaller } from "../../../src/decision/rollout/heavy-callers.ts";
import { compareArms } from "../../../src/decision/rollout/compare-arms.ts";

const LIMITS = {
  minRequests: 100,
  denialIncrease: 0.05,
  errorIncrease: 0.01,
  slowdown: 3,
  ignoredCallers: 5,
};

function sample(decisions: number, { denials = 0, errors = 0, ms = 0.1 } = {}): ArmSample {
  const durations = Array.from({ length: entryOf(ms) + 1 }, () => 0);
  durations[entryOf(ms)] = decisions;
  return { decisions, denials, errors, durations, heaviest: [] };
}

const outcome = (stable: ArmSample, candidate: ArmSample) => {
  const found = compareArms({ stable, candidate }, LIMITS);
  return found.outcome === "worse" ? `worse: ${found.cause}` : found.outcome;
};

describe("decision: comparing the arms of a rollout", () => {
  it("finds nothing where both do the same", () => {
    assert.equal(outcome(sample(1000, { denials: 300 }), sample(1000, { denials: 300 })), "ok");
    assert.equal(outcome(sample(1000, { denials: 300 }), sample(1000)), "ok");
  });

  it("is inconclusive with fewer decisions of either arm than asked for", () => {
    assert.equal(outcome(sample(1000), sample(99, { denials: 99 })), "inconclusive");
    assert.equal(outcome(sample(99), sample(1000, { denials: 1000 })), "inconclusive");
    assert.equal(outcome(sample(100), sample(100, { denials: 100 })), "worse: denials");
  });

  it("finds more denials, beyond the limit and beyond chance", () => {
    assert.equal(
      outcome(sample(5000, { denials: 500 }), sample(5000, { denials: 700 })),
      "ok",
      "four points",
    );
    assert.equal(outcome(sample(5000, { denials: 500 }), sample(5000, { denials: 800 })), "worse: denials");
    assert.equal(outcome(sample(100, { denials: 30 }), sample(100, { denials: 40 })), "inconclusive");
  });

  it("finds failures, which also count as denials, and names them first", () => {
    const failing = sample(1000, { denials: 100, errors: 100 });
    assert.equal(outcome(sample(1000), failing), "worse: errors");
  });

  it("finds slow evaluation, but not below what is always fast enough", () => {
    assert.equal(outcome(sample(1000, { ms: 0.1 }), sample(1000, { ms: 2 })), "ok");
    assert.equal(outcome(sample(1000, { ms: 0.1 }), sample(1000, { ms: 20 })), "worse: slow");
    assert.equal(outcome(sample(1000, { ms: 10 }), sample(1000, { ms: 20 })), "ok");
  });

  describe("what a few callers do alone", () => {
    /** `count` callers with as many denied, failed or slow decisions each, besides others without any. */
    const withHeavy = (count: number, each: number, what: "denials" | "errors" | "slow"): ArmSample => {
      const others = sample(400);
      const heaviest = Array.from({ length: count }, (_, n): HeavyCaller => {
        const denials = what === "slow" ? 0 : each;
        const errors = what === "errors" ? each : 0;
        return { caller: `c${n}`, decisions: each, denials, errors, slow: what === "slow" ? each : 0 };
      });
      const sum = count * each;
      const of =
        what === "slow" ? { ms: 50 } : what === "errors" ? { denials: sum, errors: sum } : { denials: sum };
      return { ...addSamples(others, sample(sum, of)), heaviest };
    };

    for (const what of ["denials", "errors", "slow"] as const) {
      it(`has no candidate taken back: ${what}`, () => {
        assert.equal(outcome(sample(1000), withHeavy(1, 900, what)), "inconclusive");
        assert.equal(outcome(sample(1000), withHeavy(5, 100, what)), "inconclusive");
        // more of them are no few
        assert.equal(outcome(sample(1000), withHeavy(12, 100, what)), `worse: ${what}`);
      });
      it(`hides nothing that others suffer: ${what}`, () => {
        const noisy = withHeavy(3, 300, what);
        assert.equal(outcome(noisy, noisy), "ok");
        assert.equal(outcome(noisy, withHeavy(12, 50, what)), `worse: ${what}`);
      });
    }

    it("counts where nobody is to be ignored", () => {
      const arms = { stable: sample(1000), candidate: withHeavy(1, 900, "denials") };
      assert.equal(compareArms(arms, { ...LIMITS, ignoredCallers: 0 }).outcome, "worse");
    });

    it("does not keep a good candidate back where there are only a few", () => {
      const few = (decisions: number): ArmSample => ({
        ...sample(decisions, { denials: 10 }),
        heaviest: [{ caller: "service", decisions, denials: 10, errors: 0, slow: 0 }],
      });
      assert.equal(outcome(few(1000), few(1000)), "ok");
    });
  });

  it("takes quantiles from a histogram, to a fifth", () => {
    for (const ms of [0.001, 0.01, 0.5, 3, 700]) {
      const found = quantileOf(sample(10, { ms }), 0.99);
      assert.ok(found >= ms && found <= Math.max(0.01, ms * 1.2), `${found} for ${ms}`);
    }
    const mixed = addSamples(sample(99, { ms: 1 }), sample(1, { ms: 1000 }));
    assert.ok(quantileOf(mixed, 0.99) < 2);
    assert.ok(quantileOf(addSamples(mixed, sample(1, { ms: 1000 })), 0.99) > 900);
    assert.equal(quantileOf(sample(0), 0.99), 0);
    assert.ok(longestIn(entryOf(Number.MAX_VALUE)) > 60_000);
    assert.equal(entryOf(Number.NaN), 0);
  });
});
