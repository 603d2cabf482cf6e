import assert from "node:assert/strict";
import fc from "fast-check";
import { documentDifferences, setDifferences } from "../../../src/policy/suite/differences.ts";
import type { Value } from "../../../src/policy/value.ts";
import { runs } from "../../support/runs.ts";

const differences = (json: Value, text: string) => documentDifferences({ json }, text);

describe("policy suite: differences", () => {
  it("are none where documents mean the same", () => {
    assert.deepEqual(differences({ a: [1, { b: null }], c: "x" }, ' {"c":"x", "a":[1.0,{"b":null}]} '), []);
    assert.deepEqual(differences(0, "-0"), []);
    assert.deepEqual(documentDifferences({ text: "{ }" }, "{ }"), []);
  });

  it("say where, what was expected, and what came", () => {
    assert.deepEqual(differences({ a: { b: 1, "x-y": true } }, '{"a":{"b":2,"c":"d"}}'), [
      "$.a.b: expected 1, got 2",
      '$.a["x-y"]: expected true, got nothing',
      '$.a.c: expected nothing, got "d"',
    ]);
    assert.deepEqual(differences([1, 2], "[1]"), ["$[1]: expected 2, got nothing"]);
    assert.deepEqual(differences([1], "[1,[2]]"), ["$[1]: expected nothing, got [2]"]);
    assert.deepEqual(differences({}, "[]"), ["$: expected {}, got []"]);
    assert.deepEqual(differences([], "{}"), ["$: expected [], got {}"]);
    assert.deepEqual(differences(null, "false"), ["$: expected null, got false"]);
    assert.deepEqual(documentDifferences({ text: "{ }" }, "{}"), ['expected "{ }", got "{}"']);
    assert.deepEqual(differences({}, "no"), ['expected {}, got "no", which is not JSON']);
  });

  it("take members by name alone", () => {
    const own = JSON.parse('{"__proto__":{"a":1}}') as Value;
    assert.deepEqual(differences(own, '{"__proto__":{"a":1}}'), []);
    assert.deepEqual(differences({ constructor: 1 }, "{}"), ["$.constructor: expected 1, got nothing"]);
  });

  it("are cut where there are many, or long ones", () => {
    const many = differences(
      {},
      JSON.stringify(Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`k${n}`, n]))),
    );
    assert.equal(many.length, 21);
    assert.equal(many.at(-1), "… 5 more");
    const [long] = documentDifferences({ text: "a" }, `${"x".repeat(118)}😀😀`);
    assert.ok(long!.length < 160 && long!.isWellFormed());
  });

  it("are none exactly where documents are equal", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [x, y] = [a, b] as Value[];
        assert.deepEqual(differences(x!, JSON.stringify(x)), []);
        const same = JSON.stringify(sorted(x!)) === JSON.stringify(sorted(y!));
        assert.equal(differences(x!, JSON.stringify(y)).length === 0, same);
      }),
      { numRuns: runs(200) },
    );
  });

  it("of sets are what is missing and what is too much", () => {
    assert.deepEqual(setDifferences(["a", "b"], ["b", "a"]), []);
    assert.deepEqual(setDifferences(["a"], ["b"]), [
      'expected "a", which is missing',
      'got "b", which was not expected',
    ]);
  });
});

function sorted(value: Value): Value {
  if (Array.isArray(value)) return (value as Value[]).map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}
