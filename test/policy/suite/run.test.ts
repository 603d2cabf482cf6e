import assert from "node:assert/strict";
import { coverageBySet, coverageGap } from "../../../src/policy/suite/coverage.ts";
import { allPassed, runSuite } from "../../../src/policy/suite/run.ts";
import type { RuleCoverage, SuiteDecision, SuiteInput } from "../../../src/policy/suite/types.ts";
import { decided, rule, suiteOf, testCase, UNPARTED } from "./support.ts";

const ALLOW = decided("allow", "CONDITION_TRUE", "policies[0]");
const DENY = decided("deny", "CONDITION_FALSE", "policies[0]");
const conditions = [
  rule("policies[0]", "read a customer"),
  rule("policies[1]", "home", true),
  rule("policies[2]"),
];

async function resultOf(expected: Parameters<typeof testCase>[1], actual: SuiteDecision) {
  const result = await runSuite(suiteOf(testCase("t", expected)), { conditions, decide: () => actual });
  return result.cases[0]!;
}

describe("policy suite: run", () => {
  it("hands each case's input to the decision, in order", async () => {
    const seen: SuiteInput[] = [];
    const cases = [testCase("a", { decision: "allow" }), testCase("b", { decision: "allow" })];
    const nothingElse = { differences: [], evaluated: ALLOW.evaluated };
    const result = await runSuite(suiteOf(...cases), {
      conditions,
      decide: (input) => {
        seen.push(input);
        return ALLOW;
      },
    });
    assert.deepEqual(
      seen,
      cases.map(({ input }) => input),
    );
    assert.deepEqual(result.cases, [
      { name: "a", line: 7, ok: true, expected: { decision: "allow" }, actual: ALLOW, ...nothingElse },
      { name: "b", line: 7, ok: true, expected: { decision: "allow" }, actual: ALLOW, ...nothingElse },
    ]);
    assert.equal(result.file, "a.test.yaml");
    assert.equal(result.policySet, "default");
  });

  it("compares the decision", async () => {
    assert.equal((await resultOf({ decision: "allow" }, ALLOW)).ok, true);
    assert.equal((await resultOf({ decision: "allow" }, DENY)).ok, false);
    assert.equal((await resultOf({ decision: "deny" }, ALLOW)).ok, false);
  });

  it("compares the reason where one is expected", async () => {
    assert.equal((await resultOf({ decision: "deny", reason: "CONDITION_FALSE" }, DENY)).ok, true);
    assert.equal((await resultOf({ decision: "deny", reason: "CONDITION_UNKNOWN" }, DENY)).ok, false);
  });

  it("compares the rule where one is expected, by id or by name", async () => {
    assert.equal((await resultOf({ decision: "allow", rule: "policies[0]" }, ALLOW)).ok, true);
    assert.equal((await resultOf({ decision: "allow", rule: "read a customer" }, ALLOW)).ok, true);
    assert.equal((await resultOf({ decision: "allow", rule: "policies[1]" }, ALLOW)).ok, false);
    assert.equal((await resultOf({ decision: "allow", rule: "home" }, ALLOW)).ok, false);
    const none = decided("deny", "NO_MATCHING_RULE");
    assert.equal((await resultOf({ decision: "deny", rule: "policies[0]" }, none)).ok, false);
  });

  it("fails a case that names a rule the set does not have, and names the nearest", async () => {
    const near = await resultOf({ decision: "allow", rule: "read a custmer" }, ALLOW);
    assert.equal(near.ok, false);
    assert.equal(
      near.problem,
      "the policy set has no rule `read a custmer`; did you mean `read a customer`?",
    );
    assert.equal(
      (await resultOf({ decision: "allow", rule: "zzzzzzzzzzzz" }, ALLOW)).problem,
      "the policy set has no rule `zzzzzzzzzzzz`; use one of: `policies[0]`, `read a customer`, `policies[1]`, `home`, `policies[2]`",
    );
  });

  it("fails a case that names a rule where the set has none", async () => {
    const result = await runSuite(suiteOf(testCase("t", { decision: "deny", rule: "home" })), {
      conditions: [],
      decide: () => DENY,
    });
    assert.equal(result.cases[0]!.problem, "the policy set has no rule `home`");
  });

  it("fails a case whose decision throws, and goes on", async () => {
    let calls = 0;
    const cases = ["a", "b", "c", "d"].map((name) => testCase(name, { decision: "deny" }));
    const result = await runSuite(suiteOf(...cases), {
      conditions,
      decide: () => {
        calls += 1;
        if (calls === 1) throw new Error("it broke");
        if (calls === 2) return Promise.reject(new Error("it broke later"));
        if (calls === 3) throw "a string" as unknown as Error;
        return DENY;
      },
    });
    assert.deepEqual(
      result.cases.map(({ ok, problem }) => ({ ok, problem })),
      [
        { ok: false, problem: "deciding failed: it broke" },
        { ok: false, problem: "deciding failed: it broke later" },
        { ok: false, problem: "deciding failed: a string" },
        { ok: true, problem: undefined },
      ],
    );
    assert.equal(allPassed([result]), false);
  });

  it("passes only where there is something that passed", async () => {
    const subject = { conditions, decide: () => ALLOW };
    assert.equal(allPassed([]), false);
    assert.equal(allPassed([await runSuite(suiteOf(), subject)]), false);
    assert.equal(allPassed([await runSuite(suiteOf(testCase("t", { decision: "allow" })), subject)]), true);
    assert.equal(
      allPassed([
        await runSuite(suiteOf(testCase("t", { decision: "allow" })), subject),
        await runSuite(suiteOf(testCase("t", { decision: "deny" })), subject),
      ]),
      false,
    );
  });
});

