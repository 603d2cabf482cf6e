import assert from "node:assert/strict";
import fc from "fast-check";
import { diffPolicySets, redundantTo, RulesByPath } from "../../../src/policy/analyze/index.ts";
import { overlap } from "../../../src/policy/analyze/overlap.ts";
import { createMatcher } from "../../../src/policy/match/matcher.ts";
import { compilePolicySet, type PolicySetIR } from "../../../src/policy/index.ts";
import { runs } from "../../support/runs.ts";

/** Names that differ only in letter case are other spellings. */
const NAMES = ["a", "b", "A"];
const METHODS = ["GET", "HEAD", "POST", "*"];

const pattern = fc
  .tuple(fc.array(fc.constantFrom(...NAMES, "{p}", "{p}"), { maxLength: 2 }), fc.constantFrom("", "", "/**"))
  .map(
    ([segments, rest]) => `/${segments.map((one, index) => one.replace("p", `p${index}`)).join("/")}${rest}`,
  )
  .map((text) => text.replace("//", "/"));
const rule = fc.tuple(fc.constantFrom(...METHODS), pattern, fc.boolean());
const rules = fc.uniqueArray(rule, {
  maxLength: 6,
  selector: ([method, path]) => `${method} ${path.replaceAll(/\{p\d\}/g, "{}")}`,
});

function setOf(
  all: readonly (readonly [string, string, boolean])[],
  allow: boolean,
): PolicySetIR | undefined {
  const texts = all.map(
    ([method, path, permits]) => `  - { resource: "${method} ${path}", condition: ${permits} }\n`,
  );
  const text = `default: ${allow ? "allow" : "deny"}\npolicies:${texts.length === 0 ? " []" : ""}\n${texts.join("")}`;
  return compilePolicySet([{ name: "default.yaml", text }]).ir;
}

/** Other spellings of these, and a name that no rule has. */
const SENT = [...NAMES, "B", "a.", "b.", "zzz"];
const PATHS = Array.from({ length: 4 }, (_, length) => length).flatMap((length) =>
  Array.from({ length: SENT.length ** length }, (_, number) =>
    Array.from(
      { length },
      (__, place) => SENT[Math.floor(number / SENT.length ** place) % SENT.length] ?? "",
    ),
  ),
);

function permits(set: PolicySetIR): (method: string, path: readonly string[]) => boolean {
  const matcher = createMatcher(set);
  return (method, path) => {
    const match = matcher.match(method, path);
    if (match.kind === "none") return set.default === "allow";
    return match.kind === "rule" && match.rule.condition.source === "true";
  };
}

describe("the difference of routes", () => {
  it("is found if and only if some request is decided differently", () => {
    let [gained, lost] = [0, 0];
    fc.assert(
      fc.property(rules, rules, fc.boolean(), fc.boolean(), (one, other, keep, allow) => {
        // mostly the same rules, one of them added, removed or changed
        const [before, after] = [
          setOf(one, allow),
          setOf(keep ? [...one.slice(1), ...other.slice(0, 1)] : other, allow),
        ];
        if (before === undefined || after === undefined) return;
        const [old, now] = [permits(before), permits(after)];
        const all = PATHS.flatMap((path) =>
          ["GET", "HEAD", "POST", "PURGE"].map((method) => [method, path] as const),
        );
        const isGained = all.some(([method, path]) => !old(method, path) && now(method, path));
        const isLost = all.some(([method, path]) => old(method, path) && !now(method, path));
        const changes = new Set(diffPolicySets(before, after).map(({ change }) => change));
        const isUndecided = changes.has("undecided");
        gained += Number(isGained);
        lost += Number(isLost);
        const context = JSON.stringify({ one, other, keep, allow, changes: [...changes] });
        if (isGained) assert.ok(changes.has("wider") || isUndecided, context);
        if (isLost) assert.ok(changes.has("narrower") || isUndecided, context);
        if (!isGained) assert.ok(!changes.has("wider"), context);
        if (!isLost) assert.ok(!changes.has("narrower"), context);
      }),
      { numRuns: runs(500) },
    );
    assert.ok(gained > 50 && lost > 50, `${gained} ${lost}`);
  });

  it("is looked for among the rules whose paths overlap, in any spelling", () => {
    const fold = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
    fc.assert(
      fc.property(rules, pattern, (all, path) => {
        const set = setOf(all, false);
        const [asked] = setOf([["GET", path, true]], false)?.rules ?? [];
        if (set === undefined || asked === undefined) return;
        assert.deepEqual(
          new RulesByPath(set.rules).overlapping(asked.segments),
          set.rules.filter(({ segments }) => overlap(segments, asked.segments, fold)),
        );
      }),
      { numRuns: runs(500) },
    );
  });

  it("is nothing without a redundant rule, except in spelling", () => {
    let found = 0;
    fc.assert(
      fc.property(rules, fc.boolean(), (all, allow) => {
        const set = setOf(all, allow);
        for (const rule of set?.rules ?? []) {
          const without = set!.rules.filter((other) => other !== rule);
          if (redundantTo(rule, without, set!) === undefined) continue;
          found += 1;
          const [old, now] = [permits(set!), permits({ ...set!, rules: without })];
          const matcher = createMatcher(set!);
          for (const path of PATHS) {
            for (const method of ["GET", "HEAD", "POST", "PURGE"]) {
              if (matcher.match(method, path).kind !== "case")
                assert.equal(
                  now(method, path),
                  old(method, path),
                  JSON.stringify([all, allow, method, path]),
                );
            }
          }
        }
      }),
      { numRuns: runs(300) },
    );
    assert.ok(found > 10, String(found));
  });
});
