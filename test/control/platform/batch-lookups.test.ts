import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { batchLookups } from "../../../src/control/platform/batch-lookups.ts";
import { TurnQueue } from "../../../src/control/gateway/turn-queue.ts";

describe("look-ups in batches", () => {
  it("are one for those of one turn, each with its own answer", async () => {
    const asked: (readonly string[])[] = [];
    const find = batchLookups((keys) => {
      asked.push(keys);
      return Promise.resolve(new Map(keys.filter((key) => key !== "c").map((key) => [key, `found ${key}`])));
    });
    const found = await Promise.all(["a", "b", "a", "c"].map(find));
    assert.deepEqual(found, ["found a", "found b", "found a", undefined]);
    assert.deepEqual(asked, [["a", "b", "c"]]);
  });

  it("begin after they were asked for, one at a time: one that is under way is not joined", async () => {
    let value = 1;
    const asked: (readonly string[])[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const find = batchLookups(async (keys) => {
      const read = value;
      asked.push(keys);
      if (read === 1) await held;
      return new Map(keys.map((key) => [key, read]));
    });
    const before = find("a");
    await nextTurn();
    await nextTurn();
    value = 2;
    const later = [find("a"), find("b")];
    release();
    assert.equal(await before, 1);
    assert.deepEqual(await Promise.all(later), [2, 2]);
    assert.deepEqual(asked, [["a"], ["a", "b"]]);
  });

  it("fail together, and the next ones are asked again", async () => {
    let away = true;
    const find = batchLookups((keys) =>
      away ? Promise.reject(new Error("away")) : Promise.resolve(new Map(keys.map((key) => [key, key]))),
    );
    const settled = await Promise.allSettled([find("a"), find("b")]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    away = false;
    assert.equal(await find("a"), "a");
  });

  it("are bounded: more keys than a statement takes make another one", async () => {
    const sizes: number[] = [];
    const find = batchLookups((keys) => {
      sizes.push(keys.length);
      return Promise.resolve(new Map(keys.map((key) => [key, key])));
    });
    const keys = Array.from({ length: 2_500 }, (_, index) => `key ${index}`);
    assert.deepEqual(await Promise.all(keys.map(find)), keys);
    assert.deepEqual(sizes, [1_000, 1_000, 500]);
  });
});

describe("turns of followers", () => {
  it("keep their order, and leave room for what else there is to do", async () => {
    const turns = new TurnQueue();
    const order: (number | string)[] = [];
    const all = Array.from({ length: 40 }, (_, index) => turns.take().then(() => order.push(index)));
    const other = (left: number): void => {
      order.push("other");
      if (left > 1) setImmediate(other, left - 1);
    };
    setImmediate(other, 3);
    await Promise.all(all);
    assert.deepEqual(
      order.filter((one) => one !== "other"),
      Array.from({ length: 40 }, (_, index) => index),
    );
    // none of the three had to wait for all forty
    assert.ok(order.lastIndexOf("other") < order.indexOf(39), order.join(" "));
    // and the next one comes to its turn again
    await turns.take();
  });
});
