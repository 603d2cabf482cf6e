import assert from "node:assert/strict";
import fc from "fast-check";
import type { LuaRunner } from "../../support/lua.ts";
import { runs } from "../../support/runs.ts";
import { evaluate, EVALUATE, evaluatedOf } from "./evaluated.ts";
import { graphqlCases, type GraphqlCase } from "./requests.ts";
import { planOf, ruleOf } from "./plans.ts";
import { startBatches, type LuaBatch } from "./support.ts";

describe("GraphQL operations in Lua", () => {
  let runner: LuaRunner;
  let batch: LuaBatch;
  before(async () => {
    ({ runner, batch } = await startBatches(EVALUATE));
  });
  after(() => runner.close());

  const evaluatedByLua = async (cases: readonly GraphqlCase[]) =>
    (await batch(cases.map((one) => JSON.stringify({ ...one, env: JSON.stringify(one.env) })))).map(
      evaluatedOf,
    );

  it("are evaluated as src/graphql evaluates them", async () => {
    const seen = new Map<string, number>();
    const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    await fc.assert(
      fc.asyncProperty(fc.array(graphqlCases, { minLength: 50, maxLength: 100 }), async (cases) => {
        const expected = cases.map(evaluate);
        const evaluated = await evaluatedByLua(cases);
        for (const [index, one] of cases.entries()) {
          assert.deepEqual(evaluated[index], expected[index], JSON.stringify(one));
        }
        for (const { kind, events, delivered } of expected) {
          count(kind);
          if (events?.length)
            for (const passes of delivered ?? [])
              count(`event ${passes === true ? "delivered" : "withheld"}`);
        }
      }),
      // the message names the one case of the batch; shrinking the batch would take minutes
      { numRuns: runs(20), endOnFailure: true },
    );
    for (const what of ["allowed", "denied", "refused", "event delivered", "event withheld"]) {
      assert.ok((seen.get(what) ?? 0) >= 5, `${what}: ${seen.get(what) ?? 0}`);
    }
  });

  it("take a late root of a union for a member where one of the union's types has it", async () => {
    const field = (type: string) => ({ type });
    const plan = planOf([ruleOf("subscription event", 'order.id == "1"')], {
      schema: {
        roots: { query: "Query", subscription: "Subscription" },
        types: {
          Query: { fields: {} },
          Subscription: { fields: { event: field("Event") } },
          Event: { fields: {}, possible: ["Order", "Created"] },
          Created: { fields: { order: field("Order") } },
          Order: { fields: { id: field("ID") } },
        },
      },
    });
    const asked = (query: string, events: readonly object[] = []) => ({
      plan,
      payload: JSON.stringify({ query }),
      env: {},
      events: events.map((event) => JSON.stringify({ data: { event } })),
    });
    const [selected, other] = await evaluatedByLua([
      asked("subscription { event { ... on Created { order { id } } } }", [
        { order: { id: "1" } },
        { id: "1" },
      ]),
      asked("subscription { event { ... on Order { id } } }"),
    ]);
    assert.deepEqual(selected?.events, [{ rule: "subscription event", key: "event", paths: ["order.id"] }]);
    assert.deepEqual(selected.delivered, [true, "subscription event"]);
    assert.equal(other?.denials?.[0]?.message, 'select "order.id" to subscribe');
  });
});
