import assert from "node:assert/strict";
import { compilePolicySet } from "../../../src/policy/index.ts";
import { conditionsOf, fieldText } from "../../../src/policy/suite/index.ts";
import { renderSuite } from "../../../src/policy/suite/render.ts";
import { runSuite } from "../../../src/policy/suite/run.ts";
import type { SuiteAnswer, SuiteCase, SuiteDelivery } from "../../../src/policy/suite/types.ts";
import { decided, rule, suiteOf, testCase } from "./support.ts";

const CONDITIONS = [
  rule("policies[0]"),
  { ...rule("response_masks[0]", "secrets"), field: "ssn" },
  rule("websocket_policies[0].message_types[0]", "pings"),
];
const SAMPLE = { status: 200, headers: [], text: "{}" } as const;

async function run(changes: Partial<SuiteCase>, actual: ReturnType<typeof decided>) {
  const test = { ...testCase("t", { decision: "allow" }), ...changes };
  const result = await runSuite(suiteOf(test), { conditions: CONDITIONS, decide: () => actual });
  return { result, entry: result.cases[0]! };
}

describe("policy suite: answers of a run", () => {
  const answered = (expected: SuiteCase["expected"]["answer"], outcome: Partial<SuiteAnswer>) => {
    const answer = () => ({ masked: [], evaluated: [], ...outcome });
    return run(
      { answer: SAMPLE, expected: { decision: "allow", ...(expected && { answer: expected }) } },
      decided("allow", "CONDITION_TRUE", "policies[0]", { answer }),
    );
  };

  it("are as expected", async () => {
    for (const [expected, outcome] of [
      [undefined, { text: "{}" }],
      [{ body: { json: { a: 1 } } }, { text: '{"a":1}' }],
      [{ masked: ["$.b", "$.a"] }, { text: "{}", masked: ["$.a", "$.b"] }],
      [{ refused: true }, { reason: "not_json" }],
    ] as const) {
      const { entry } = await answered(expected, outcome);
      assert.deepEqual([entry.ok, entry.differences], [true, []]);
    }
  });

  it("are not, and say how", async () => {
    for (const [expected, outcome, ...differences] of [
      [undefined, { reason: "not_json" }, "the response is withheld: not_json"],
      [undefined, {}, "the response is withheld: it cannot be read"],
      [{ refused: true }, { text: "{}" }, "expected the response to be withheld, but it is delivered"],
      [{ body: { json: { a: 1 } } }, { text: '{"a":2}' }, "body: $.a: expected 1, got 2"],
      [{ masked: [] }, { text: "{}", masked: ["$.a"] }, 'masked paths: got "$.a", which was not expected'],
    ] as const) {
      const { entry } = await answered(expected, outcome);
      assert.deepEqual([entry.ok, entry.differences], [false, differences]);
    }
  });

  it("are not asked for where the request is denied", async () => {
    const { entry } = await run({ answer: SAMPLE }, decided("deny", "CONDITION_FALSE", "policies[0]"));
    assert.deepEqual([entry.ok, entry.differences, entry.problem], [false, [], undefined]);
  });

  it("that cannot be evaluated fail the case, with the decision", async () => {
    const { entry, result } = await run(
      { answer: SAMPLE },
      decided("allow", "CONDITION_TRUE", "policies[0]"),
    );
    assert.equal(entry.problem, "deciding failed: there is no answer");
    assert.equal(entry.actual?.decision, "allow");
    assert.equal(entry.ok, false);
    assert.match(renderSuite([result]), /actual: {3}deciding failed: there is no answer/);
  });

  it("count what fields came to", async () => {
    const evaluated = [
      { rule: "response_masks[0]", field: "ssn", verdict: "true" },
      { rule: "response_masks[0]", field: "other", verdict: "true" },
    ] as const;
    const { result } = await answered(undefined, { text: "{}", evaluated });
    assert.deepEqual(
      result.coverage.map((one) => [one.true, one.false, one.unknown]),
      [
        [1, 0, 0],
        [1, 0, 0],
        [0, 0, 0],
      ],
    );
    assert.match(renderSuite([result]), /^ {2}response_masks\[0\] ssn \(secrets\): never false$/m);
  });
});

describe("policy suite: denied fields of a run", () => {
  const denied = (...paths: string[]) =>
    run(
      { expected: { decision: "deny", denied: ["a", "b.c"] } },
      decided("deny", "GRAPHQL_DENIED", undefined, { denied: paths }),
    );

  it("are compared as a set", async () => {
    assert.equal((await denied("b.c", "a")).entry.ok, true);
    const { entry } = await denied("a", "d");
    assert.equal(entry.ok, false);
    assert.deepEqual(entry.differences, [
      'denied fields: expected "b.c", which is missing',
      'denied fields: got "d", which was not expected',
    ]);
  });
});

