import assert from "node:assert/strict";
import type { RefusalCheck } from "../../../src/request/index.ts";
import { accessOf, deciderOf, outcome, snapshotOf, type RequestParts, UNUSED_VERIFIER } from "../support.ts";

const POLICIES = `
attributes:
  tenant: { source: tenants, key: 'request.headers["x-tenant"]' }
policies:
  - { resource: "GET /list", condition: 'not exists(request.query.status) or request.query.status == "active"' }
  - { resource: "GET /header", condition: 'not exists(request.headers["x-role"])' }
  - { resource: "POST /body", condition: not exists(request.body.admin) }
  - { resource: "POST /nested", condition: not exists(request.body.user.role) }
  - { resource: "POST /whole", condition: exists(request.body) }
  - { resource: "GET /free", condition: request.method == "GET" }
  - { resource: "GET /masked", condition: "true" }
  - { resource: "GET /tenant", condition: not exists(tenant.locked) }
web_policies:
  - { path: /page, condition: not exists(request.query.preview) }
response_masks:
  - { api_pattern: GET /masked, fields: [{ name: ssn, mask_type: full, condition: not exists(request.query.full) }] }
websocket_policies:
  - connection: { path: /feed, condition: not exists(request.query.admin) }
    message_types:
      - { type: a, condition: request.query.room == "1" }
graphql_policies:
  - { query: me, condition: 'not exists(request.headers["x-role"])' }
`;

const JSON_TYPE = ["content-type", "application/json"] as const;
const HANDSHAKE = [
  ["connection", "Upgrade"],
  ["upgrade", "websocket"],
] as const;

const post = (path: string, body: string): RequestParts => ({
  method: "POST",
  path,
  body,
  headers: [JSON_TYPE],
});
const me = JSON.stringify({ query: "{ me { id } }" });

const ALLOWED = "ALLOW CONDITION_TRUE";

describe("decision: names that could be read as those that a rule reads", () => {
  const decide = async (parts: RequestParts, switchedOff: readonly RefusalCheck[] = []) =>
    deciderOf(snapshotOf(POLICIES), {
      verifier: UNUSED_VERIFIER,
      accept: { switchedOff: new Set(switchedOff) },
      sources: new Map([["tenants", { lookup: () => ({}) }]]),
    })(accessOf(parts));

  const cases: readonly [what: string, parts: RequestParts, expected: string][] = [
    ["a parameter in another case", { path: "/list?Status=suspended" }, "DENY AMBIGUOUS_QUERY"],
    ["a parameter as a list", { path: "/list?status[]=suspended" }, "DENY AMBIGUOUS_QUERY"],
    ["a parameter in brackets", { path: "/list?[status]=suspended" }, "DENY AMBIGUOUS_QUERY"],
    ["the parameter itself", { path: "/list?status=active&Page=2" }, ALLOWED],
    ["none of them", { path: "/list" }, ALLOWED],
    ["a header", { path: "/header", headers: [["x.role", "admin"]] }, "DENY AMBIGUOUS_HEADERS"],
    ["other headers", { path: "/header", headers: [["x-request-id", "1"]] }, ALLOWED],
    ["a member in another case", post("/body", '{"Admin":true}'), "DENY AMBIGUOUS_BODY"],
    ["a member of a list", post("/body", '[{"admin":true}]'), "DENY AMBIGUOUS_BODY"],
    ["other members", post("/body", '{"Name":"x"}'), ALLOWED],
    ["an outer member", post("/nested", '{"User":{"role":"a"}}'), "DENY AMBIGUOUS_BODY"],
    ["an inner member", post("/nested", '{"user":{"Role":"a"}}'), "DENY AMBIGUOUS_BODY"],
    ["a member elsewhere", post("/nested", '{"user":{"id":1},"Role":"a"}'), ALLOWED],
    ["a body that is read as a whole", post("/whole", '{"Admin":true}'), ALLOWED],
    ["names that no rule reads", { path: "/free?Status=x&admin[]=y" }, ALLOWED],
    ["a parameter of a page", { path: "/page?Preview=1" }, "DENY AMBIGUOUS_QUERY"],
    ["a parameter that a mask reads", { path: "/masked?Full=1" }, "DENY AMBIGUOUS_QUERY"],
    ["the key of a look-up", { path: "/tenant", headers: [["x.tenant", "t"]] }, "DENY AMBIGUOUS_HEADERS"],
    ["a handshake", { path: "/feed?Admin=1", headers: HANDSHAKE }, "DENY AMBIGUOUS_QUERY"],
    ["what messages read", { path: "/feed?Room=1", headers: HANDSHAKE }, "DENY AMBIGUOUS_QUERY"],
    ["a plain handshake", { path: "/feed?room=1", headers: HANDSHAKE }, ALLOWED],
    [
      "an operation",
      { ...post("/graphql", me), headers: [JSON_TYPE, ["x.role", "a"]] },
      "DENY AMBIGUOUS_HEADERS",
    ],
  ];
  for (const [what, parts, expected] of cases) {
    it(`${what}: ${expected}`, async () => {
      assert.equal(outcome(await decide(parts)), expected);
    });
  }

  it("says which name, and nothing of what was sent", async () => {
    const { detail } = await decide({ path: "/list?Status=secret" });
    assert.equal(detail, "similar_parameter: the name of a query parameter could be mistaken for `status`");
  });

  it("is switched off by name, and then reported", async () => {
    const accepted = async (parts: RequestParts, check: RefusalCheck) => {
      const decision = await decide(parts, [check]);
      return [outcome(decision), ...decision.accepted];
    };
    assert.deepEqual(await accepted({ path: "/list?Status=x" }, "similar_parameter"), [
      ALLOWED,
      "similar_parameter",
    ]);
    assert.deepEqual(await accepted(post("/body", '{"Admin":1}'), "similar_member"), [
      ALLOWED,
      "similar_member",
    ]);
    assert.deepEqual(await accepted({ path: "/header", headers: [["x.role", "a"]] }, "similar_header"), [
      ALLOWED,
      "similar_header",
    ]);
    const feed = { path: "/feed?Admin=1&room=1", headers: HANDSHAKE };
    assert.deepEqual(await accepted(feed, "similar_parameter"), [ALLOWED, "similar_parameter"]);
  });
});
