import {
  GraphqlRefusal,
  evaluateEvent,
  evaluateGraphql,
  readJson,
  readPayload,
  type GraphqlDenial,
  type GraphqlPayload,
  type GraphqlVerdict,
  type InputValue,
} from "../../../src/graphql/index.ts";
import type { GraphqlCase } from "./requests.ts";

/** The result of evaluating a case, in the same form for TypeScript and Lua. */
export interface Evaluated {
  readonly kind: GraphqlVerdict["kind"];
  /** Of a refusal. */
  readonly code?: string;
  readonly denials?: readonly GraphqlDenial[];
  readonly events?: readonly {
    readonly rule: string;
    readonly key: string;
    readonly paths: readonly string[];
  }[];
  /** Of each of the case's events: whether it is delivered, or which rule withholds it. */
  readonly delivered?: readonly (boolean | string)[];
}

/** Lua that evaluates one case, as JSON, by `graphql_evaluate` and `graphql_events`. */
export const EVALUATE = `
local json = require("gatehouse.json")
local evaluate = require("gatehouse.graphql_evaluate").evaluate
local events = require("gatehouse.graphql_events")
local decode = require("gatehouse.graphql_payload").decode
function one(text)
  local case = json.plain(text)
  local env = decode(case.env)
  local payload = decode(case.payload)
  if payload == nil then return json.encode({ kind = "refused", code = "GRAPHQL_MALFORMED" }) end
  local verdict = evaluate(case.plan, payload, env)
  assert(verdict.message ~= "the operation cannot be evaluated", "an error in Lua")
  if verdict.kind ~= "allowed" then
    return json.encode({ kind = verdict.kind, code = verdict.code, denials = verdict.denials })
  end
  local named, delivered = {}, {}
  for index, event in ipairs(verdict.events) do
    named[index] = { rule = event.rule, key = event.key, paths = event.paths }
  end
  for index, event in ipairs(case.events) do
    local value = decode(event)
    local permitted, rule = #named == 0, nil
    if not permitted then permitted, rule = events.evaluate(verdict.events, value, env) end
    delivered[index] = permitted or rule or false
    -- over HTTP the arguments are known when the response begins
    if case.planned then assert(events.permits(case.planned, event, env) == permitted, event) end
  end
  return json.encode({ kind = "allowed", events = named, delivered = delivered })
end
`;

/** What Lua gave for a case; empty lists may come as objects. */
export function evaluatedOf(text: string): Evaluated {
  const evaluated = JSON.parse(text) as Evaluated;
  if (evaluated.kind !== "allowed") return evaluated;
  return {
    kind: "allowed",
    events: Object.values(evaluated.events ?? {}),
    delivered: Object.values(evaluated.delivered ?? {}),
  };
}

/** What src/graphql says, where nothing comes back null, as over WebSocket. */
export function evaluate({ plan, payload, env, events }: GraphqlCase): Evaluated {
  const read = payloadOf(payload);
  if (read === undefined) return { kind: "refused", code: "GRAPHQL_MALFORMED" };
  const verdict = evaluateGraphql(
    plan,
    { payloads: [read], batch: false, kinds: ["query", "mutation", "subscription"], nullable: false },
    { env: env as InputValue },
  );
  switch (verdict.kind) {
    case "refused":
      return { kind: "refused", code: verdict.code };
    case "denied":
      return { kind: "denied", denials: verdict.denials };
    case "allowed":
      return {
        kind: "allowed",
        events: verdict.events.map(({ rule, key, paths }) => ({ rule, key, paths })),
        delivered: events.map((text) => {
          const evaluated = evaluateEvent(verdict.events, readJson(text), { env: env as InputValue });
          return evaluated.deliver ? true : (evaluated.rule ?? false);
        }),
      };
  }
}

function payloadOf(text: string): GraphqlPayload | undefined {
  try {
    return readPayload(readJson(text));
  } catch (error) {
    if (error instanceof GraphqlRefusal) return undefined;
    throw error;
  }
}
