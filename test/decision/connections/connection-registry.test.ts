import assert from "node:assert/strict";
import fc from "fast-check";
import type { Reevaluation } from "../../../src/decision/connections/connection-registry.ts";
import type { Identity } from "../../../src/identity/types.ts";
import type { AccessRequest } from "../../../src/decision/types.ts";
import type { DenialReason } from "../../../src/reasons.ts";
import { until } from "../../audit/support/wait.ts";
import { runs } from "../../support/runs.ts";
import { allow, byId, connection, deny, POLICY_CHANGED, registry, START } from "./support.ts";
import { accessOf } from "../support.ts";

describe("decision: open connections", () => {
  it("go on as they are while nothing has changed", async () => {
    const { connections, state, logged } = registry({ evaluate: () => allow("plan") });
    connections.add(connection("a"));
    await connections.reevaluate();
    assert.deepEqual(connections.directives(), { closed: {}, plans: {} });
    assert.deepEqual([state.changes, logged], [0, []]);
  });

  it("are closed, go on, or go on with a new plan", async () => {
    const evaluate = byId({ a: deny("CONDITION_FALSE"), b: allow("plan"), c: allow("new plan") });
    const { connections, state, logged } = registry({ evaluate });
    for (const id of ["a", "b", "c"]) assert.equal(connections.add(connection(id)), true);
    await connections.reevaluate();
    assert.deepEqual(connections.directives(), { closed: { a: POLICY_CHANGED }, plans: { c: "new plan" } });
    assert.equal(state.changes, 2);
    assert.deepEqual(logged, [
      {
        level: "info",
        object: { closed: 1, replanned: 1, failed: 0 },
        message: "evaluated open connections again",
      },
    ]);
  });

  it("get a new plan, or their end, with the set that it is from", async () => {
    const [old, later] = ["1".repeat(64), "2".repeat(64)];
    const verdicts: Record<string, Reevaluation> = {
      a: { ...deny("CONDITION_FALSE"), set: later },
      b: { ...deny("TOKEN_EXPIRED"), set: later },
      c: { ...allow('{"ir":1}'), set: later },
      d: { ...allow('{"ir":2}'), set: later },
    };
    const { connections } = registry({ evaluate: byId(verdicts) });
    for (const id of ["a", "b", "c", "d"]) connections.add(connection(id, { planText: '{"ir":1}' }));
    await connections.reevaluate();
    // the same plan of another set changes nothing: GraphQL connections would have to reconnect
    assert.deepEqual(connections.directives(), {
      closed: {
        a: { ...POLICY_CHANGED, set: later },
        b: { code: 1008, reason: "TOKEN_EXPIRED" },
      },
      plans: { d: `{"ir":2,"set":"${later}"}` },
    });
    verdicts["d"] = { ...allow('{"ir":1}'), set: old };
    await connections.reevaluate();
    assert.deepEqual(connections.directives().plans, { d: `{"ir":1,"set":"${old}"}` });
  });

  it("have to come again where they were let in as nobody's and it is known by now whose they are", async () => {
    const identity: Identity = {
      user: { id: "u-1" },
      userId: "u-1",
      session: { amr: [] },
      expiresAt: START / 1000 + 900,
    };
    const { connections } = registry({ evaluate: () => ({ ...allow("new plan"), identity, steady: true }) });
    connections.add(connection("a"));
    connections.add(connection("b", { identity }));
    await connections.reevaluate();
    assert.deepEqual(connections.directives(), {
      closed: { a: { code: 1012, reason: "IDENTITY_CHANGED" } },
      plans: { b: "new plan" },
    });
  });

  it("are evaluated as of now, with a deadline ahead", async () => {
    const seen: AccessRequest[] = [];
    const { connections, state } = registry({
      evaluate: (access) => {
        seen.push(access);
        return allow("plan");
      },
      evaluateWithin: 700,
    });
    const { access } = connection("a");
    connections.add(connection("a", { access: { ...access, deadline: START + 2 } }));
    state.now = START + 60_000;
    await connections.reevaluate();
    assert.deepEqual(seen, [{ ...access, receivedAt: START + 60_000, deadline: START + 60_700 }]);
  });

  it("are told a reason that is theirs to know", async () => {
    const told: Partial<Record<DenialReason, object>> = {
      CONDITION_FALSE: POLICY_CHANGED,
      NO_MATCHING_RULE: POLICY_CHANGED,
      AMBIGUOUS_PATH: POLICY_CHANGED,
      TOKEN_EXPIRED: { code: 1008, reason: "TOKEN_EXPIRED" },
      TOKEN_KEY_UNKNOWN: { code: 1008, reason: "TOKEN_INVALID" },
      IDENTITY_NOT_READY: { code: 1013, reason: "SERVICE_UNAVAILABLE" },
      INTERNAL_ERROR: { code: 1011, reason: "INTERNAL_ERROR" },
    };
    for (const [reason, closing] of Object.entries(told)) {
      const { connections } = registry({ evaluate: () => deny(reason as DenialReason) });
      connections.add(connection("a"));
      await connections.reevaluate();
      assert.deepEqual(connections.directives().closed, { a: closing }, reason);
    }
  });

  it("are closed when evaluating them fails, or takes too long", async () => {
    const { connections, logged } = registry({
      evaluate: ({ requestId }) => {
        if (requestId === "a") throw new Error("no");
        if (requestId === "d") return { verdict: "ALLOW" } as Reevaluation;
        return requestId === "b" ? Promise.reject(new Error("no")) : new Promise(() => undefined);
      },
      evaluateWithin: 20,
    });
    for (const id of ["a", "b", "c", "d"]) connections.add(connection(id));
    await connections.reevaluate();
    assert.deepEqual(connections.directives().closed, {
      a: { code: 1011, reason: "INTERNAL_ERROR" },
      b: { code: 1011, reason: "INTERNAL_ERROR" },
      c: { code: 1013, reason: "SERVICE_UNAVAILABLE" },
      d: { code: 1011, reason: "INTERNAL_ERROR" },
    });
    assert.deepEqual(
      logged.map(({ level, message }) => `${level}: ${message}`),
      ["error: cannot evaluate an open connection again", "info: evaluated open connections again"],
    );
    assert.deepEqual(logged[1]?.object, { closed: 4, replanned: 0, failed: 3 });
  });

  it("stay closed, whatever is said later", async () => {
    let verdict = deny("CONDITION_FALSE");
    const { connections } = registry({ evaluate: () => verdict });
    connections.add(connection("a"));
    await connections.reevaluate();
    verdict = allow("plan");
    await connections.reevaluate();
    assert.equal(
      connections.revoke(() => true),
      0,
    );
    assert.deepEqual(connections.directives(), { closed: { a: POLICY_CHANGED }, plans: {} });
  });

  it("get back their first plan where it holds again: Envoy has the other one by now", async () => {
    let planText = "other";
    const { connections } = registry({ evaluate: () => allow(planText) });
    connections.add(connection("a"));
    await connections.reevaluate();
    planText = "plan";
    await connections.reevaluate();
    assert.deepEqual(connections.directives().plans, { a: "plan" });
  });

  it("are not taken when there are too many, twice, or with a body to keep", async () => {
    const { connections, live } = registry({ capacity: 2 });
    assert.equal(connections.add(connection("a")), true);
    assert.equal(connections.add(connection("a")), false);
    const large = accessOf({ path: "/b", body: "x".repeat(16_385) });
    assert.equal(connections.add(connection("b", { access: large })), false);
    const small = accessOf({ path: "/b", body: "x".repeat(16_384) });
    assert.equal(connections.add(connection("b", { access: small })), true);
    assert.equal(connections.add(connection("c")), false);
    assert.deepEqual([connections.size, await live()], [2, 2]);
    connections.ended(["a"]);
    assert.equal(await live(), 1);
    assert.equal(connections.add(connection("c")), true);
  });

  it("are forgotten when they have ended; others' ids mean nothing", async () => {
    const evaluate = byId({ a: deny("CONDITION_FALSE"), b: allow("new") });
    const { connections, state, live } = registry({ evaluate });
    for (const id of ["a", "b", "c"]) connections.add(connection(id));
    await connections.reevaluate();
    state.changes = 0;
    connections.ended(["c", "unknown"]);
    assert.equal(state.changes, 0, "nothing that Envoy is told has changed");
    connections.ended(["a", "b"]);
    assert.equal(state.changes, 1);
    assert.deepEqual(connections.directives(), { closed: {}, plans: {} });
    assert.deepEqual([connections.size, await live()], [0, 0]);
  });

  it("are all forgotten when Envoy has ended", async () => {
    const { connections, live } = registry();
    for (const id of ["a", "b"]) connections.add(connection(id));
    connections.endedAll();
    assert.deepEqual([connections.size, await live()], [0, 0]);
  });

  it("are forgotten a minute after they expire; those that never do, are not", () => {
    const { connections, state } = registry();
    connections.add(connection("a", { expiresAt: START / 1000 + 100 }));
    connections.add(connection("b", { expiresAt: START / 1000 + 200 }));
    connections.add(connection("c"));
    state.now = START + 160_000;
    connections.sweep();
    assert.equal(connections.size, 3);
    state.now = START + 160_001;
    connections.sweep();
    assert.equal(connections.size, 2);
    state.now = START + 10 * 365 * 86_400_000;
    connections.sweep();
    assert.equal(connections.size, 1);
  });

  it("are revoked by what they are", () => {
    const { connections, state } = registry();
    for (const id of ["a", "b", "c"]) connections.add(connection(id));
    assert.equal(
      connections.revoke(({ access }) => access.requestId === "b"),
      1,
    );
    assert.deepEqual(connections.directives().closed, { b: { code: 1008, reason: "SESSION_ENDED" } });
    assert.equal(state.changes, 1);
    const closing = { code: 4001, reason: "GONE" };
    assert.equal(
      connections.revoke(() => true, closing),
      2,
    );
    assert.deepEqual(connections.directives().closed["a"], closing);
    assert.deepEqual(connections.directives().closed["b"], { code: 1008, reason: "SESSION_ENDED" });
  });

  it("are what a simple model says, whatever happens", async () => {
    const id = fc.constantFrom("a", "b", "c", "d", "e");
    const verdict = fc.constantFrom<Reevaluation>(
      allow("plan"),
      allow("new"),
      deny("CONDITION_FALSE"),
      deny("IDENTITY_NOT_READY"),
    );
    const step = fc.oneof(
      fc.record({ kind: fc.constant("add" as const), id }),
      fc.record({ kind: fc.constant("ended" as const), id }),
      fc.record({ kind: fc.constant("revoke" as const), id }),
      fc.record({ kind: fc.constant("reevaluate" as const), verdicts: fc.dictionary(id, verdict) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        let verdicts: Record<string, Reevaluation> = {};
        const { connections, live, state } = registry({
          evaluate: (access) => byId(verdicts)(access),
          capacity: 4,
        });
        const model = new Map<string, { plan: string; listed: boolean; closed?: object }>();
        for (const one of steps) {
          state.now += 1;
          if (one.kind === "add") {
            const access = accessOf({ requestId: one.id, at: state.now });
            const fits = model.size < 4 && !model.has(one.id);
            assert.equal(connections.add(connection(one.id, { access })), fits);
            if (fits) model.set(one.id, { plan: "plan", listed: false });
          } else if (one.kind === "ended") {
            connections.ended([one.id]);
            model.delete(one.id);
          } else if (one.kind === "revoke") {
            connections.revoke(({ decisionId }) => decisionId === one.id);
            const entry = model.get(one.id);
            if (entry) entry.closed ??= { code: 1008, reason: "SESSION_ENDED" };
          } else {
            ({ verdicts } = one);
            await connections.reevaluate();
            state.now += 1;
            for (const [key, entry] of model) {
              const evaluated = verdicts[key] ?? allow("plan");
              if (evaluated.verdict === "DENY") {
                entry.closed ??=
                  evaluated.reason === "CONDITION_FALSE"
                    ? POLICY_CHANGED
                    : { code: 1013, reason: "SERVICE_UNAVAILABLE" };
              } else if (evaluated.planText !== entry.plan) {
                entry.plan = evaluated.planText;
                entry.listed = true;
              }
            }
          }
          const entries = [...model];
          assert.deepEqual(connections.directives(), {
            closed: Object.fromEntries(
              entries.flatMap(([key, { closed }]) => (closed ? [[key, closed]] : [])),
            ),
            plans: Object.fromEntries(
              entries.flatMap(([key, { closed, listed, plan }]) => (listed && !closed ? [[key, plan]] : [])),
            ),
          });
          assert.equal((await live()) ?? 0, model.size);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  describe("a session that ends while a handshake is being evaluated", () => {
    it("closes its connection, which was not there yet when the session ended", async () => {
      const { connections, state } = registry({ evaluate: byId({ "dec-1": deny("SESSION_ENDED") }) });
      state.now = START + 5;
      connections.revoke(() => true);
      // asked for at START + 1, and evaluated by what was known then
      connections.add(connection("dec-1"));
      connections.add(connection("dec-2"));
      await until(() => "dec-1" in connections.directives().closed, "it is closed");
      assert.deepEqual(Object.keys(connections.directives().closed), ["dec-1"]);
    });

    it("evaluates again nobody who was there, or asked later", async () => {
      const evaluated: string[] = [];
      const { connections, state } = registry({
        evaluate: ({ requestId }) => {
          evaluated.push(requestId);
          return allow("plan");
        },
      });
      connections.add(connection("there"));
      state.now = START + 5;
      connections.revoke(() => false);
      connections.add(connection("later", { access: accessOf({ requestId: "later", at: START + 6 }) }));
      connections.add(connection("meanwhile"));
      await until(() => evaluated.length > 0, "one is evaluated");
      assert.deepEqual(evaluated, ["meanwhile"]);
    });
  });
});
