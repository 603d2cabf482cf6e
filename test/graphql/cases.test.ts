import assert from "node:assert/strict";
import {
  graphqlErrors,
  GraphqlRefusal,
  evaluateEvent,
  evaluateGraphql,
  readJson,
  readPayload,
  type GraphqlRequest,
  type GraphqlVerdict,
  type InputValue,
} from "../../src/graphql/index.ts";
import { allCases, type GraphqlCase } from "./support/cases.ts";

const KINDS = ["query", "mutation", "subscription"] as const;

function evaluated({ plan, json, env }: GraphqlCase, nullable: boolean): GraphqlVerdict {
  let request: GraphqlRequest;
  try {
    request = { payloads: [readPayload(readJson(json))], batch: false, kinds: KINDS, nullable };
  } catch (error) {
    assert.ok(error instanceof GraphqlRefusal, String(error));
    return { kind: "refused", code: error.code, message: error.message };
  }
  return evaluateGraphql(plan, request, { env: env as InputValue });
}

/** Where nothing can come back null, as over WebSocket. */
function assertVerdict(one: GraphqlCase, verdict: GraphqlVerdict): void {
  assert.equal(verdict.kind, one.verdict, JSON.stringify(verdict));
  switch (verdict.kind) {
    case "refused":
      assert.equal(verdict.code, one.code);
      break;
    case "denied":
      assert.deepEqual(
        verdict.denials.map(({ path, rule, message }, index) => ({
          path: path.join("."),
          ...(rule !== undefined && { rule }),
          ...(one.denied[index]?.message !== undefined && { message }),
        })),
        one.denied,
      );
      for (const { code, message } of verdict.denials) {
        assert.equal(code === "INTROSPECTION_DENIED", message === "introspection is denied");
      }
      break;
    case "allowed":
      assert.deepEqual(
        verdict.events.map(({ rule, paths }) => ({ rule, paths })),
        one.events,
      );
      assert.deepEqual([verdict.nulls, verdict.errors], [[], []]);
      for (const [payloads, deliver] of [
        [one.deliver, true],
        [one.withhold, false],
      ] as const) {
        for (const payload of payloads) {
          const result = evaluateEvent(verdict.events, payload as InputValue, { env: one.env as InputValue });
          assert.equal(result.deliver, deliver, JSON.stringify(payload));
        }
      }
  }
}

/** Over HTTP, where denied fields may come back null. */
function assertNulls(one: GraphqlCase, verdict: GraphqlVerdict): void {
  if (one.nulls === undefined) {
    assert.equal(verdict.kind, one.verdict);
    return;
  }
  assert.ok(verdict.kind === "allowed", JSON.stringify(verdict));
  assert.deepEqual(
    verdict.nulls.map(({ keys }) => keys.join(".")),
    one.nulls,
  );
  for (const { anchored, action } of verdict.nulls) assert.deepEqual([anchored, action.kind], [true, "null"]);
  const denied = evaluated(one, false);
  assert.deepEqual(verdict.errors, denied.kind === "denied" ? graphqlErrors(denied.denials) : []);
}

for (const [name, cases] of allCases()) {
  describe(`GraphQL cases: ${name}`, () => {
    for (const [index, one] of cases.entries()) {
      it(`${index + 1}: ${one.name}`, () => {
        assertVerdict(one, evaluated(one, false));
        assertNulls(one, evaluated(one, true));
      });
    }
  });
}
