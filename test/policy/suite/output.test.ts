import assert from "node:assert/strict";
import { junit } from "../../../src/policy/suite/junit.ts";
import { renderSuite } from "../../../src/policy/suite/render.ts";
import type { CaseResult, SuiteResult } from "../../../src/policy/suite/types.ts";
import { decided, UNPARTED } from "./support.ts";

const NOTHING_ELSE = { differences: [], evaluated: [] } as const;

const passed: CaseResult = {
  name: "a manager reads a customer",
  line: 4,
  ok: true,
  expected: { decision: "allow" },
  actual: decided("allow", "CONDITION_TRUE", "policies[0]"),
  ...NOTHING_ELSE,
};
const failed: CaseResult = {
  name: "a viewer reads a customer",
  line: 9,
  ok: false,
  expected: { decision: "deny", reason: "CONDITION_FALSE", rule: "policies[0]" },
  actual: decided("allow", "DEFAULT_ALLOW", undefined, {
    explanation: "no rule matches GET /\nclosest: policies[0]\n",
  }),
  ...NOTHING_ELSE,
};
const broken: CaseResult = {
  name: "broken",
  line: 12,
  ok: false,
  expected: failed.expected,
  problem: "deciding failed: it broke",
  ...NOTHING_ELSE,
};

function result(cases: readonly CaseResult[], changes: Partial<SuiteResult> = {}): SuiteResult {
  return { file: "a.test.yaml", policySet: "default", cases, coverage: [], ...changes };
}

/** A reader of the XML that junit() may write, strict enough to reject what is not well-formed. */
function assertWellFormed(xml: string): void {
  assert.match(xml, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n/);
  // XML 1.0 section 2.2, Char
  assert.match(xml, /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u);
  const open: string[] = [];
  const body = xml.slice(xml.indexOf("\n") + 1);
  const token =
    /<(\/?)([a-z]+)((?: [a-z]+="(?:[^<&"]|&(?:amp|lt|gt|quot|#39);)*")*)(\/?)>|(?:[^<>&]|&(?:amp|lt|gt|quot|#39);)+/gy;
  while (token.lastIndex < body.length) {
    const at = token.lastIndex;
    const match = token.exec(body);
    assert.ok(match, `not well-formed at: ${body.slice(at, at + 60)}`);
    const [, closing, name, attributes, empty] = match;
    if (name === undefined) continue;
    const names = [...attributes!.matchAll(/ ([a-z]+)=/g)].map((found) => found[1]);
    assert.equal(new Set(names).size, names.length, "an attribute is repeated");
    if (closing === "/") assert.equal(open.pop(), name);
    else if (empty !== "/") open.push(name);
  }
  assert.deepEqual(open, []);
}

describe("policy suite: JUnit", () => {
  it("writes passes, failures with their explanation, and errors", () => {
    const xml = junit([result([passed, failed, broken])]);
    assertWellFormed(xml);
    assert.equal(
      xml,
      `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="gatehouse policy test" tests="3" failures="1" errors="1">
  <testsuite name="a.test.yaml" tests="3" failures="1" errors="1">
    <testcase name="a manager reads a customer" classname="default" file="a.test.yaml" line="4"/>
    <testcase name="a viewer reads a customer" classname="default" file="a.test.yaml" line="9">
      <failure message="expected deny, CONDITION_FALSE, policies[0]; got allow, DEFAULT_ALLOW, no rule">no rule matches GET /
closest: policies[0]
</failure>
    </testcase>
    <testcase name="broken" classname="default" file="a.test.yaml" line="12">
      <error message="expected deny, CONDITION_FALSE, policies[0]; got deciding failed: it broke">expected deny, CONDITION_FALSE, policies[0]; got deciding failed: it broke</error>
    </testcase>
  </testsuite>
</testsuites>
`,
    );
  });

  it("stays well-formed whatever names and explanations hold", () => {
    const hostile = `</testcase><!-- ]]> & "'\u0000\u001b[31m\u0085\ud800\uffff\ufffe\u202e 😀\t\r\n`;
    const expected = { decision: "allow", reason: hostile, rule: hostile } as const;
    const actual = decided("allow", hostile, hostile, { explanation: hostile });
    const cases = [
      { ...failed, name: hostile, expected, actual, differences: [hostile] },
      { ...broken, problem: hostile },
    ];
    const xml = junit([result(cases, { file: hostile, policySet: hostile })]);
    assertWellFormed(xml);
    assert.match(xml, /&lt;\/testcase&gt;&lt;!-- \]\]&gt; &amp; &quot;&#39;\[31m\u202e 😀 "/);
  });

  it("is well-formed with no results at all", () => {
    assertWellFormed(junit([]));
    assertWellFormed(junit([result([])]));
  });

  it("proves its own check: text that is not well-formed is noticed", () => {
    for (const bad of ["<a>", '<a b="<"/>', "&", "</a>", '<a b="" b=""/>', "\u0000", "<a></b>"]) {
      assert.throws(() => {
        assertWellFormed(`<?xml version="1.0" encoding="UTF-8"?>\n${bad}`);
      }, bad);
    }
  });
});

describe("policy suite: text", () => {
  const coverage = [
    {
      id: "policies[0]",
      name: "read a customer",
      true: 1,
      false: 1,
      unknown: 0,
      constant: false,
      ...UNPARTED,
    },
    { id: "policies[1]", true: 1, false: 0, unknown: 0, constant: false, ...UNPARTED },
    { id: "policies[2]", name: "home", true: 0, false: 0, unknown: 0, constant: true, ...UNPARTED },
  ];

  it("shows failures with their explanation, and what the tests leave out", () => {
    assert.equal(
      renderSuite([result([passed, failed, broken], { coverage })]),
      `a.test.yaml: 1 passed, 2 failed

  a viewer reads a customer (a.test.yaml:9)
    expected: deny, CONDITION_FALSE, policies[0]
    actual:   allow, DEFAULT_ALLOW, no rule
      no rule matches GET /
      closest: policies[0]

  broken (a.test.yaml:12)
    expected: deny, CONDITION_FALSE, policies[0]
    actual:   deciding failed: it broke

policy set default: 2 of 3 conditions reached, 1 with every outcome
  policies[1]: never false
  policies[2] (home): never reached
`,
    );
  });

  it("adds up the files of one set", () => {
    const half = (verdict: "true" | "false") =>
      result([passed], {
        coverage: [{ id: "r", true: 0, false: 0, unknown: 0, constant: false, ...UNPARTED, [verdict]: 1 }],
      });
    const text = renderSuite([half("true"), half("false")]);
    assert.match(text, /policy set default: 1 of 1 conditions reached, 1 with every outcome\n$/);
  });

  it("lets no control character through to a terminal", () => {
    const hostile = "a\u001b[2Jb\u0000\u0085\u202ec\rd\u2028e";
    const bad = {
      ...failed,
      name: hostile,
      actual: decided("allow", hostile, undefined, { explanation: hostile }),
      differences: [hostile],
    };
    const text = renderSuite([result([bad], { file: hostile, policySet: hostile, coverage })]);
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/);
    assert.match(text, /a\\u001b\[2Jb\\u0000\\u0085\\u202ec\\u000dd\\u2028e/);
  });

  it("says so when nothing was decided", () => {
    const { name, line, ok, expected } = failed;
    const undecided = { name, line, ok, expected, ...NOTHING_ELSE };
    assert.match(renderSuite([result([undecided])]), /actual: {3}no decision/);
  });
});
