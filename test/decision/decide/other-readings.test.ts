import assert from "node:assert/strict";
import { requiresAudit } from "../../../src/decision/decide/evaluation-context.ts";
import { ACCEPTABLE_CHECKS, SWITCHES } from "../../../src/request/index.ts";
import { accessOf, deciderOf, outcome, snapshotOf, type RequestParts, UNUSED_VERIFIER } from "../support.ts";

const POLICIES = `
policies:
  - { resource: "* /**", condition: "true" }
  - { resource: "GET /admin/**", condition: user.role == "admin" }
  - { resource: "DELETE /kept/{id}", condition: user.role == "admin" }
  - { resource: "GET /own/{id}", condition: path.id == "me" }
  - { resource: "GET /by-path/**", condition: 'request.path == "/by-path/x"' }
  - { resource: "GET /by-host", condition: 'request.host != "other.test"' }
  - { resource: "GET /by-query", condition: 'request.query.status == "a"' }
  - { resource: "GET /not-query", condition: 'not request.query.tag.includes("secret")' }
  - { resource: "GET /by-header", condition: 'request.headers["x-name"] != "caf\\u00e9"' }
  - { resource: "GET /recorded", condition: "true", audit: required }
  - { resource: "POST /body", condition: request.body.a == 1 }
response_masks:
  - { api_pattern: GET /masked, fields: [{ name: ssn, mask_type: full, condition: "true" }] }
websocket_policies:
  - connection: { path: /feed, condition: user.role == "admin" }
    message_types:
      - { type: a, condition: "true" }
graphql_policies:
  - { query: me, condition: user.role == "admin" }
`;

const JSON_TYPE = ["content-type", "application/json"] as const;
const HANDSHAKE = [
  ["connection", "Upgrade"],
  ["upgrade", "websocket"],
  ["sec-websocket-version", "13"],
  ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
] as const;

