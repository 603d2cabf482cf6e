import assert from "node:assert/strict";
import { planEvents } from "../../../src/decision/decide/plan.ts";
import {
  evaluateGraphql,
  GraphqlRefusal,
  readJson,
  readPayload,
  type InputValue,
} from "../../../src/graphql/index.ts";
import { allCases, type GraphqlCase } from "../../graphql/support/cases.ts";
import type { LuaRunner } from "../../support/lua.ts";
import { EVALUATE, evaluatedOf, type Evaluated } from "./evaluated.ts";
import { startBatches, type LuaBatch } from "./support.ts";

/** What a published case expects where nothing comes back null, as over WebSocket. */
function expectedOf({ verdict, code, nulls, denied, events, deliver, withhold }: GraphqlCase) {
  const kind = nulls === undefined ? verdict : "denied";
  return {
    kind,
    ...(kind === "refused" && { code }),
    ...(kind === "denied" && { denied: denied.map(({ path, rule }) => ({ path, rule })) }),
    ...(kind === "allowed" && {
      events,
      delivered: [...deliver.map(() => true), ...withhold.map(() => false)],
    }),
  };
}

/** What decides on the events where the operation is sent over HTTP. */
function plannedOf(plan: GraphqlCase["plan"], json: string, env: GraphqlCase["env"]) {
  try {
    const request = { payloads: [readPayload(readJson(json))], batch: false, kinds: KINDS, nullable: false };
    const verdict = evaluateGraphql(plan, request, { env: env as InputValue });
    return verdict.kind === "allowed" ? planEvents(verdict.events, "test") : undefined;
  } catch (error) {
    if (error instanceof GraphqlRefusal) return undefined;
    throw error;
  }
}
const KINDS = ["query", "mutation", "subscription"] as const;

function resultOf({ kind, code, denials = [], events = [], delivered = [] }: Evaluated) {
  return {
    kind,
    ...(kind === "refused" && { code }),
    ...(kind === "denied" && { denied: denials.map(({ path, rule }) => ({ path: path.join("."), rule })) }),
    ...(kind === "allowed" && {
      events: events.map(({ rule, paths }) => ({ rule, paths: [...paths] })),
      delivered: delivered.map((one) => one === true),
    }),
  };
}

describe("GraphQL cases in Lua", () => {
  let runner: LuaRunner;
  let batch: LuaBatch;
  before(async () => {
    ({ runner, batch } = await startBatches(EVALUATE));
  });
  after(() => runner.close());

  for (const [file, cases] of allCases()) {
    it(file, async () => {
      const texts = cases.map(({ plan, json, env, deliver, withhold }) =>
        JSON.stringify({
          plan,
          payload: json,
          env: JSON.stringify(env),
          events: [...deliver, ...withhold].map((event) => JSON.stringify(event)),
          planned: plannedOf(plan, json, env),
        }),
      );
      const evaluated = (await batch(texts)).map(evaluatedOf);
      for (const [index, one] of cases.entries()) {
        const result = evaluated[index]!;
        assert.deepEqual(resultOf(result), expectedOf(one), one.name);
        for (const [place, { message }] of one.denied.entries()) {
          if (message === undefined) continue;
          const { code } = result.denials?.[place] ?? {};
          assert.equal(result.denials?.[place]?.message, message, one.name);
          assert.equal(
            code,
            message === "introspection is denied" ? "INTROSPECTION_DENIED" : "ACCESS_DENIED",
          );
        }
      }
    });
  }
});
