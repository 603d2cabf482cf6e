import assert from "node:assert/strict";
import fc from "fast-check";
import {
  compileCondition,
  evaluate,
  formatExpression,
  parseCondition,
  specialize,
  type Specialized,
} from "../../../src/policy/condition/index.ts";
import type { Expression } from "../../../src/policy/ir.ts";
import { UNAVAILABLE, type Attributes } from "../../../src/policy/value.ts";
import { anything, attributes, expression } from "./arbitraries.ts";
import { allCases } from "./cases.ts";
import { livelyAttributes, livelyExpression } from "./lively.ts";
import { runs } from "../../support/runs.ts";

const UNKNOWN: Expression = { op: "attribute", path: [] };
const ITEM: Expression = { op: "attribute", path: ["item"] };
const LATE = new Set(["item", "message"]);

/** What is known at the request in the tables below. */
const EARLY = {
  t: true,
  f: false,
  z: null,
  n: 7,
  zero: -0,
  s: "text",
  l: ["a", 1, null, { x: 1 }, ["b"]],
  scalars: ["a", 1],
  strings: ["a", "b"],
  numbers: [1, 2],
  none: [],
  o: { t: true, down: UNAVAILABLE },
  lone: "\ud800",
  nan: NaN,
  item: "not looked at",
} as unknown as Attributes;

function compiled(text: string): Expression {
  const { ast } = parseCondition(text);
  assert.ok(ast, text);
  return compileCondition(ast, text).expression;
}

/** The verdict, or the residual's text, where the unknown stands as `?`. */
function shown(result: Specialized): boolean | string {
  if (result.known) return result.verdict ?? "unknown";
  return formatExpression(marked(result.residual) as Expression);
}

function marked(part: unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  if (JSON.stringify(part) === JSON.stringify(UNKNOWN)) return { op: "attribute", path: ["unknown"] };
  return Array.isArray(part)
    ? part.map(marked)
    : Object.fromEntries(Object.entries(part).map(([name, below]) => [name, marked(below)]));
}

/** Every path that an expression reads. */
function pathsOf(part: unknown): string[][] {
  if (typeof part !== "object" || part === null) return [];
  if ("path" in part) return [part.path as string[]];
  return Object.values(part).flatMap(pathsOf);
}

function assertLaw(whole: Expression, values: Attributes, late: ReadonlySet<string>): void {
  const all = Object.entries(values);
  const before = Object.fromEntries(all.filter(([root]) => !late.has(root)));
  const after = Object.fromEntries(all.filter(([root]) => late.has(root)));
  const expected = evaluate(whole, values);
  const result = specialize(whole, before, late);
  if (result.known) {
    assert.equal(result.verdict, expected);
    return;
  }
  const { residual } = result;
  for (const [root] of pathsOf(residual)) assert.ok(root === undefined || late.has(root), root);
  assert.equal(evaluate(residual, after), expected);
  assert.equal(evaluate(JSON.parse(JSON.stringify(residual)) as Expression, after), expected);
  // a list of values that an attribute held has its items a level below
  assert.ok(depthOf(residual) <= depthOf(whole) + 1);
}

function depthOf(part: unknown): number {
  if (typeof part !== "object" || part === null) return 0;
  const below = Object.values(part).map(depthOf);
  return Math.max(0, ...below) + ("op" in part ? 1 : 0);
}

