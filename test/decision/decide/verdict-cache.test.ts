import assert from "node:assert/strict";
import { inspect } from "node:util";
import fc from "fast-check";
import { VerdictCache } from "../../../src/decision/decide/verdict-cache.ts";
import {
  evaluate,
  pathsIn,
  UNAVAILABLE,
  type AttributePath,
  type Attributes,
  type ConditionIR,
  type Expression,
  type Verdict,
} from "../../../src/policy/index.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";
import { attributes, expression } from "../../policy/condition/arbitraries.ts";
import { never } from "../support.ts";
import { runs } from "../../support/runs.ts";

const RUNS = runs(300);

const conditionOf = (expression: Expression): ConditionIR => ({
  expression,
  source: "",
  reads: pathsIn(expression),
});

/** Values that look alike once they are written down carelessly. */
const ALIKE: readonly unknown[] = [
  undefined,
  UNAVAILABLE,
  null,
  "null",
  true,
  "true",
  1,
  "1",
  "",
  "s1:a",
  "a",
  "a|b",
  "m",
  "u",
  "n1;",
  "1;s0:",
  [],
  "[]",
  [null],
  [undefined],
  [Infinity],
  [NaN],
  [UNAVAILABLE],
  ["1"],
  [1],
  ["a,b"],
  ["a", "b"],
  ['a","b'],
  [["a"], "b"],
  [["a", "b"]],
  ["s1:a"],
  Infinity,
  NaN,
  "\ud800",
  "\\ud800",
  ["\ud800"],
  ["\\ud800"],
  {},
  { a: 1 },
  { a: "1" },
  { a: UNAVAILABLE },
  { a: undefined },
];

