import assert from "node:assert/strict";
import { createDecisionIds } from "../../src/audit/index.ts";

describe("audit: decision ids", () => {
  it("are unique, sorted, and of one form", () => {
    const next = createDecisionIds();
    const ids = Array.from({ length: 50_000 }, next);
    for (const id of ids) assert.match(id, /^dec_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(ids.toSorted(), ids);
  });

  it("begin with the time", () => {
    // the example of the ULID specification: 1469918176385 is 01ARYZ6S41
    assert.equal(createDecisionIds(() => 1_469_918_176_385)().slice(0, 14), "dec_01aryz6s41");
    assert.equal(createDecisionIds(() => 2 ** 48 - 1)().slice(0, 14), "dec_7zzzzzzzzz");
  });

  it("go on in order when the clock goes back, stands still or jumps", () => {
    const times = [1000, 1000.7, 999, 5, 1001, 1000, 2 ** 47, 3];
    const next = createDecisionIds(() => times.shift() ?? 0);
    const ids = Array.from({ length: 8 }, next);
    assert.deepEqual(ids.toSorted(), ids);
    assert.equal(new Set(ids).size, 8);
  });

  it("of two makers in the same millisecond differ", () => {
    const [a, b] = [createDecisionIds(() => 7), createDecisionIds(() => 7)];
    assert.notEqual(a().slice(14), b().slice(14));
  });

  it("draw new randomness for every millisecond", () => {
    let now = 0;
    const next = createDecisionIds(() => ++now);
    const tails = Array.from({ length: 2_000 }, () => next().slice(14));
    assert.equal(new Set(tails).size, tails.length);
  });
});