describe("policy suite: messages of a run", () => {
  const PING = "websocket_policies[0].message_types[0]";
  const sent = (
    expected: NonNullable<SuiteCase["messages"]>[number]["expected"],
    outcome: Partial<SuiteDelivery>,
  ) => {
    const at = { file: "a.test.yaml", line: 9, column: 1 };
    const message = () => ({ reason: "PERMITTED", evaluated: [], ...outcome });
    return run(
      { messages: [{ at, direction: "send", text: '{"type":"ping"}', expected }] },
      decided("allow", "CONDITION_TRUE", "policies[0]", { message }),
    );
  };

  it("are as expected", async () => {
    for (const [expected, outcome] of [
      [{ decision: "allow" }, { text: "{}" }],
      [{ decision: "deny" }, { reason: "UNLISTED" }],
      [
        { decision: "allow", rule: PING },
        { text: "{}", rule: PING },
      ],
      [{ decision: "deny", rule: "pings" }, { rule: PING }],
      [{ decision: "allow", delivered: { json: {} } }, { text: " {}" }],
    ] as const) {
      const { entry } = await sent(expected, outcome);
      assert.deepEqual([entry.ok, entry.differences], [true, []]);
    }
  });

  it("are not, and say how", async () => {
    const where = "the message on line 9:";
    for (const [expected, outcome, ...differences] of [
      [{ decision: "allow" }, { reason: "UNLISTED" }, `${where} expected allow, got deny: UNLISTED, no rule`],
      [
        { decision: "deny" },
        { text: "{}", rule: PING },
        `${where} expected deny, got allow: PERMITTED, ${PING}`,
      ],
      [{ decision: "deny", rule: "pings" }, {}, `${where} expected the rule pings, got no rule`],
      [
        { decision: "allow", rule: "pings" },
        { text: "{}", rule: "policies[0]" },
        `${where} expected the rule pings, got policies[0]`,
      ],
      [{ decision: "allow", delivered: { text: "{}" } }, { text: "[]" }, `${where} expected "{}", got "[]"`],
    ] as const) {
      const { entry } = await sent(expected, outcome);
      assert.deepEqual([entry.ok, entry.differences], [false, differences]);
    }
  });

  it("that name no rule of the set are a slip of the test", async () => {
    const { entry } = await sent({ decision: "allow", rule: "pigns" }, { text: "{}" });
    assert.equal(entry.problem, "the policy set has no rule `pigns`; did you mean `pings`?");
  });
});

describe("policy suite: conditions of a set", () => {
  it("are those of every section, in order, fields apart", () => {
    const { ir } = compilePolicySet([
      {
        name: "a.yaml",
        text: `
policies: [{ resource: GET /a, condition: true, name: open }]
web_policies: [{ path: /b, condition: user.id == "1" }]
response_filters:
  - { endpoint: GET /a, filter_rules: [{ field: $.a.b, condition: item.x == 1, action: remove }] }
response_masks:
  - { api_pattern: /a, name: m, fields: [{ name: a.b, condition: true, mask_type: full }] }
graphql_policies: [{ query: q, condition: args.x == 1 }]
websocket_policies:
  - connection: { condition: exists(user.id) }
    message_types:
      - type: t
        direction: receive
        condition: message.x == 1
        fields: [{ name: f, condition: true, mask_type: full }]
`,
      },
    ]);
    const found = conditionsOf(ir!);
    assert.deepEqual(
      found.map(({ expression }) => expression.op),
      ["literal", "==", "==", "literal", "==", "exists", "==", "literal"],
    );
    assert.deepEqual(
      found.map(({ expression: _, ...one }) => one),
      [
        { id: "policies[0]", name: "open", constant: true },
        { id: "web_policies[0]", constant: false },
        { id: "response_filters[0]", constant: false, field: "$.a.b" },
        { id: "response_masks[0]", name: "m", constant: true, field: "a.b" },
        { id: "graphql_policies[0]", constant: false },
        { id: "websocket_policies[0].connection", constant: false },
        { id: "websocket_policies[0].message_types[0]", constant: false },
        { id: "websocket_policies[0].message_types[0]", constant: true, field: "f" },
      ],
    );
    assert.equal(fieldText({ anchored: false, keys: ["a"] }), "a");
  });
});