describe("a specialized condition", () => {
  const table: Record<string, boolean | string> = {
    // decided
    t: true,
    f: false,
    s: "unknown",
    missing: "unknown",
    "o.down": "unknown",
    "exists(o)": true,
    "exists(missing)": false,
    "exists(o.down)": "unknown",
    'n == 7 and s.startsWith("te")': true,
    "n < 7": false,
    "[]": "unknown",
    '"a" in l': true,
    '"a" in scalars and n in numbers': false,
    "n in numbers and missing": false,
    '"zz" in l': "unknown",
    '"zz" in scalars': "unknown",
    '"zz" in strings': false,
    '"s" in s': "unknown",
    // not known yet
    item: "item",
    "item.x": "item.x",
    "exists(item.x)": "exists(item.x)",
    "item.x in message.y": "item.x in message.y",
    // values stand as literals
    "item.x == n": "item.x == 7",
    "s != item.x": '"text" != item.x',
    "z == item.x": "null == item.x",
    "zero < item.x": "0 < item.x",
    "item.x.startsWith(s)": 'item.x.startsWith("text")',
    "s.endsWith(item.x)": '"text".endsWith(item.x)',
    "(n == 7) == item.x": "true == item.x",
    "item.x in scalars": 'item.x in ["a", 1]',
    "item.x in l": 'item.x in ["a", 1, null, [], []]',
    "item.x in [n, s, item.y, missing]": 'item.x in [7, "text", item.y, unknown]',
    "scalars == item.x": "[] == item.x",
    "o == item.x": "[] == item.x",
    "n in item.x": "7 in item.x",
    "o in item.x": "[] in item.x",
    "missing in item.x": "unknown in item.x",
    "(item.x == n) == item.y": "(item.x == 7) == item.y",
    // unknown, whatever comes
    "item.x == missing": "unknown",
    "lone == item.x": "unknown",
    "nan < item.x": "unknown",
    "not o.down != item.x": "unknown",
    "missing.startsWith(item.x)": "unknown",
    "item.x in n": "unknown",
    "missing in [item.x]": "unknown",
    // false, or true, whatever comes
    "item.x in none": false,
    "item.x in []": false,
    "missing in []": false,
    "n in [7, item.x]": true,
    "f and item.x": false,
    "t or item.x": true,
    // what is known and does not decide is left out
    "t and item.x": "item.x",
    "f or item.x": "item.x",
    "t and item.x and item.y": "item.x and item.y",
    "n in [8, item.x]": "7 in [item.x]",
    "n in [8, s, item.x]": "7 in [item.x, unknown]",
    "z in [8, s, item.x]": "null in [item.x]",
    "not not item.x": "item.x",
    "not (t and item.x)": "not item.x",
    "not (f and item.x)": true,
    "item.x and (f or (item.y and item.z))": "item.x and item.y and item.z",
    "item.x and (f or item.y or item.z)": "item.x and (item.y or item.z)",
    // the unknown stays where it matters
    "missing and item.x": "item.x and unknown",
    "missing and item.x and s": "item.x and unknown",
    "missing and item.x and f": false,
    "item.x or o.down": "item.x or unknown",
    "not (missing or item.x)": "not (item.x or unknown)",
    // a verdict as an operand is no value: null and 5 are unknown
    "(t and item.x) == null": "(item.x and true) == null",
    "(not not item.x) == null": "(item.x and true) == null",
    "(f or exists(item.x)) == t": "exists(item.x) == true",
  };
  for (const [text, expected] of Object.entries(table)) {
    it(`${text}  →  ${String(expected)}`, () => {
      const whole = compiled(text);
      assert.equal(shown(specialize(whole, EARLY, LATE)), expected);
      for (const item of [true, 7, "text", { x: 7, y: 7, z: true }, { x: null }, { x: ["zz", null] }, {}]) {
        assertLaw(whole, { ...EARLY, item }, LATE);
      }
    });
  }

  it("reads no late root in what is known now", () => {
    assert.deepEqual(specialize(ITEM, { item: true }, LATE), { known: false, residual: ITEM });
  });

  it("is unknown where an operator is of a later version, or a path is empty", () => {
    const later = { op: "matches", left: ITEM } as unknown as Expression;
    assert.deepEqual(specialize(later, EARLY, LATE), { known: true, verdict: undefined });
    assert.deepEqual(specialize(UNKNOWN, EARLY, LATE), { known: true, verdict: undefined });
    assert.deepEqual(specialize({ op: "exists", path: [] }, EARLY, LATE), { known: true, verdict: false });
    assert.deepEqual(specialize({ op: "and", args: [] }, EARLY, LATE), { known: true, verdict: undefined });
  });

  it("stays unknown below the depth limit, where less depth would make it known", () => {
    const nested = (levels: number, innermost: Expression): Expression =>
      levels === 0 ? innermost : { op: "not", arg: nested(levels - 1, innermost) };
    const sum: Expression = { op: "and", args: [ITEM, { op: "literal", value: true }] };
    for (const innermost of [ITEM, sum, { op: "==", left: ITEM, right: ITEM } as const]) {
      for (let levels = 508; levels <= 516; levels++) {
        for (const item of [true, 1]) assertLaw(nested(levels, innermost), { item }, LATE);
      }
    }
  });

  it("takes conditions of any width", () => {
    const wide: Expression = { op: "or", args: Array.from({ length: 300_000 }, () => ITEM) };
    const within: Expression = { op: "or", args: [ITEM, { op: "and", args: [compiled("t"), wide] }] };
    const result = specialize(within, EARLY, LATE);
    assert.ok(!result.known && result.residual.op === "or");
    assert.equal(result.residual.args.length, 300_001);
  });
});

describe("a condition and what is left of it", () => {
  const late = fc.uniqueArray(fc.constantFrom("user", "path", "constructor", "absent"));
  const livelyLate = fc.uniqueArray(fc.constantFrom("user", "item", "message"));

  it("come to the same, however the roots are split", () => {
    fc.assert(
      fc.property(livelyExpression, livelyAttributes, livelyLate, (made, values, roots) => {
        assertLaw(made, values, new Set(roots));
      }),
      { numRuns: runs(3000) },
    );
  });

  it("come to the same for values and names of any kind", () => {
    fc.assert(
      fc.property(expression, fc.oneof(attributes, anything), late, (made, values, roots) => {
        assertLaw(made, values as Attributes, new Set(roots));
      }),
      { numRuns: runs(1000) },
    );
  });

  it("come to the same in every published case", () => {
    let seen = 0;
    for (const one of [...allCases().values()].flat()) {
      const { ast } = parseCondition(one.condition);
      if (ast === undefined) continue;
      seen += 1;
      const { expression: made, reads } = compileCondition(ast, one.condition);
      const roots = [...new Set(reads.map(([root]) => root!))].slice(0, 3);
      for (let split = 0; split < 2 ** roots.length; split++) {
        assertLaw(made, one.attributes, new Set(roots.filter((_, index) => (split >> index) & 1)));
      }
    }
    assert.ok(seen > 1000);
  });

  it("come to the same in two steps", () => {
    fc.assert(
      fc.property(
        livelyExpression,
        livelyAttributes,
        livelyLate,
        livelyLate,
        (made, values, first, second) => {
          const once = specialize(made, values, new Set(first));
          const both = new Set(first.filter((root) => second.includes(root)));
          const again = once.known ? once : specialize(once.residual, values, both);
          for (const left of [again, specialize(made, values, both)]) {
            const verdict = left.known ? left.verdict : evaluate(left.residual, values);
            assert.equal(verdict, evaluate(made, values));
          }
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
