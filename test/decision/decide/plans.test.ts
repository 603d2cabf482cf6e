import assert from "node:assert/strict";
import { joinPlans } from "../../../src/decision/decide/join-plans.ts";
import type { Decision } from "../../../src/decision/types.ts";
import type { PlanIR } from "../../../src/policy/index.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { accessOf, bearer, deciderOf, outcome, snapshotOf, verifierFor } from "../support.ts";

const POLICIES = `
attributes:
  team: { source: teams, key: user.id }
policies:
  - { resource: "GET /api/**", condition: true }
  - { resource: "GET /locked", condition: user.role == "admin" }
web_policies:
  - { path: /pages/*, condition: true }
response_filters:
  - endpoint: /api/customers/{id}
    filter_rules:
      - { field: ssn, condition: user.role != "admin", action: remove }
      - { field: "$.card.number", condition: item.owner != user.id and path.id == "c-1", action: mask }
response_masks:
  - api_pattern: GET /api/**
    fields: [{ name: salary, condition: team.name != "hr", mask_type: full }]
websocket_policies:
  - connection: { path: /feed, condition: exists(user.id) }
    message_types:
      - { type: a, condition: message.owner == user.id and env.hour < 25 }
      - { type: b, condition: user.role == "admin", on_deny: close }
      - { type: c, condition: true }
      - { type: d, direction: receive, condition: true, fields: [{ name: x, condition: user.role != "admin", mask_type: full }] }
  - connection: { path: /locked, condition: true }
  - connection: { path: "/api/**", condition: true }
`;

describe("decision: plans of two sets", () => {
  it("let other types pass where both say so, or one alone looks at the answer", () => {
    const plan = (otherTypes?: "pass"): PlanIR => ({
      ir: 1,
      response: { limit: 10, fields: [], ...(otherTypes && { otherTypes }) },
    });
    const joined = (a?: PlanIR, b?: PlanIR) => joinPlans(a, b)?.response?.otherTypes;
    assert.equal(joined(plan("pass"), plan("pass")), "pass");
    assert.equal(joined(plan("pass"), undefined), "pass");
    assert.equal(joined(undefined, plan("pass")), "pass");
    assert.equal(joined(plan("pass"), { ir: 1 }), "pass");
    assert.equal(joined(plan("pass"), plan()), undefined);
    assert.equal(joined(plan(), plan("pass")), undefined);
  });
});

