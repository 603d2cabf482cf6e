import assert from "node:assert/strict";
import { diffPolicySets, unconfirmed } from "../../../src/policy/analyze/index.ts";
import { compilePolicySet, type PolicySetIR } from "../../../src/policy/index.ts";

function set(text: string): PolicySetIR {
  const { ir, diagnostics } = compilePolicySet([{ name: "default.yaml", text }]);
  assert.ok(ir, JSON.stringify(diagnostics));
  return ir;
}

const changes = (before: string, after: string) =>
  diffPolicySets(set(before), set(after)).map(({ change, resource }) => `${change}: ${resource}`);

/** One of many similar sets, with different numbers of rules and names. */
function example(number: number): string {
  const more = Array.from(
    { length: number % 7 },
    (_, index) => `  - resource: GET /more/${index}/{id}\n    condition: user.level > ${index}\n`,
  );
  return `policies:
  - resource: GET /api/orders/{id}
    condition: user.role == "r${number}" and customer.id == path.id
  - resource: POST /api/**
    condition: user.role in ["a", "b${number}"] and user.email.endsWith("@e${number}.example")
${more.join("")}response_masks:
  - api_pattern: GET /api/orders/{id}
    fields:
      - name: ssn
        mask_type: full
        condition: user.role != "admin"
`;
}

const WIDENINGS: readonly (readonly [name: string, from: string | RegExp, to: string])[] = [
  ["a dropped conjunct", " and customer.id == path.id", ""],
  ["== to !=", "customer.id == path.id", "customer.id != path.id"],
  ["a longer list", 'in ["a"', 'in ["new", "a"'],
  ["a shorter suffix", 'endsWith("@e', 'endsWith("e'],
  ["and to or", '" and customer', '" or customer'],
  ["a removed mask", /response_masks:[^]*$/, ""],
  ["a weaker mask", "mask_type: full", "mask_type: partial"],
  ["a mask for fewer", 'user.role != "admin"', 'user.role == "guest"'],
  [
    "a more specific route",
    "  - resource: POST",
    '  - resource: GET /api/orders/all\n    condition: user.role == "x"\n  - resource: POST',
  ],
  [
    "another method",
    "  - resource: POST",
    "  - resource: DELETE /api/orders/{id}\n    condition: exists(user.id)\n  - resource: POST",
  ],
];

describe("the difference of two policy sets", () => {
  after(() => {
    assert.equal(unconfirmed.count, 0);
  });

  it("knows that whoever has a role, or a customer, has an id", () => {
    const rule = (condition: string) =>
      `policies:\n  - { resource: GET /x, condition: ${JSON.stringify(condition)} }\n`;
    const signedIn = rule("exists(user.id)");
    for (const narrower of [
      'user.role == "admin"',
      'customer.plan == "gold" and "a" in user.groups',
      'user.id == "u-1"',
    ]) {
      assert.deepEqual(changes(signedIn, rule(narrower)), ["narrower: GET /x"], narrower);
      assert.deepEqual(changes(rule(narrower), signedIn), ["wider: GET /x"], narrower);
    }
    assert.deepEqual(changes(signedIn, rule("not exists(user.role)")), ["incomparable: GET /x"]);
  });

  it("is nothing for the same rules in other words", () => {
    assert.deepEqual(changes(example(1), `# a comment\n${example(1)}`), []);
  });

  it("finds one widening planted in each of 100 sets", () => {
    for (let number = 0; number < 100; number++) {
      const [name, from, to] = WIDENINGS[number % WIDENINGS.length]!;
      const before = example(number);
      const after = before.replace(from, to);
      assert.notEqual(after, before);
      const found = diffPolicySets(set(before), set(after));
      assert.ok(
        found.some(({ change }) => change === "wider" || change === "incomparable"),
        `${name} in set ${number}: ${JSON.stringify(found.map(({ change, resource }) => [change, resource]))}`,
      );
    }
  });

  it("finds a removed rule where the default allows, and says that a changed default is undecided", () => {
    const rule = 'policies:\n  - resource: GET /a\n    condition: user.role == "x"\n';
    const other = "  - resource: GET /b\n    condition: user.x\n";
    assert.deepEqual(changes(`default: allow\n${rule}${other}`, `default: allow\npolicies:\n${other}`), [
      "wider: GET /a",
      // and /A was denied
      "wider: GET /a",
    ]);
    assert.deepEqual(changes(`default: allow\n${rule}`, rule)[0], "undecided: default");
  });
});
