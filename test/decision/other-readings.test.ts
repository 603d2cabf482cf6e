import assert from "node:assert/strict";
import { requiresAudit } from "../../src/decision/judgement.ts";
import type { RunningTokenVerifier } from "../../src/identity/index.ts";
import { ACCEPTABLE_CHECKS } from "../../src/request/index.ts";
import { accessOf, deciderOf, never, outcome, snapshotOf, type RequestParts } from "./support.ts";

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

/** No request here has a token. */
const UNUSED: RunningTokenVerifier = {
  cached: never,
  verify: never,
  ready: never,
  start: never,
  close: never,
  status: never,
  onReadyChange: never,
};

const JSON_TYPE = ["content-type", "application/json"] as const;
const HANDSHAKE = [
  ["connection", "Upgrade"],
  ["upgrade", "websocket"],
  ["sec-websocket-version", "13"],
  ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
] as const;

describe("decision: an accepted ambiguity is permitted in every reading, or not at all", () => {
  const decide = async (parts: RequestParts) =>
    deciderOf(snapshotOf(POLICIES), { verifier: UNUSED, switchedOff: new Set(ACCEPTABLE_CHECKS) })(
      accessOf(parts),
    );
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