describe("decision: verdict cache", () => {
  let metrics: Metrics;
  beforeEach(() => {
    metrics = createMetrics();
  });
  const cacheOf = (size = 100, ttlMs = 60_000) => new VerdictCache({ size, ttlMs }, metrics);
  const count = async (name: "cacheHits" | "cacheMisses" | "cacheEvictions", cache: string) =>
    (await metrics[name].get()).values.find(({ labels }) => labels.cache === cache)?.value ?? 0;
  const user = conditionOf({ op: "attribute", path: ["user", "a"] });
  const ask = (cache: VerdictCache, a: unknown, verdict: Verdict, rule = "r", identified = true) =>
    cache.verdict(rule, user, { user: { a } } as Attributes, identified, () => verdict);

  it("has the property that what it remembers is what evaluating says, for any conditions and attributes", () => {
    fc.assert(
      fc.property(
        fc.array(expression, { minLength: 1, maxLength: 3 }),
        fc.array(attributes, { minLength: 1, maxLength: 6 }),
        (expressions, all) => {
          const cache = cacheOf(1_000);
          const conditions = expressions.map(conditionOf);
          for (let round = 0; round < 2; round += 1) {
            for (const [index, condition] of conditions.entries()) {
              for (const one of all) {
                const fresh = evaluate(condition.expression, one);
                const kept = cache.verdict(`rule ${index}`, condition, one, true, () => fresh);
                assert.equal(kept, fresh);
              }
            }
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("has the property that values which look alike, one beside the other, share no entry", () => {
    const one = fc.constantFrom(...ALIKE);
    const pair = fc.tuple(one, one);
    const reads: readonly AttributePath[] = [
      ["user", "a"],
      ["user", "b"],
    ];
    const condition: ConditionIR = { ...user, reads };
    const of = ([a, b]: readonly unknown[]) => ({ user: { a, b } }) as Attributes;
    fc.assert(
      fc.property(pair, pair, (left, right) => {
        const same = left.every((value, index) => Object.is(value, right[index]));
        const cache = cacheOf();
        cache.verdict("r", condition, of(left), true, () => true);
        let evaluated = false;
        cache.verdict("r", condition, of(right), true, () => {
          evaluated = true;
          return false;
        });
        assert.equal(evaluated, !same);
      }),
      { numRuns: RUNS },
    );
  });

  it("tells apart every two values that look alike", () => {
    for (const left of ALIKE) {
      for (const right of ALIKE) {
        if (Object.is(left, right)) continue;
        const cache = cacheOf();
        ask(cache, left, true);
        assert.equal(ask(cache, right, false), false, inspect([left, right]));
      }
    }
  });

  it("tells apart values that are one text when they stand side by side", () => {
    const reads: readonly AttributePath[] = [["a"], ["b"]];
    const pairs: readonly (readonly [unknown, unknown])[] = [
      ["x", "ysz"],
      ["xsy", "z"],
      ["xs1:y", "z"],
      ["x", "1:ys1:z"],
      [["x", "ysz"], "q"],
      [["xsy", "z"], "q"],
      [["x"], ["y"]],
      [["x", "y"], []],
      [1, 23],
      [12, 3],
    ];
    for (const left of pairs) {
      const cache = cacheOf();
      const verdict = ([a, b]: readonly [unknown, unknown], says: boolean) =>
        cache.verdict("r", { ...user, reads }, { a, b } as Attributes, true, () => says);
      verdict(left, true);
      for (const right of pairs) assert.equal(verdict(right, false), right === left, inspect([left, right]));
    }
  });

  it("keeps the verdicts of rules apart", () => {
    const cache = cacheOf();
    ask(cache, "x", true, "one");
    assert.equal(ask(cache, "x", false, "two"), false);
  });

  it("remembers all three verdicts, and counts hits by space", async () => {
    const cache = cacheOf();
    const verdicts: readonly Verdict[] = [true, false, undefined];
    for (const [index, verdict] of verdicts.entries()) assert.equal(ask(cache, index, verdict), verdict);
    for (const [index, verdict] of verdicts.entries())
      assert.equal(cache.verdict("r", user, { user: { a: index } }, true, never), verdict);
    assert.equal(await count("cacheMisses", "decisions"), 3);
    assert.equal(await count("cacheHits", "decisions"), 1);
    assert.equal(await count("cacheHits", "denials"), 2);
  });

  it("keeps permits from being pushed out by denials, and counts what is pushed out", async () => {
    const cache = cacheOf(3);
    for (const name of ["a", "b", "c"]) ask(cache, name, true);
    for (let index = 0; index < 50; index += 1)
      ask(cache, `denied ${index}`, index % 2 === 0 ? false : undefined);
    for (const name of ["a", "b", "c"])
      assert.equal(cache.verdict("r", user, { user: { a: name } }, true, never), true);
    assert.equal(await count("cacheEvictions", "denials"), 47);
    assert.equal(await count("cacheEvictions", "decisions"), 0);
    ask(cache, "d", true);
    assert.equal(await count("cacheEvictions", "decisions"), 1);
  });

  it("keeps verdicts of callers with an identity from being pushed out by anonymous ones, permits too", () => {
    const cache = cacheOf(3);
    for (const name of ["a", "b", "c"]) ask(cache, name, true);
    ask(cache, "denied", false);
    for (let index = 0; index < 50; index += 1) ask(cache, `anonymous ${index}`, index % 2 === 0, "r", false);
    for (const name of ["a", "b", "c"])
      assert.equal(cache.verdict("r", user, { user: { a: name } }, true, never), true);
    assert.equal(cache.verdict("r", user, { user: { a: "denied" } }, true, never), false);
  });

  it("is bounded by bytes: long keys leave room for fewer", async () => {
    const cache = cacheOf(100);
    for (let index = 0; index < 100; index += 1) ask(cache, `${"x".repeat(2_000)}${index}`, true);
    const evicted = await count("cacheEvictions", "decisions");
    // 100 KiB hold no more than 24 keys of 2,000 characters, and 100 short ones
    assert.ok(evicted >= 76 && evicted < 100, String(evicted));
    const short = cacheOf(100);
    for (let index = 0; index < 100; index += 1) ask(short, `${index}`, true);
    assert.equal(await count("cacheEvictions", "decisions"), evicted);
  });

  it("forgets after its time", async () => {
    const cache = cacheOf(10, 1);
    ask(cache, "x", true);
    const end = Date.now() + 60_000;
    while (ask(cache, "x", false) && Date.now() < end) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(ask(cache, "x", false), false);
  });

  it("is off at size 0, and at no time to live", async () => {
    for (const cache of [cacheOf(0), cacheOf(10, 0)]) {
      ask(cache, "x", true);
      assert.equal(ask(cache, "x", false), false);
    }
    assert.equal(await count("cacheMisses", "decisions"), 0);
  });

  it("keeps nothing that was asked with very long values, so that nobody fills the memory with them", async () => {
    const cache = cacheOf();
    const long = "x".repeat(5_000);
    ask(cache, long, true);
    assert.equal(ask(cache, long, false), false);
    assert.equal(await count("cacheMisses", "decisions"), 2);
    const shorter = "x".repeat(3_000);
    ask(cache, shorter, true);
    assert.equal(ask(cache, shorter, false), true);
  });
});
