import assert from "node:assert/strict";
import fc from "fast-check";
import {
  compareConditions,
  confirmed,
  Effort,
  FALSE,
  findAttributes,
  TRUE,
  UNKNOWN,
  unconfirmed,
  UNRESTRICTED,
} from "../../../src/policy/analyze/index.ts";
import { compileCondition, evaluate, parseCondition } from "../../../src/policy/condition/index.ts";
import type { Expression } from "../../../src/policy/ir.ts";
import { runs } from "../../support/runs.ts";
import { attributes, expression } from "../condition/arbitraries.ts";
import { livelyAttributes, livelyExpression } from "../condition/lively.ts";

function compiled(text: string): Expression {
  const { ast } = parseCondition(text);
  assert.ok(ast, text);
  return compileCondition(ast, text).expression;
}

/** All characters that texts are usually built from. */
const LETTERS = "mnxkqjvwghrtuypsdflcezbioa5463728190MNXKQJVWGHRTUYPSDFLCEZBIOA-_~";

/** The verdicts that a condition can have, by initial: `tfu`; `?` if it is not decided. */
function possible(text: string): string {
  const found = [TRUE, FALSE, UNKNOWN].map((verdicts) => {
    const { kind } = findAttributes([{ expression: compiled(text), verdicts }]);
    return kind === "found" ? verdicts : kind;
  });
  return found
    .map((each, index) => (each === "undecided" ? "?" : each === "none" ? "" : "tfu"[index]))
    .join("");
}

function change(before: string, after: string): string {
  return compareConditions(compiled(before), compiled(after)).change;
}

