import assert from "node:assert/strict";
import fc from "fast-check";
import { PersistentMap } from "../../src/sync/persistent-map.ts";

type Step = readonly [key: string, value: number | undefined];

describe("following: persistent map", () => {
  // few keys, so that entries are replaced and removed; odd ones beside them
  const key = fc.oneof(
    fc.integer({ min: 0, max: 40 }).map((n) => `k${n}`),
    fc.constantFrom("", "__proto__", "constructor", "\ud800"),
  );
  const steps = fc.array(fc.tuple(key, fc.option(fc.integer(), { nil: undefined })), { maxLength: 200 });

  const apply = (map: PersistentMap<number>, [key, value]: Step) =>
    value === undefined ? map.without(key) : map.with(key, value);
  const assertSame = (map: PersistentMap<number>, model: ReadonlyMap<string, number>) => {
    assert.equal(map.size, model.size);
    assert.deepEqual([...map.keys()].sort(), [...model.keys()].sort());
    for (const [key, value] of model) assert.equal(map.get(key), value);
  };

  it("is what a Map would be, and leaves every earlier one as it was", () => {
    fc.assert(
      fc.property(steps, (taken) => {
        let map = PersistentMap.empty<number>();
        const model = new Map<string, number>();
        const earlier: [PersistentMap<number>, Map<string, number>][] = [];
        for (const step of taken) {
          earlier.push([map, new Map(model)]);
          map = apply(map, step);
          if (step[1] === undefined) model.delete(step[0]);
          else model.set(step[0], step[1]);
        }
        assertSame(map, model);
        for (const [then, asItWas] of earlier) assertSame(then, asItWas);
      }),
    );
  });

  it("holds many", () => {
    const many = Array.from({ length: 50_000 }, (_, n) => `usr_${n.toString(36).padStart(8, "0")}`);
    let map = PersistentMap.empty<number>();
    for (const [n, key] of many.entries()) map = map.with(key, n);
    assert.equal(map.size, many.length);
    for (const [n, key] of many.entries()) assert.equal(map.get(key), n);
    for (const key of many) map = map.without(key);
    assert.equal(map.size, 0);
    assert.deepEqual([...map.keys()], []);
  });

  it("holds keys that no hash tells apart", () => {
    const keys = collisions(11);
    assert.equal(new Set(keys).size, 11);
    let map = PersistentMap.empty<number>();
    for (const [n, key] of keys.entries()) map = map.with(key, n);
    assert.equal(map.size, 11);
    for (const [n, key] of keys.entries()) assert.equal(map.get(key), n);
    for (const key of keys.slice(1)) map = map.without(key);
    assert.deepEqual([...map.keys()], keys.slice(0, 1));
  });
});

/**
 * Texts of one FNV-1a hash. From any state two pairs of code units lead to the same one: the first unit chosen so that
 * only the lower half of the state differs, the second so that it does not. Each such choice doubles their number.
 */
function collisions(count: number): string[] {
  const step = (hash: number, unit: number) => Math.imul(hash ^ unit, 0x01000193);
  let texts = [""];
  let state = 0x811c9dc5;
  while (texts.length < count) {
    const byUpperHalf = new Map<number, number>();
    for (let unit = 0; ; unit += 1) {
      const after = step(state, unit);
      const other = byUpperHalf.get(after >>> 16);
      byUpperHalf.set(after >>> 16, unit);
      if (other === undefined) continue;
      const second = (after ^ step(state, other)) & 0xffff;
      const pairs = [String.fromCharCode(unit, 0), String.fromCharCode(other, second)];
      texts = texts.flatMap((text) => pairs.map((pair) => text + pair));
      state = step(after, 0);
      break;
    }
  }
  return texts.slice(0, count);
}