describe("decision: plans", () => {
  let issuer: TestIssuer;
  let verifier: ReturnType<typeof verifierFor>;
  before(async () => {
    issuer = await startIssuer();
    verifier = verifierFor(issuer);
    await verifier.start();
  });
  after(async () => {
    verifier.close();
    await issuer.close();
  });

  const HANDSHAKE = [
    ["connection", "keep-alive, Upgrade"],
    ["upgrade", "WebSocket"],
  ] as const;

  async function decide(
    path: string,
    claims: Record<string, unknown> | null = { role: "viewer" },
    headers: readonly (readonly [string, string])[] = [],
    teams: () => { name: string } | undefined = () => ({ name: "sales" }),
    method = "GET",
  ): Promise<Decision> {
    const decider = deciderOf(snapshotOf(POLICIES), {
      verifier,
      sources: new Map([["teams", { lookup: teams }]]),
    });
    const all = [...headers, ...(claims ? [bearer(await issuer.token(claims))] : [])];
    return decider(accessOf({ method, path, headers: all }));
  }
  const plan = (decision: Decision): PlanIR => {
    assert.equal(decision.verdict, "ALLOW", decision.reason);
    assert.ok(decision.plan);
    return decision.plan;
  };
  const fields = async (...args: Parameters<typeof decide>) => {
    const response = (await decide(...args)).plan?.response;
    return (response?.fields ?? []).map(({ keys, action, when }) => [
      keys.join("."),
      action.kind,
      when !== undefined,
    ]);
  };

  it("hold the fields whose conditions are not false, and what is left of these", async () => {
    assert.deepEqual(await fields("/api/customers/c-1"), [
      ["ssn", "remove", false],
      ["card.number", "replace", true],
      ["salary", "full", false],
    ]);
    assert.deepEqual(await fields("/api/customers/c-2", { role: "admin" }, [], () => ({ name: "hr" })), []);
    assert.deepEqual(await fields("/api/other", {}, [], () => ({ name: "hr" })), []);
    assert.deepEqual(await fields("/pages/x"), []);
  });

  it("mask what cannot be known", async () => {
    // neither role nor team
    assert.deepEqual(
      await fields("/api/customers/c-2", null, [], () => {
        throw new Error("down");
      }),
      [
        ["ssn", "remove", false],
        ["salary", "full", false],
      ],
    );
  });

  it("say so only where something is left to do", async () => {
    const { plan: none } = await decide("/pages/x");
    assert.equal(none, undefined);
    const { response } = plan(await decide("/api/other"));
    assert.equal(response?.limit, 1_000_000);
  });

  describe("of WebSocket connections", () => {
    it("hold what decides about messages, by type", async () => {
      const { websocket, response } = plan(await decide("/feed", { role: "viewer", sub: "u-7" }, HANDSHAKE));
      assert.equal(response, undefined);
      assert.ok(websocket);
      const { send = {}, receive = {} } = websocket;
      assert.deepEqual(Object.keys(send), ["a", "b", "c"]);
      assert.equal(typeof send["a"]?.when, "object");
      assert.match(JSON.stringify(send["a"]?.when), /u-7.*env|env.*u-7/s);
      assert.deepEqual([send["b"]?.when, send["b"]?.onDeny], [false, "close"]);
      assert.deepEqual([send["c"]?.when, send["c"]?.onDeny], [undefined, "drop"]);
      assert.equal(receive["d"]?.fields?.length, 1);
      assert.equal(websocket.plain, false);
      const admin = plan(await decide("/feed", { role: "admin" }, HANDSHAKE)).websocket;
      assert.deepEqual([admin?.send?.["b"]?.when, admin?.receive?.["d"]?.fields], [undefined, undefined]);
    });

    it("need a permitting entry, and the path's rule where there is one", async () => {
      const cases: readonly [string, Record<string, unknown> | null, string][] = [
        ["/feed", {}, "ALLOW CONDITION_TRUE"],
        ["/feed", null, "DENY IDENTITY_REQUIRED"],
        ["/Feed", {}, "DENY AMBIGUOUS_CASE"],
        ["/other", {}, "DENY NO_MATCHING_RULE"],
        // the path is permitted as a page, but no entry is about it
        ["/pages/x", {}, "DENY NO_MATCHING_RULE"],
        ["/locked", {}, "DENY CONDITION_UNKNOWN"],
        ["/locked", { role: "admin" }, "ALLOW CONDITION_TRUE"],
      ];
      for (const [path, claims, expected] of cases)
        assert.equal(outcome(await decide(path, claims, HANDSHAKE)), expected, path);
    });

    it("let an ordinary answer pass only where a path rule permits it, and nothing is masked in it", async () => {
      const { websocket, response } = plan(await decide("/api/customers/c-1", {}, HANDSHAKE));
      assert.equal(websocket?.plain, false);
      assert.equal(response, undefined);
      assert.ok(websocket.fields !== undefined && websocket.fields.length > 0);
      const open = await decide("/api/other", { role: "admin" }, HANDSHAKE, () => ({ name: "hr" }));
      assert.equal(plan(open).websocket?.plain, true);
    });

    it("are for what Envoy takes for a handshake, and for nothing else", async () => {
      const plainly: readonly (readonly (readonly [string, string])[])[] = [
        [["upgrade", "websocket"]],
        [["connection", "upgrade"]],
        [
          ["connection", "upgrade"],
          ["upgrade", "h2c"],
        ],
      ];
      for (const headers of plainly)
        assert.equal(
          outcome(await decide("/feed", {}, headers)),
          "DENY NO_MATCHING_RULE",
          JSON.stringify(headers),
        );
      assert.equal(outcome(await decide("/feed", {}, HANDSHAKE, undefined, "POST")), "DENY NO_MATCHING_RULE");
    });

    it("are there for every connection, for it has to end with its token", async () => {
      const decider = deciderOf(snapshotOf('policies:\n  - { resource: "GET /ws", condition: true }'), {
        verifier,
      });
      const decision = await decider(accessOf({ path: "/ws", headers: [...HANDSHAKE] }));
      const { limit, environment, plain } = plan(decision).websocket ?? {};
      assert.deepEqual([limit, environment, plain], [65_536, "production", true]);
    });
  });
});