describe("policy suite: coverage", () => {
  const decide = (input: SuiteInput) => {
    const [reason = "", id] = input.request.path!.split(" ");
    return decided("deny", reason, id);
  };
  const run = (...paths: string[]) =>
    runSuite(
      suiteOf(
        ...paths.map((path) => {
          const test = testCase(path, { decision: "deny" });
          return { ...test, input: { ...test.input, request: { ...test.input.request, path } } };
        }),
      ),
      { conditions, decide },
    );

  it("counts what each rule's condition was", async () => {
    const { coverage } = await run(
      "CONDITION_TRUE policies[0]",
      "CONDITION_TRUE policies[0]",
      "CONDITION_FALSE policies[0]",
      "CONDITION_UNKNOWN policies[0]",
      "IDENTITY_REQUIRED policies[0]",
      "CONDITION_TRUE policies[1]",
      "NO_MATCHING_RULE",
      "CONDITION_TRUE policies[77]",
    );
    assert.deepEqual(coverage, [
      {
        id: "policies[0]",
        name: "read a customer",
        true: 2,
        false: 1,
        unknown: 2,
        constant: false,
        ...UNPARTED,
      },
      { id: "policies[1]", name: "home", true: 1, false: 0, unknown: 0, constant: true, ...UNPARTED },
      { id: "policies[2]", true: 0, false: 0, unknown: 0, constant: false, ...UNPARTED },
    ]);
  });

  it("says what is left out; a constant rule need only be reached", () => {
    const gap = (counts: Partial<RuleCoverage>) =>
      coverageGap({ id: "r", true: 0, false: 0, unknown: 0, constant: false, ...UNPARTED, ...counts });
    assert.equal(gap({}), "never reached");
    assert.equal(gap({ constant: true }), "never reached");
    assert.equal(gap({ constant: true, true: 1 }), "");
    assert.equal(gap({ false: 1 }), "never true");
    assert.equal(gap({ true: 1 }), "never false");
    assert.equal(gap({ true: 1, unknown: 1 }), "never false");
    assert.equal(gap({ true: 1, false: 1 }), "");
  });

  it("adds up several files of one set, and keeps sets apart", async () => {
    const first = await run("CONDITION_TRUE policies[0]");
    const second = await run("CONDITION_FALSE policies[0]", "CONDITION_UNKNOWN policies[2]");
    const other = { ...(await run("CONDITION_TRUE policies[1]")), policySet: "other" };
    const sets = coverageBySet([first, other, second]);
    assert.deepEqual([...sets.keys()], ["default", "other"]);
    const [a, , c] = sets.get("default")!;
    assert.deepEqual([a!.true, a!.false, a!.unknown], [1, 1, 0]);
    assert.deepEqual([c!.true, c!.false, c!.unknown], [0, 0, 1]);
    assert.equal(sets.get("other")![1]!.true, 1);
  });

  it("keeps what it has where a file was run against fewer rules", async () => {
    const first = await run("CONDITION_TRUE policies[0]");
    const sets = coverageBySet([first, { ...first, coverage: [] }]);
    assert.deepEqual(sets.get("default"), first.coverage);
  });
});
