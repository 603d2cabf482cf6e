import assert from "node:assert/strict";
import { explainDecision } from "../../../src/decision/explain/explain.ts";
import { decideOffline, type OfflineRequest } from "../../../src/decision/explain/offline.ts";
import { renderExplanation } from "../../../src/decision/explain/render-explanation.ts";
import { HANDSHAKE_HEADERS } from "../../../src/policy/suite/index.ts";
import { accessOf, snapshotOf, type RequestParts } from "../support.ts";

const POLICIES = `
attributes:
  target: { source: users, key: path.id }
policies:
  - { name: read a user, resource: "GET /users/{id}", condition: user.role == "admin" or user.dept == target.dept }
  - { name: my own, resource: "GET /users/me", condition: user.level >= 2 and exists(user.id) }
  - { resource: "DELETE /users/{id}", condition: user.role == "admin" }
  - { name: by day, resource: "GET /users/{id}/day", condition: env.hour < 18 and env.environment == "production" }
  - { name: all, resource: "GET /users/**", condition: user.role == "admin" }
`;

describe("decision: explain", () => {
  const snapshot = snapshotOf(POLICIES);
  const decide = async (parts: RequestParts, more: Partial<OfflineRequest> = {}, set = snapshot) => {
    const { decision } = await decideOffline(set, {
      raw: accessOf(parts).raw,
      lookup: () => ({ dept: "sales" }),
      now: Date.UTC(2026, 0, 31, 12),
      ...more,
    });
    return decision;
  };
  const explained = async (parts: RequestParts, more: Partial<OfflineRequest> = {}) => {
    const decision = await decide(parts, more);
    const explanation = explainDecision(decision);
    return { decision, explanation, text: renderExplanation(decision, explanation) };
  };

  it("shows the rule, each part of its condition, and the values it saw", async () => {
    const user = { role: "viewer", dept: "legal" };
    const { explanation, text } = await explained({ path: "/users/u-7" }, { user });
    assert.equal(explanation.rule?.name, "read a user");
    assert.equal(explanation.rule.at, "test.yaml:5");
    assert.equal(explanation.rule.condition.verdict, "false");
    assert.deepEqual(
      explanation.rule.condition.children.map(({ reads }) => reads.map(({ path, value }) => [path, value])),
      [
        [["user.role", "viewer"]],
        [
          ["user.dept", "legal"],
          ["target.dept", "sales"],
        ],
      ],
    );
    assert.match(text, /^DENY \(403\) CONDITION_FALSE: /);
    assert.match(text, /policy set test@v0/);
    assert.match(text, /user\.role is "viewer"/);
    assert.match(text, /GET \/users\/\{id\} {2}read a user {2}\(test\.yaml:5\)/);
  });

  it("knows no more of other rules than of the one that decided, where the door did not tell", async () => {
    const set = snapshotOf(`
policies:
  - { resource: "GET /x", condition: 'request.client_ip == "192.0.2.1"' }
  - { resource: "GET /{any}", condition: 'request.client_ip == "192.0.2.2" or request.scheme == "http"' }
`);
    const decision = await decide({ path: "/x" }, { clientIp: "" }, set);
    assert.equal(decision.reason, "CONDITION_UNKNOWN");
    const [near] = explainDecision(decision).near;
    assert.equal(near?.resource, "GET /{any}");
    assert.ok(!JSON.stringify(near).includes('"false"') && !JSON.stringify(near).includes("present"));
    // without an address in the record, a condition that it would have met is not met
    const other = snapshotOf(
      `policies: [{ resource: GET /x, condition: 'request.client_ip != "192.0.2.1"' }]`,
    );
    assert.equal((await decide({ path: "/x" }, { clientIp: "" }, other)).reason, "CONDITION_UNKNOWN");
    assert.equal((await decide({ path: "/x" }, {}, other)).reason, "CONDITION_TRUE");
  });

  it("says which parameter was sent several times where one value is compared", async () => {
    const set = snapshotOf(
      'policies: [{ resource: "GET /x", condition: request.query.id == "1" and not request.query.tag.includes("a") }]',
    );
    const decision = await decide({ path: "/x?id=1&id=2&tag=b&tag=c" }, {}, set);
    const text = renderExplanation(decision, explainDecision(decision));
    assert.match(
      text,
      /request\.query\.id is \["1","2"\]: sent several times, but a single value is compared\n/,
    );
    assert.match(text, /request\.query\.tag is \["b","c"\]\n/);
  });

  it("says what was missing, and what was unavailable", async () => {
    const { text } = await explained(
      { path: "/users/u-7" },
      {
        user: { dept: "sales" },
        lookup: () => {
          throw new Error("down");
        },
      },
    );
    assert.match(text, /CONDITION_UNKNOWN/);
    assert.match(text, /user\.role is missing/);
    assert.match(text, /target\.dept is unavailable/);
  });

  it("names rules that came close and what kept each of them from it", async () => {
    const { explanation, text } = await explained(
      { path: "/users/me" },
      { user: { role: "admin", level: 1 } },
    );
    const near = Object.fromEntries(
      explanation.near.map(({ resource, failing }) => [resource, failing.kind]),
    );
    assert.equal(near["GET /users/{id}"], "less-specific");
    assert.equal(near["DELETE /users/{id}"], "method");
    assert.match(text, /is for DELETE, but the request is GET/);
    assert.match(text, /its condition is true, but a more specific rule decides/);
  });

  it("names the segment that does not fit", async () => {
    const { explanation, text } = await explained({ path: "/user/u-7" }, { user: {} });
    assert.equal(explanation.rule, undefined);
    assert.match(text, /NO_MATCHING_RULE/);
    assert.match(text, /segment 1: expected `users`, but the request has `user`/);
    const short = await explained({ path: "/users" }, { user: {} });
    assert.match(short.text, /expected `\{id\}`, but the path ends/);
    const unlike = await explained({ path: "/nowhere" }, { user: {} });
    assert.doesNotMatch(unlike.text, /nearly matched/);
    const long = await explained({ path: "/users/me/x" }, { user: {} });
    assert.match(long.text, /expected the end of the path, but the request has `x`/);
  });

  it("shows no look-up and no time to rules that did not decide", async () => {
    const { text } = await explained({ path: "/users/me" }, { user: { role: "viewer", level: 2, id: "u" } });
    assert.match(text, /ALLOW CONDITION_TRUE/);
    assert.match(text, /unknown: user\.dept == target\.dept|(false|unknown): .*target\.dept/);
    const day = await explained({ path: "/users/u-7/days" }, { user: {} });
    assert.match(day.text, /segment 3: expected `day`/);
    const other = snapshotOf(
      `policies:
  - { resource: "GET /a/b", condition: "false or user.id == 'x'" }
  - { resource: "GET /a/{id}", condition: "env.environment == 'production'" }`,
    );
    const decision = await decide({ path: "/a/b" }, { user: {} }, other);
    assert.match(
      renderExplanation(decision, explainDecision(decision)),
      /unknown: env\.environment == "production"/,
    );
  });

  it("has nothing to explain where no rule was looked at", async () => {
    const { explanation, text } = await explained({ path: "/a//b" });
    assert.deepEqual(explanation, { near: [] });
    assert.match(text, /^DENY \(400\) AMBIGUOUS_PATH: .*\(empty_segment: /);
    assert.deepEqual(
      explainDecision({
        verdict: "DENY",
        reason: "POLICY_NOT_READY",
        clientIp: "",
        trustedPeer: false,
        accepted: [],
      }),
      { near: [] },
    );
  });

  it("names the connection that a handshake was evaluated by", async () => {
    const sockets = snapshotOf(`
policies: [{ resource: "GET /ws", condition: exists(user.id) }]
websocket_policies: [{ connection: { name: feed, path: /ws, condition: user.role == "admin" } }]
`);
    const headers = [...HANDSHAKE_HEADERS];
    const denied = await decide({ path: "/ws", headers }, { user: { id: "u", role: "viewer" } }, sockets);
    const explanation = explainDecision(denied);
    assert.equal(explanation.rule, undefined);
    assert.deepEqual(
      [
        explanation.connection?.id,
        explanation.connection?.resource,
        explanation.connection?.condition.verdict,
      ],
      ["websocket_policies[0].connection", "WebSocket /ws", "false"],
    );
    const text = renderExplanation(denied, explanation);
    assert.match(text, /^connection WebSocket \/ws {2}feed {2}\(test\.yaml:3\)$/m);
    assert.match(text, /user\.role is "viewer"/);
    const path = explainDecision(await decide({ path: "/ws", headers }, {}, sockets));
    assert.equal(path.rule?.resource, "GET /ws");
  });

  it("explains no connection that was not evaluated", async () => {
    const sockets = snapshotOf(
      "websocket_policies: [{ connection: { path: /ws, condition: exists(request.body.x) } }]",
    );
    const headers = [...HANDSHAKE_HEADERS, ["content-type", "application/json"]] as const;
    const decision = await decide({ path: "/ws", headers, body: "{" }, { user: {} }, sockets);
    assert.equal(decision.reason, "AMBIGUOUS_BODY");
    assert.deepEqual(explainDecision(decision), { near: [] });
  });

  it("names the fields that an operation was denied", async () => {
    const graph = snapshotOf("graphql_policies: [{ query: a, condition: user.id == 'x' }]");
    const headers = [["content-type", "application/json"]] as const;
    const parts = { method: "POST", path: "/graphql", headers };
    const user = { id: "u" };
    const denied = explainDecision(await decide({ ...parts, body: '{"query":"{ b: a }"}' }, { user }, graph));
    assert.deepEqual(denied, {
      denied: [
        {
          path: ["b"],
          code: "ACCESS_DENIED",
          message: 'access to "b" is denied',
          rule: { id: "graphql_policies[0]", resource: "query a", at: "test.yaml:1" },
        },
      ],
      near: [],
    });
    const allowed = await decide({ ...parts, body: '{"query":"{ a }"}' }, { user: { id: "x" } }, graph);
    assert.equal(allowed.reason, "GRAPHQL_ALLOWED");
    assert.deepEqual(explainDecision(allowed), { near: [] });
  });
});
