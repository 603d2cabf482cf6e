import assert from "node:assert/strict";
import { diffPolicySets, type RuleChange } from "../../../src/policy/analyze/index.ts";
import { createMatcher } from "../../../src/policy/match/matcher.ts";
import { compilePolicySet, type PolicySetIR } from "../../../src/policy/index.ts";

function set(text: string): PolicySetIR {
  const { ir, diagnostics } = compilePolicySet([{ name: "default.yaml", text }]);
  assert.ok(ir, JSON.stringify(diagnostics));
  return ir;
}

const diff = (before: string, after: string): RuleChange[] => diffPolicySets(set(before), set(after));
const changes = (before: string, after: string) =>
  diff(before, after).map(({ change, resource }) => `${change}: ${resource}`);

/** @param rules - `resource condition` */
function rules(...rules: readonly (readonly [resource: string, condition: string])[]): string {
  return `policies:\n${rules.map(([resource, condition]) => `  - resource: ${resource}\n    condition: ${condition}\n`).join("")}`;
}

function masks(...fields: readonly string[]): string {
  return `${rules(["GET /a", "user.x"])}response_masks:
  - api_pattern: GET /a
    fields:
${fields.map((field) => `      - ${field}\n`).join("")}`;
}

describe("what a change of a policy set must not overlook", () => {
  for (const [name, before, after] of [
    ["a dot in a path segment", "path.id == 'a'", "path.id in ['a', 'a.b']"],
    ["a plus sign in a path segment", "path.id == 'a'", "path.id in ['a', '+1!']"],
    ["a letter beyond ASCII in a query parameter", "request.query.a == 'a'", "request.query.a in ['a', 'é']"],
    ["a header that ends in a space", "request.headers.a == 'a'", "request.headers.a in ['a', 'a ']"],
    ["two values of a parameter", "request.query.a == 'a'", "'a' in request.query.a"],
    ["any environment", "env.environment == 'a'", "env.environment in ['a', 'staging 2']"],
    ["an hour", "env.hour < 9", "env.hour < 10"],
    ["a weekday", "env.weekday == 'monday'", "env.weekday in ['monday', 'sunday']"],
    ["a time", "env.time < '2026-01-01T00:00:00Z'", "env.time <= '2026-01-01T00:00:00Z'"],
    ["a date", "env.date < '2026-01-01'", "env.date < '2026-01-02'"],
    ["an address", "request.client_ip.startsWith('10.1.')", "request.client_ip.startsWith('10.')"],
    ["a host", "request.host == 'a.example'", "request.host.endsWith('.example')"],
    ["a scheme", "request.scheme == 'https'", "request.scheme in ['http', 'https']"],
    ["a body", "request.body.a == 1", "request.body.a >= 1"],
    ["a user", "user.id == 'a'", "user.id != 'b'"],
    ["a method that no rule names", "request.method == 'GET'", "request.method in ['GET', 'MKCOL']"],
    ["the path", "request.path == '/no'", "request.path == '/x/x2'"],
  ] as const) {
    it(`finds ${name}`, () => {
      const found = diff(
        rules(['"* /x/{id}"', `"${before}"`]).replaceAll("'", '\\"'),
        rules(['"* /x/{id}"', `"${after}"`]).replaceAll("'", '\\"'),
      );
      assert.equal(found.length, 1);
      assert.match(found[0]?.change ?? "", /^(?:wider|undecided)$/);
    });
  }

  it("says that it has not tried every time, path, host and address", () => {
    for (const name of [
      "env.time",
      "env.date",
      "request.path",
      "request.host",
      "request.client_ip",
      "request.protocol",
    ]) {
      const condition = (text: string) => rules(["GET /x/{id}", `${name} == "${text}"`]);
      assert.deepEqual(changes(condition("?"), condition("??")), ["undecided: GET /x/{id}"]);
    }
  });

  it("takes an attribute that a path does not have for missing, and another member of `env` for anything", () => {
    const changed = (name: string): PolicySetIR => {
      const ir = set(rules(["GET /x/{id}", "user.a"]));
      const expression = { op: "attribute", path: name.split(".") } as const;
      const [rule] = ir.rules;
      assert.ok(rule);
      return { ...ir, rules: [{ ...rule, condition: { ...rule.condition, source: name, expression } }] };
    };
    const never = diffPolicySets(set(rules(["GET /x/{id}", "false"])), changed("path.other"));
    assert.deepEqual(
      never.map(({ change }) => change),
      ["equivalent"],
    );
    const some = diffPolicySets(set(rules(["GET /x/{id}", "false"])), changed("env.other"));
    assert.deepEqual(
      some.map(({ change }) => change),
      ["wider"],
    );
  });

  it("compares a rule for one name with the rule for all names that it takes requests from", () => {
    assert.deepEqual(
      changes(
        rules(["GET /a/{id}", 'path.id != "zebra"']),
        rules(["GET /a/{id}", 'path.id != "zebra"'], ["GET /a/zebra", "true"]),
      ),
      ["wider: GET /a/zebra", "narrower: GET /a/{id}"],
    );
  });

  it("finds what another attribute must be to equal the only value of a parameter", () => {
    const before = rules(["GET /a/{id}", "customer.id == path.id"]);
    assert.deepEqual(
      changes(
        before,
        rules(["GET /a/{id}", "customer.id == path.id"], ["GET /a/zebra", "user.x and not user.x"]),
      ),
      ["narrower: GET /a/zebra", "narrower: GET /a/{id}"],
    );
    for (const name of ["env.weekday", "env.hour"])
      assert.deepEqual(changes(rules(["GET /a", "false"]), rules(["GET /a", `user.a == ${name}`])), [
        "wider: GET /a",
      ]);
  });

  it("uses names for parameters that no rule has", () => {
    const before = rules(["GET /{a}/{b}", 'user.x == "a"'], ["GET /x1/x2", "true"], ["GET /X1X/y", "true"]);
    assert.deepEqual(changes(before, before.replace('"a"', '"b"')), ["incomparable: GET /{a}/{b}"]);
  });

  it("tries every number of segments below /**", () => {
    const before = rules(["GET /a/{p}/**", 'path.p != "b"'], ["GET /a/b", "false"]);
    assert.deepEqual(changes(before, before.replace('path.p != "b"', "exists(path.p)")), [
      "wider: GET /a/{p}/**",
    ]);
  });

  it("finds a request whose parameter has a name that other rules keep from the usual examples", () => {
    const others = ["other", "another", "third", "m"].map((name) => [`GET /a/${name}`, "false"] as const);
    const before = rules(["GET /a/{p}", "false"], ...others);
    assert.deepEqual(
      changes(before, before.replace("condition: false", 'condition: path.p > "lz" and path.p < "x"')),
      ["wider: GET /a/{p}"],
    );
  });

  it("knows that paths in another letter case are denied, whatever the default", () => {
    const before = rules(["GET /a/{id}", "user.x"]);
    const after = rules(["GET /a/{id}", "user.x"], ["GET /a/all", "user.x"]);
    const [narrower, ...rest] = diff(before, after);
    assert.deepEqual([narrower?.change, narrower?.resource, rest], ["narrower", "GET /a/{id}", []]);
    const { method = "", segments = [] } = narrower?.lost ?? {};
    assert.equal(createMatcher(set(after)).match(method, segments).kind, "case");
    assert.deepEqual(narrower?.notes, [
      "denied after the change: the path differs from `GET /a/all` only in spelling",
    ]);
    assert.deepEqual(changes(after, before), ["wider: GET /a/{id}"]);
    const allow = (text: string) => `default: allow\n${text}`;
    assert.deepEqual(changes(allow(rules(["GET /A", "true"])), allow(rules(["GET /a", "true"]))), [
      "narrower: GET /A",
      "wider: GET /a",
    ]);
    assert.deepEqual(
      changes(allow(rules(["GET /b", "true"])), allow(rules(["GET /b", "true"], ["GET /1", "true"]))),
      ["narrower: GET /1"],
    );
  });

  it("does not claim to try every other spelling", () => {
    const before = rules(["GET /a/{id}", 'path.id == "aLL.."']);
    const [change] = diff(before, `${before}  - resource: GET /a/all\n    condition: "false"\n`);
    assert.notEqual(change, undefined);
    const never = rules(["GET /a/{id}", 'path.id == "b"']);
    const [other] = diff(never, `${never}  - resource: GET /a/all\n    condition: "false"\n`);
    assert.deepEqual(
      [other?.change, other?.notes.at(-1)],
      ["undecided", "not every spelling of `GET /a/all` is tried"],
    );
  });

  it("does not claim that a rule decides for an example that another rule takes", () => {
    const before = rules(["GET /{a}/{b}", "false"], ["GET /p/q", "false"]);
    const [change] = diff(before, before.replace("false", 'path.a == "p" and path.b == "q"'));
    assert.deepEqual(
      [change?.change, change?.gained, change?.notes],
      ["undecided", undefined, ["an example was found, but another rule decides for it"]],
    );
  });

  it("follows HEAD from a rule for GET to its own", () => {
    const before = rules(["GET /a", "user.x"]);
    const after = rules(["GET /a", "user.x"], ["HEAD /a", "true"]);
    const [wider, ...rest] = diff(before, after);
    assert.deepEqual([wider?.change, wider?.gained?.method, rest], ["wider", "HEAD", []]);
  });

  it("finds methods that no rule names", () => {
    const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    const all = methods.map((method) => [`${method} /a`, "true"] as const);
    const before = rules(...all, ['"* /a"', "false"]);
    const [wider] = diff(before, rules(...all, ['"* /a"', "true"]));
    assert.deepEqual([wider?.change, wider?.gained?.method], ["wider", "PURGE"]);
  });

  it("does not let one of two rules for the same hide the other", () => {
    const field = (condition: string) =>
      `{ name: ssn, mask_type: full, condition: 'user.role != "${condition}"' }`;
    const before = masks(field("a"), field("b"));
    assert.deepEqual(changes(before, masks(field("c"), field("b"))), ["undecided: ssn of GET /a"]);
    assert.deepEqual(changes(before, masks(field("b"))), ["undecided: ssn of GET /a"]);
  });

  it("does not say what a mask hides where another may hide the same", () => {
    const rule = "{ name: ssn, mask_type: full, condition: user.x }";
    const other = "{ name: $.person.ssn, mask_type: full, condition: user.y }";
    const [change] = diff(masks(rule, other), masks(other));
    assert.deepEqual(
      [change?.change, change?.notes],
      ["undecided", ["`$.person.ssn of GET /a` may mask the same value"]],
    );
  });

  it("tells what another action means", () => {
    const mask = (type: string) => masks(`{ name: ssn, mask_type: ${type}, condition: user.x }`);
    assert.deepEqual(changes(mask("partial"), mask("full")), ["narrower: ssn of GET /a"]);
    assert.deepEqual(changes(mask("full"), mask("remove")), ["undecided: ssn of GET /a"]);
    assert.deepEqual(
      changes(mask("full"), masks('{ name: ssn, mask_type: partial, condition: "user.x and user.y" }')),
      ["wider: ssn of GET /a"],
    );
    assert.deepEqual(
      changes(mask("partial"), masks('{ name: ssn, mask_type: full, condition: "user.x and user.y" }')),
      ["incomparable: ssn of GET /a"],
    );
  });

  it("mentions that other responses are read, other decisions are recorded, and rules have another order", () => {
    const before = masks(
      "{ name: a, mask_type: full, condition: user.x }",
      "{ name: b, mask_type: full, condition: user.x }",
    );
    const after = masks(
      "{ name: b, mask_type: full, condition: user.x }",
      "{ name: a, mask_type: full, condition: user.x }",
    );
    assert.deepEqual(changes(before, after), ["undecided: order"]);
    assert.deepEqual(
      changes(before, before.replace("api_pattern: GET /a", "api_pattern: GET /a\n    other_types: pass")),
      ["undecided: response rules"],
    );
    assert.deepEqual(
      changes(
        before,
        before.replace("condition: user.x\nresponse", "condition: user.x\n    audit: required\nresponse"),
      ),
      ["undecided: audit"],
    );
    assert.deepEqual(changes(before, `audit: required\n${before}`), ["undecided: audit"]);
  });

  it("does not compare GraphQL and WebSocket rules that only one set has", () => {
    const text = (limit: number, on: string) => `${rules(["GET /a", "user.x"])}graphql_policies:
  - { query: people, condition: args.limit <= ${limit} }
  - { name: pay, query: people.salary, condition: user.x, on_deny: ${on} }
websocket_policies:
  - connection: { path: /ws, condition: exists(user.id) }
    message_types:
      - { type: join, condition: user.x }
      - type: said
        direction: receive
        condition: true
        fields: [{ name: email, condition: user.x, mask_type: remove }]
`;
    const before = text(1, "reject");
    assert.deepEqual(changes(before, text(2, "null")), ["undecided: on_deny", "wider: query people"]);
    assert.deepEqual(changes(before, before.replace("      - { type: join, condition: user.x }\n", "")), [
      "undecided: send join on /ws",
    ]);
    assert.deepEqual(changes(before.replace("      - { type: join, condition: user.x }\n", ""), before), [
      "undecided: send join on /ws",
    ]);
    assert.deepEqual(
      changes(
        before,
        before.replace("[{ name: email, condition: user.x", "[{ name: email, condition: user.y"),
      ),
      ["incomparable: email of said on /ws"],
    );
  });
});