describe("decision: an accepted ambiguity is permitted in every reading, or not at all", () => {
  const decide = async (parts: RequestParts) =>
    deciderOf(snapshotOf(POLICIES), {
      verifier: UNUSED_VERIFIER,
      accept: { switchedOff: new Set(ACCEPTABLE_CHECKS) },
    })(accessOf(parts));
  const ALLOW = "ALLOW CONDITION_TRUE";

  const cases: readonly (readonly [what: string, parts: RequestParts, expected: string])[] = [
    ["a path that all readings permit", { path: "/a//b/%2e%2e/c%2fd" }, ALLOW],
    ["a path that one reading guards", { path: "/a/..%2fadmin/x" }, "DENY IDENTITY_REQUIRED"],
    ["a path that is guarded as it is sent", { path: "/admin/../a" }, "DENY IDENTITY_REQUIRED"],
    ["a parameter of the path", { path: "/own/me;x=1" }, "DENY CONDITION_FALSE"],
    ["the whole path", { path: "/by-path//x" }, "DENY CONDITION_FALSE"],
    ["another method", { path: "/kept/1", headers: [["x-http-method", "DELETE"]] }, "DENY IDENTITY_REQUIRED"],
    ["another method in the query", { path: "/kept/1?_method=delete" }, "DENY IDENTITY_REQUIRED"],
    ["another method that is permitted", { path: "/kept/1?_method=put" }, ALLOW],
    [
      "a host that nobody can name",
      { path: "/by-host", headers: [["host", "other.test"]] },
      "DENY CONDITION_UNKNOWN",
    ],
    ["a parameter that only some see", { path: "/by-query?x=1;status=a" }, "DENY CONDITION_UNKNOWN"],
    ["a parameter of two values", { path: "/by-query?status=a%00" }, "DENY CONDITION_FALSE"],
    ["a parameter that is not it", { path: "/by-query?status=a&x=1;y=%00" }, ALLOW],
    ["a value that only some see", { path: "/not-query?tag=a;tag=secret" }, "DENY CONDITION_FALSE"],
    ["a value that some clean", { path: "/not-query?tag=sec%01ret" }, "DENY CONDITION_FALSE"],
    ["a query that some find in the path", { path: "/not-query%3ftag=secret" }, "DENY CONDITION_FALSE"],
    [
      "a header that is not UTF-8",
      { path: "/by-header", headers: [["x-name", "caf\xe9"]] },
      "DENY CONDITION_UNKNOWN",
    ],
    [
      "an operation",
      { method: "POST", path: "//graphql", headers: [JSON_TYPE], body: '{"query":"{ me { id } }"}' },
      "DENY IDENTITY_REQUIRED",
    ],
    [
      "an operation whose body is to come",
      {
        method: "POST",
        path: "/x/%2e%2e/graphql",
        headers: [JSON_TYPE],
        body: null,
        bodies: "on_request" as const,
      },
      "DENY BODY_NEEDED",
    ],
    [
      "a body that a rule of one reading reads",
      { method: "POST", path: "//body", headers: [JSON_TYPE], body: '{"a":2}' },
      "DENY CONDITION_FALSE",
    ],
    ["a handshake", { path: "//feed", headers: HANDSHAKE }, "DENY NO_MATCHING_RULE"],
  ];
  for (const [what, parts, expected] of cases) {
    it(`${what}: ${parts.path ?? ""}`, async () => {
      assert.equal(outcome(await decide(parts)), expected);
    });
  }

  it("what one reading hides of the answer is hidden", async () => {
    for (const path of ["/masked", "//masked", "/a/../masked", "/masked;v=1"]) {
      const { verdict, plan } = await decide({ path });
      assert.equal(verdict, "ALLOW");
      assert.equal(plan?.response?.fields.length, 1, path);
    }
    assert.equal((await decide({ path: "//unmasked" })).plan, undefined);
  });

  it("a record that one reading requires is required", async () => {
    assert.equal(requiresAudit(await decide({ path: "//recorded" })), true);
    assert.equal(requiresAudit(await decide({ path: "//not-recorded" })), false);
  });

  it("a denial says which reading it was, and what led to it", async () => {
    const { request, detail, accepted } = await decide({ path: "/a/..%2fadmin/x" });
    assert.equal(request?.path, "/admin/x");
    assert.deepEqual(accepted, ["encoded_slash", "dot_segment"]);
    assert.equal(detail, "accepted encoded_slash, dot_segment, and could be GET /admin/x");
  });
});

const FORMATS = `
policies:
  - { resource: "GET /customers/{id}", condition: "true" }
  - { resource: "GET /customers/export", condition: request.query.by == "admin" }
  - { resource: "GET /customers/signed-in", condition: exists(user.id) }
  - { resource: "GET /customers/open", condition: "true" }
  - { resource: "POST /customers/{id}", condition: "true" }
  - { resource: "POST /customers/import", condition: request.body.a == 1 }
  - { resource: "GET /own/{id}", condition: path.id == "1.json" }
  - { resource: "GET /docs/**", condition: "true" }
  - { resource: "GET /docs/internal/**", condition: request.query.by == "admin" }
  - { resource: "GET /spelled/{id}", condition: "true" }
  - { resource: "GET /spelled/a.json", condition: "true" }
  - { resource: "GET /spelled/a", condition: request.query.by == "admin" }
  - { resource: "GET /@assets/**", condition: "true" }
  - { resource: "GET /{name}/{file}", condition: "true" }
  - { resource: "GET /{name}/export", condition: request.query.by == "admin" }
  - { resource: "GET /{name}/a.json", condition: "true" }
  - { resource: "GET /wide/a", condition: request.query.by == "admin" }
  - { resource: "* /socket/{id}", condition: "true" }
  - { resource: "* /recorded/{id}", condition: "true" }
  - { resource: "* /recorded/a", condition: "true", audit: required }
web_policies:
  - { path: /pages/*, condition: "true" }
  - { path: /pages/admin, condition: request.query.by == "admin" }
response_masks:
  - { api_pattern: GET /customers/open, fields: [{ name: ssn, mask_type: full, condition: "true" }] }
  - { api_pattern: GET /docs/masked, fields: [{ name: ssn, mask_type: full, condition: "true" }] }
websocket_policies:
  - connection: { path: "/socket/{id}", condition: "true" }
  - connection: { path: /socket/feed, condition: request.query.by == "admin" }
graphql:
  paths: [/customers/graphql]
graphql_policies:
  - { query: me, condition: user.role == "admin" }
`;

