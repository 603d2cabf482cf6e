import assert from "node:assert/strict";
import { compilePolicySet, createMatcher, explainMatch, type NearRule } from "../../src/policy/index.ts";

const TEXT = `
policies:
  - { resource: "GET /customers/{id}", condition: user.role == "admin" and path.id == "7" }
  - { resource: "PUT /customers/{id}", condition: true }
  - { resource: "GET /orders/{id}", condition: true }
  - { resource: "GET /customers/{id}/orders", condition: true }
  - { resource: "GET /customers/**", condition: user.role == "owner" }
  - { resource: "GET /customer/{id}", condition: true }
  - { resource: "GET /far/away/from/all", condition: true }
web_policies:
  - { path: /**, condition: true }
  - { path: "/customers/*/notes/*", condition: true }
`;

const { ir } = compilePolicySet([{ name: "main.yaml", text: TEXT }]);
assert.ok(ir);
const matcher = createMatcher(ir);
const explainFor = (method: string, segments: string[], role = "guest") =>
  explainMatch(matcher, method, segments, (_, params) => ({ user: { role }, path: { ...params } }));

function told({ rule, failing }: NearRule): string {
  const what = rule.section === "policies" ? `${rule.method} ${rule.pattern}` : rule.pattern;
  switch (failing.kind) {
    case "method":
      return `${what}: ${failing.actual} is not ${failing.expected}`;
    case "segment":
      return `${what}: ${failing.number}: ${failing.actual ?? "-"} is not ${failing.expected ?? "-"}`;
    case "condition":
      return `${what}: ${failing.part.text} is ${failing.part.verdict}`;
    case "less-specific":
      return `${what}: less specific`;
  }
}

describe("explaining a match", () => {
  it("names the rule that decides, with its trace, and those that came close", () => {
    const { match, trace, near } = explainFor("GET", ["customers", "7"]);
    assert.ok(match.kind === "rule");
    assert.equal(match.rule.id, "policies[0]");
    assert.equal(trace?.verdict, "false");
    assert.deepEqual(
      trace.children.map(({ text, verdict }) => [text, verdict]),
      [
        ['user.role == "admin"', "false"],
        ['path.id == "7"', "true"],
      ],
    );
    assert.deepEqual(near.map(told), [
      'GET /customers/**: user.role == "owner" is false',
      "/**: less specific",
      "PUT /customers/{id}: GET is not PUT",
      "GET /customer/{id}: 1: customers is not customer",
    ]);
  });

  it("names only real neighbours", () => {
    const nearOf = (method: string, ...segments: string[]) =>
      explainFor(method, segments)
        .near.map(told)
        .filter((line) => !line.startsWith("/**"));
    assert.deepEqual(nearOf("GET", "invoices", "7"), [], "not every resource with as many segments");
    assert.deepEqual(nearOf("GET", "nowhere"), []);
    assert.deepEqual(nearOf("GET"), [], "the root has no name in common with anything");
    assert.deepEqual(nearOf("GET", "order", "7"), ["GET /orders/{id}: 1: order is not orders"]);
    assert.deepEqual(nearOf("GET", "Orders", "7"), ["GET /orders/{id}: 1: Orders is not orders"]);
    assert.deepEqual(nearOf("GET", "odrers", "7"), ["GET /orders/{id}: 1: odrers is not orders"]);
    assert.deepEqual(nearOf("GET", "orders"), ["GET /orders/{id}: 2: - is not {id}"], "the id is left out");
    assert.deepEqual(nearOf("GET", "orders", "7", "lines"), ["GET /orders/{id}: 3: lines is not -"]);
    assert.deepEqual(nearOf("PATCH", "order", "7"), [], "two things differ");
    assert.deepEqual(nearOf("GET", "far", "away", "from"), [], "the path ends before a name");
  });

  it("names segments that are missing on either side", () => {
    const { near } = explainFor("GET", ["customers"], "owner");
    assert.ok(near.map(told).includes("GET /customers/{id}: 2: - is not {id}"));
    const longer = explainFor("GET", ["orders", "1", "x"]).near.map(told);
    assert.ok(longer.includes("GET /orders/{id}: 3: x is not -"), longer.join("\n"));
    const notes = explainFor("GET", ["customers", "1", "notes"]).near.map(told);
    assert.ok(!notes.some((line) => line.startsWith("GET /customers/{id}/orders")), notes.join("\n"));
    const wildcard = explainFor("POST", ["customers", "1", "note"]).near.map(told);
    assert.ok(wildcard.includes("/customers/*/notes/*: 3: note is not notes"), wildcard.join("\n"));
  });

  it("has no trace where no rule decides", () => {
    const only = compilePolicySet([
      { name: "a.yaml", text: "web_policies:\n  - { path: /a/*/b, condition: true }" },
    ]);
    assert.ok(only.ir);
    const other = createMatcher(only.ir);
    const none = explainMatch(other, "GET", ["a"], () => ({}));
    assert.deepEqual(none, { match: { kind: "none" }, near: [] });
    const spelled = explainMatch(other, "GET", ["A", "x", "b"], () => ({}));
    assert.equal(spelled.match.kind, "case");
    assert.equal(spelled.trace, undefined);
    assert.deepEqual(spelled.near.map(told), ["/a/*/b: 1: A is not a"]);
    const short = explainMatch(other, "GET", ["a", "x"], () => ({}));
    assert.deepEqual(short.near, [], "it ends before a name");
    const alike = explainMatch(other, "GET", ["a", "x", "bb"], () => ({}));
    assert.deepEqual(alike.near.map(told), ["/a/*/b: 3: bb is not b"]);
    const twoWrong = explainMatch(other, "GET", ["c", "x", "d"], () => ({}));
    assert.deepEqual(twoWrong.near, []);
  });
});
