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

/** What a judge says of a case, in a form that is the same for both. */
export interface Judged {
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

/** Lua that judges one case, as JSON, by `graphql_evaluate` and `graphql_events`. */
export const JUDGE = `
local json = require("gatehouse.json")
local judge = require("gatehouse.graphql_evaluate").evaluate
local events = require("gatehouse.graphql_events")
local decode = require("gatehouse.graphql_payload").decode
function one(text)
  local case = json.plain(text)
  local env = decode(case.env)
  local payload = decode(case.payload)
  if payload == nil then return json.encode({ kind = "refused", code = "GRAPHQL_MALFORMED" }) end
  local verdict = judge(case.plan, payload, env)
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
  end
  return json.encode({ kind = "allowed", events = named, delivered = delivered })
end
`;

/** What Lua gave for a case; empty lists may come as objects. */
export function judgedOf(text: string): Judged {
  const judged = JSON.parse(text) as Judged;
  if (judged.kind !== "allowed") return judged;
  return {
    kind: "allowed",
    events: Object.values(judged.events ?? {}),
    delivered: Object.values(judged.delivered ?? {}),
  };
}

/** What src/graphql says, where nothing comes back null, as over WebSocket. */
export function judge({ plan, payload, env, events }: GraphqlCase): Judged {
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
          const judged = evaluateEvent(verdict.events, readJson(text), { env: env as InputValue });
          return judged.deliver ? true : (judged.rule ?? false);
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