describe("decision: a path with a format at its end is permitted as the path without it, too, where other rules are for that", () => {
  const decide = async (parts: RequestParts) =>
    deciderOf(snapshotOf(FORMATS), { verifier: UNUSED_VERIFIER })(accessOf(parts));
  const ALLOW = "ALLOW CONDITION_TRUE";
  const AMBIGUOUS = "DENY AMBIGUOUS_PATH";

  const cases: readonly (readonly [what: string, parts: RequestParts, expected: string])[] = [
    ["a guarded name", { path: "/customers/export.json" }, AMBIGUOUS],
    ["in any letter case", { path: "/customers/export.JSON" }, AMBIGUOUS],
    ["with a slash behind it", { path: "/customers/export.xlsx/" }, AMBIGUOUS],
    ["as it is permitted", { path: "/customers/export.json?by=admin" }, ALLOW],
    ["a name in another letter case", { path: "/customers/Export.json" }, "DENY AMBIGUOUS_CASE"],
    ["who has to sign in is told so", { path: "/customers/signed-in.html" }, "DENY IDENTITY_REQUIRED"],
    ["by GET for HEAD", { method: "HEAD", path: "/customers/export.csv" }, AMBIGUOUS],
    ["of a page", { path: "/pages/admin.htm" }, AMBIGUOUS],
    ["of everything below", { path: "/docs/internal.md" }, AMBIGUOUS],
    ["an operation", { path: "/customers/graphql.json?query={me{id}}" }, "DENY IDENTITY_REQUIRED"],
    ["a handshake", { path: "/socket/feed.json", headers: HANDSHAKE }, AMBIGUOUS],
    ["no handshake", { path: "/socket/feed.json" }, ALLOW],
    [
      "a body that the other rule reads",
      { method: "POST", path: "/customers/import.json", headers: [JSON_TYPE], body: '{"a":2}' },
      AMBIGUOUS,
    ],
    [
      "a body that is to come",
      { method: "POST", path: "/customers/import.json", body: null, bodies: "on_request" as const },
      "DENY BODY_NEEDED",
    ],
    ["the same rule", { path: "/own/1.json" }, ALLOW],
    ["no rule", { path: "/customers/other.json" }, ALLOW],
    ["a format that nobody knows", { path: "/customers/export.json2" }, AMBIGUOUS],
    ["as it is sent", { path: "/%40assets/export.json" }, AMBIGUOUS],
    ["as it is sent, without that format", { path: "/%40assets/other.json" }, ALLOW],
    ["an end that a rule spells, and less than the other", { path: "/wide/a.json" }, AMBIGUOUS],
    ["no name", { path: "/customers/.json" }, ALLOW],
    ["one format of two", { path: "/customers/export.json.xml" }, ALLOW],
    ["an end that a rule spells", { path: "/spelled/a.json" }, ALLOW],
    ["an end that no rule spells", { path: "/spelled/a.xml" }, AMBIGUOUS],
  ];
  for (const [what, parts, expected] of cases) {
    it(`${what}: ${parts.path ?? ""}`, async () => {
      assert.equal(outcome(await decide(parts)), expected);
    });
  }

  it("what is asked of the path without it is done", async () => {
    for (const path of ["/customers/open.json", "/docs/masked.json"]) {
      assert.equal((await decide({ path })).plan?.response?.fields.length, 1, path);
    }
    assert.equal((await decide({ path: "/customers/other.json" })).plan, undefined);
    assert.equal(requiresAudit(await decide({ path: "/recorded/a.json" })), true);
  });

  it("a denial says which reading it was", async () => {
    const { request, rule, detail } = await decide({ path: "/customers/export.json" });
    assert.equal(request?.path, "/customers/export");
    assert.equal(rule?.id, "policies[1]");
    assert.equal(detail, "format_suffix: could be GET /customers/export: CONDITION_UNKNOWN");
  });

  it("unless it is switched off", async () => {
    const lenient = deciderOf(snapshotOf(FORMATS), {
      verifier: UNUSED_VERIFIER,
      accept: { switchedOff: new Set(SWITCHES) },
    });
    const { verdict, accepted } = await lenient(accessOf({ path: "/customers/export.json" }));
    assert.deepEqual([verdict, accepted], ["ALLOW", []]);
  });

  it("in every reading of what is ambiguous", async () => {
    const lenient = deciderOf(snapshotOf(FORMATS), {
      verifier: UNUSED_VERIFIER,
      accept: { switchedOff: new Set(["path_parameter"] as const) },
    });
    for (const path of ["/customers/export.json;v=1", "/customers/export;v=1.json"]) {
      assert.equal((await lenient(accessOf({ path }))).verdict, "DENY", path);
    }
  });
});