describe("attributes that make a condition true, false or unknown", () => {
  after(() => {
    assert.equal(unconfirmed.count, 0);
  });

  for (const [text, expected] of [
    ['user.role == "a"', "tfu"],
    ['user.role == "a" and user.role == "b"', "fu"],
    ['user.role != "a" or user.role != "b"', "tu"],
    ["exists(user.a) and not exists(user.a)", "fu"],
    ["exists(user.a.b) and not exists(user.a)", "fu"],
    ["exists(user.a.b) and user.a == 1", "fu"],
    ["user.a == user.a", "tu"],
    ["user.a > 1 and user.a < 2", "tfu"],
    ["user.a > 1 and user.a < 1.0000000000000002", "fu"],
    ['user.a > "a" and user.a < "a\\u0000"', "fu"],
    ['user.a > "a" and user.a < "a\\u0000\\u0000"', "tfu"],
    ['user.a > "a" and user.a < "b" and user.a.endsWith("zz") and not user.a.startsWith("am")', "tfu"],
    ['user.a.startsWith("ab") and user.a < "ab"', "fu"],
    ['user.a.startsWith("ab") and "abc".startsWith(user.a) and user.a != "ab" and user.a != "abc"', "fu"],
    ['"abc".endsWith(user.a) and not "abc".startsWith(user.a)', "tfu"],
    ["user.a < user.b and user.b < user.c and user.c < user.a", "fu"],
    ["user.a < user.b and user.b < user.c and user.a > 1 and user.c < 2", "tfu"],
    ["user.a == user.b and user.b == user.c and user.a != user.c", "fu"],
    ['user.a > "\\ud7ff" and user.a < "\\ue000" and not user.a.startsWith("\\ud7ff")', "fu"],
    ['user.a > "\\ud7ff" and not user.a.startsWith("\\ud7ff") and user.a < "\\ue001"', "tfu"],
    [`user.a.endsWith("z") and user.a > "${LETTERS}" and user.b`, "tfu"],
    ['user.list.includes("a") and user.list.includes("b")', "tfu"],
    ['user.list.includes("a") and user.list.includes(1) and not user.list.includes("b")', "fu"],
    ["user.a in user.list and user.list.includes(user.b) and user.a != user.b", "tfu"],
    ['user.a in user.list and user.list == "a"', "fu"],
    ['user.a in ["x", "y"] and user.a not in ["y", "z"] and user.a != "x"', "fu"],
    ["(user.a == 1) == (user.a == 1)", "tu"],
    ["(user.a == 1) == (user.a != 1)", "fu"],
    ["(user.a == 1) in user.list and not user.list.includes(true)", "tfu"],
    ["(user.a == 1) in [] or user.b", "tfu"],
    ["1 in 2", "u"],
    ['1 in ("a" == "b")', "u"],
    ["[] == null", "f"],
    ["true and 1 == 1", "t"],
    ["user.a.startsWith(user.b) and user.b.startsWith(user.a) and user.a != user.b", "?fu"],
    ["user.a.startsWith(user.b) and user.a == 1", "fu"],
    ['user.a.startsWith(user.b) and user.a < "b" and user.b > "c"', "?fu"],
    ['user.a.startsWith(user.b) and user.b.endsWith("zz") and user.a.endsWith("y")', "tfu"],
  ] as const) {
    it(`${expected.padEnd(3)}  ${text}`, () => {
      assert.equal(possible(text), expected);
    });
  }

  for (const [before, after, expected] of [
    ['user.a == "x" and user.b', 'user.a == "x"', "wider"],
    ['user.a == "x"', 'user.a == "x" and user.b', "narrower"],
    ['user.a == "x"', 'user.a != "x"', "incomparable"],
    ['user.a in ["x", "y"]', 'user.a == "y" or "x" == user.a', "equivalent"],
    ["not (user.a < 1)", "user.a >= 1", "equivalent"],
    ["not (user.a < 1 or user.b)", "user.b == false and 1 <= user.a", "equivalent"],
    ["user.a >= 1", "not exists(user.a) or user.a >= 1", "wider"],
    ['user.a.startsWith("/api/")', 'user.a.startsWith("/ap")', "wider"],
    ["user.a == user.b", "user.b == user.a and user.a == user.b", "equivalent"],
    [
      "(user.a or user.b) and (user.c or user.d)",
      "user.a and user.c or user.a and user.d or user.b and user.c or user.b and user.d",
      "equivalent",
    ],
  ] as const) {
    it(`from ${before} to ${after} is ${expected}`, () => {
      assert.equal(change(before, after), expected);
    });
  }

  it("gives up when attributes that depend on each other can have too many values", () => {
    const names = ["a", "b", "c", "d", "e"];
    const chain = names.map((name, index) => `user.${name} < user.${names[(index + 1) % 5]}`);
    const literals = Array.from({ length: 15 }, (_, index) => `user.a != "${index}"`);
    const text = [...chain, ...literals].join(" and ");
    const finding = findAttributes([{ expression: compiled(text), verdicts: TRUE }]);
    assert.match(finding.kind === "undecided" ? finding.why : finding.kind, /^too many combinations of /);
  });

  it("takes no example that the evaluator does not confirm", () => {
    const finding = confirmed([{ expression: compiled("user.a == 1"), verdicts: TRUE }], { user: { a: 2 } });
    assert.equal(unconfirmed.count, 1);
    unconfirmed.count = 0;
    assert.deepEqual(finding, {
      kind: "undecided",
      why: "an example was found, but the evaluator does not confirm it",
    });
  });

  it("gives up when what it may cost is used up, by this or an earlier search", () => {
    const goal = { expression: compiled("user.a < user.b and user.b < user.c"), verdicts: TRUE };
    const find = (effort: Effort) => findAttributes([goal], UNRESTRICTED, effort).kind;
    assert.equal(find(new Effort(1000)), "found");
    assert.equal(find(new Effort(100)), "undecided");
    const whole = new Effort(300);
    const kinds = Array.from({ length: 4 }, () => find(new Effort(1000, whole)));
    assert.deepEqual([kinds[0], kinds.at(-1)], ["found", "undecided"]);
  });

  it("gives up when there are too many combinations", () => {
    const all = Array.from({ length: 40 }, (_, index) => `user.a${index} != user.a${index + 1}`);
    const few = Array.from({ length: 41 }, (_, index) => `user.a${index} in ["x", "y"]`);
    const text = [...all, "user.a0 != user.a40", ...few].join(" and ");
    assert.match(possible(text), /^(?:\?|)fu$/);
  });

  for (const [name, arbitrary, values] of [
    ["any", expression, attributes],
    ["lively", livelyExpression, livelyAttributes],
  ] as const) {
    it(`finds every verdict that ${name} conditions have over some attributes`, () => {
      fc.assert(
        fc.property(arbitrary, fc.array(values, { minLength: 5, maxLength: 5 }), (condition, tries) => {
          for (const each of tries) {
            const verdict = evaluate(condition, each);
            const verdicts = verdict === undefined ? UNKNOWN : verdict ? TRUE : FALSE;
            const finding = findAttributes([{ expression: condition, verdicts }], UNRESTRICTED);
            assert.notEqual(finding.kind, "none");
          }
        }),
        { numRuns: runs(300) },
      );
    });

    it(`finds every difference between two ${name} conditions that some attributes show`, () => {
      fc.assert(
        fc.property(
          arbitrary,
          arbitrary,
          fc.array(values, { minLength: 20, maxLength: 20 }),
          (before, after, tries) => {
            const { gained, lost } = compareConditions(before, after);
            for (const each of tries) {
              const [old, now] = [evaluate(before, each), evaluate(after, each)];
              if (now === true && old !== true) assert.notEqual(gained.kind, "none");
              if (old === true && now !== true) assert.notEqual(lost.kind, "none");
            }
          },
        ),
        { numRuns: runs(300) },
      );
    });
  }
});
