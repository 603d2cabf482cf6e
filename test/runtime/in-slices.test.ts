import assert from "node:assert/strict";
import { inSlices } from "../../src/runtime/in-slices.ts";

describe("runtime: work in slices", () => {
  it("does all of it in order, and lets others have their turn", async () => {
    let turns = 0;
    let going = true;
    const count = () => {
      turns += 1;
      if (going) setImmediate(count);
    };
    setImmediate(count);
    const busy = (item: number) => {
      const end = performance.now() + 6;
      while (performance.now() < end);
      return item * 2;
    };
    assert.deepEqual(await inSlices([1, 2, 3, 4, 5], busy), [2, 4, 6, 8, 10]);
    going = false;
    assert.ok(turns >= 1, String(turns));
  });

  it("rejects where the work throws", async () => {
    const fails = () => {
      throw new Error("on purpose");
    };
    await assert.rejects(inSlices([1], fails), /on purpose/);
    assert.deepEqual(await inSlices([], fails), []);
  });
});