const SPELLED = `
policies:
  - { resource: "GET /@assets/**", condition: "true" }
  - { resource: "GET /{user}/private", condition: exists(user.id) }
  - { resource: "GET /users/{id}", condition: path.id == "a@b.test" }
  - { resource: "GET /users/{id}/mail", condition: "true" }
  - { resource: "GET /everything/**", condition: "true" }
  - { resource: "GET /everything/a+b", condition: "true" }
  - { resource: "GET /everything/a+c", condition: request.query.by == "admin" }
graphql: { paths: ["/a:graphql"] }
graphql_policies:
  - { query: me, condition: "true" }
websocket_policies:
  - connection: { path: "/sockets/{id}", condition: "false" }
  - connection: { path: "/sockets/$feed", condition: "true" }
response_masks:
  - { api_pattern: "GET /everything/@a", fields: [{ name: ssn, mask_type: full, condition: "true" }] }
`;

describe("decision: a rule that spells what needs no encoding is not asked alone where that is sent encoded", () => {
  const decide = async (parts: RequestParts) =>
    deciderOf(snapshotOf(SPELLED), { verifier: UNUSED_VERIFIER })(accessOf(parts));
  const ALLOW = "ALLOW CONDITION_TRUE";
  const AMBIGUOUS = "DENY AMBIGUOUS_PATH";

  const cases: readonly (readonly [what: string, parts: RequestParts, expected: string])[] = [
    ["as the rule spells it", { path: "/@assets/a" }, ALLOW],
    ["a name that no rule is for undecoded", { path: "/%40assets/a" }, AMBIGUOUS],
    ["a name that another rule is for undecoded", { path: "/%40assets/private" }, "DENY IDENTITY_REQUIRED"],
    ["a parameter", { path: "/users/a%40b.test" }, ALLOW],
    ["a parameter before a name", { path: "/users/a%40b.test/mail" }, ALLOW],
    ["both rules permit", { path: "/everything/a%2bb" }, ALLOW],
    ["only one rule permits", { path: "/everything/a%2bc" }, "DENY CONDITION_UNKNOWN"],
    ["below", { path: "/@assets/%21%24%26%27%28%29%2a%2b%2c%3a%3d%40" }, ALLOW],
    ["an operation", { path: "/a%3agraphql?query={me}" }, AMBIGUOUS],
    ["a handshake", { path: "/sockets/%24feed", headers: HANDSHAKE }, AMBIGUOUS],
  ];
  for (const [what, parts, expected] of cases) {
    it(`${what}: ${parts.path ?? ""}`, async () => {
      assert.equal(outcome(await decide(parts)), expected);
    });
  }

  it("what is masked is masked", async () => {
    assert.equal((await decide({ path: "/everything/%40a" })).plan?.response?.fields.length, 1);
  });

  it("a denial says which reading it was", async () => {
    const { detail } = await decide({ path: "/%40assets/a" });
    assert.equal(detail, "as_sent: could be GET /%2540assets/a: NO_MATCHING_RULE");
  });
});
