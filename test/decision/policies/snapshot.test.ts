import assert from "node:assert/strict";
import { createSnapshot, digestOf } from "../../../src/decision/policies/snapshot.ts";
import { compilePolicySet } from "../../../src/policy/index.ts";
import { compileText, ruleOf, snapshotOf } from "../support.ts";

const needsOf = (condition: string, head = "") => {
  const snapshot = snapshotOf(ruleOf(condition, head));
  const [needs] = snapshot.needs.values();
  assert.ok(needs);
  return { ...needs, roots: [...needs.roots].sort() };
};

const SOURCES = `attributes:
  boss: { source: users, key: user.boss_id }
  device: { source: devices, key: 'request.headers["x-device"]' }
  order: { source: orders, key: request.body.order }
`;

describe("decision: snapshot", () => {
  describe("needs", () => {
    it("of a rule that reads nothing", () => {
      const { roots, identity, headers, query, body, sources, cacheable } = needsOf("true");
      assert.deepEqual(
        { roots, identity, headers, query, body, sources, cacheable },
        {
          roots: [],
          identity: false,
          headers: false,
          query: false,
          body: false,
          sources: [],
          cacheable: true,
        },
      );
    });
    const cases: readonly [string, Partial<ReturnType<typeof needsOf>>][] = [
      ['user.role == "a"', { roots: ["user"], identity: true, cacheable: true }],
      ["exists(user)", { roots: ["user"], identity: true }],
      ["not exists(customer.id)", { roots: ["customer"], identity: true }],
      ['request.method == "GET"', { roots: ["request"], headers: false, query: false, body: false }],
      ['request.headers["x-a"].includes("1")', { headers: true, query: false, body: false, cacheable: true }],
      ['request.query.page.includes("1")', { headers: false, query: true, body: false, cacheable: true }],
      ["request.body.amount > 1", { headers: false, query: false, body: true, cacheable: false }],
      ["exists(request)", { headers: true, query: true, body: true, cacheable: false }],
      ["env.hour > 8", { roots: ["env"], identity: false, cacheable: false }],
      ['true or env.hour > 8 or user.role == "a"', { identity: true, cacheable: false }],
    ];
    for (const [condition, expected] of cases) {
      it(`of ${condition}`, () => {
        const needs = needsOf(condition);
        for (const [name, value] of Object.entries(expected))
          assert.deepEqual(needs[name as keyof typeof needs], value, name);
      });
    }
    it("of sources are those of their keys, too", () => {
      const boss = needsOf('boss.department == "sales" and exists(boss.id)', SOURCES);
      assert.deepEqual(boss.sources, [{ root: "boss", source: "users", key: ["user", "boss_id"] }]);
      assert.deepEqual([boss.identity, boss.cacheable, boss.headers], [true, true, false]);
      const device = needsOf("exists(device)", SOURCES);
      assert.deepEqual([device.identity, device.headers, device.body], [false, true, false]);
      const order = needsOf("exists(order)", SOURCES);
      assert.deepEqual([order.body, order.cacheable], [true, false]);
    });
    it("are kept a rule, under keys that no other rule or set has", () => {
      const text = (condition: string) =>
        `policies:\n  - { resource: "GET /a", condition: "true" }\n  - { resource: "GET /b", condition: "${condition}" }\n`;
      const keys = [snapshotOf(text("true")), snapshotOf(text("false"))].flatMap(({ needs }) =>
        [...needs.values()].map(({ cacheKey }) => cacheKey),
      );
      assert.equal(new Set(keys).size, 4);
    });
  });

  describe("digest", () => {
    const base = `policies:
  - resource: "GET /a/{id}"
    condition: user.role == "admin" and user.id == path.id
  - { resource: "GET /b", condition: "true" }
`;
    const digest = (text: string, name = "test", file?: string) => digestOf(compileText(text, name, file));

    it("does not depend on layout, comments, quotes, spelling of conditions, or where rules stand", () => {
      const other = `# by whom and why

policies: [
  { condition: "((user.role=='admin')  and user.id == path.id)", resource: 'GET /a/{id}' },
  # the second
  { resource: 'GET /b', condition: "true" },
  ]
`;
      assert.equal(digest(other), digest(base));
      assert.equal(digest(base, "test", "elsewhere/else.yaml"), digest(base));
    });
    it("does not depend on how a set is spread over files", () => {
      const [head = "", second = ""] = base.split(/(?= {2}- \{)/);
      const { ir } = compilePolicySet(
        [
          { name: "test/a.yaml", text: head },
          { name: "test/b.yaml", text: `policies:\n${second}` },
        ],
        { name: "test" },
      );
      assert.ok(ir);
      assert.equal(digestOf(ir), digest(base));
    });
    const changes: readonly [string, (text: string) => string][] = [
      ["a condition", (text) => text.replace('"admin"', '"owner"')],
      ["an operator", (text) => text.replace(" and ", " or ")],
      ["a method", (text) => text.replace("GET /b", "POST /b")],
      ["a path", (text) => text.replace("GET /b", "GET /c")],
      ["letter case", (text) => text.replace("GET /b", "GET /B")],
      ["a rule more", (text) => `${text}  - { resource: "GET /c", condition: "true" }\n`],
      ["the default", (text) => `default: allow\n${text}`],
      ["preflights", (text) => `preflight: allow\n${text}`],
      ["pages of other origins", (text) => `cors: { origins: ["https://a.test"] }\n${text}`],
      ["required audit", (text) => `audit: required\n${text}`],
      ["the version", (text) => `version: v9\n${text}`],
      ["a rule's audit", (text) => text.replace('condition: "true"', 'condition: "true", audit: required')],
      ["a source", (text) => `attributes:\n  boss: { source: users, key: user.id }\n${text}`],
      ["the section", (text) => text.replace('  - { resource: "GET /b"', 'web_policies:\n  - { path: "/b"')],
    ];
    for (const [what, change] of changes) {
      it(`changes with ${what}`, () => {
        assert.notEqual(change(base), base);
        assert.notEqual(digest(change(base)), digest(base));
      });
    }
    it("changes with the set's name", () => {
      assert.notEqual(digest(base, "other"), digest(base));
    });
  });

  it("is labelled as audit records name it", () => {
    const snapshot = createSnapshot(compileText("version: v7\npolicy_set: shop\ndefault: allow"), {
      caseSensitive: false,
    });
    assert.equal(snapshot.label, "shop@v7");
    assert.match(snapshot.digest, /^[0-9a-f]{64}$/);
  });
});
