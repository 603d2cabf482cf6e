import { refuseOperationIn } from "../../graphql/index.ts";
import { IR_VERSION, type GraphqlPlanIR, type PlanIR } from "../../policy/evaluation.ts";
import type { Decision, Denial, Permit } from "../types.ts";
import { asksForGraphql, isWebsocketUpgrade } from "./evaluate-upgrade.ts";
import type { EvaluationContext } from "./evaluation-context.ts";

/** No operation passes, whatever the filter makes of the rest. */
const NOTHING: GraphqlPlanIR = {
  rules: [],
  limits: { depth: 0, aliases: 0, rootFields: 0, tokens: 0 },
  introspection: "deny",
  default: "deny",
};

/**
 * Clients of GraphQL may say only in the first message who they are. If a handshake lacks nothing but an identity, the
 * connection is held: the handshake is passed on, and nothing else before the rules are evaluated with that message's
 * token (point/identify-connection.ts). Only at an endpoint's own path, and without an operation in its query: elsewhere,
 * an application might do something for the request although it is no upgrade there.
 */
export function holdForIdentity(decision: Decision, evaluation: EvaluationContext): Decision {
  const { request, readings, snapshot, access } = evaluation;
  // a token that is no good has a reason of its own
  if (decision.verdict === "ALLOW" || decision.reason !== "IDENTITY_REQUIRED") return decision;
  // its client has said that it has no token
  if (access.ofConnection !== undefined) return decision;
  if (!isWebsocketUpgrade(request) || !asksForGraphql(request) || request.protocol === "HTTP/1.0")
    return decision;
  if (readings.others.length > 0 || readings.variants.length > 0) return decision;
  const endpoint = snapshot.endpoints.at(request);
  if (endpoint === undefined || endpoint === "case" || endpoint.as !== undefined) return decision;
  if (refuseOperationIn(request) !== undefined) return decision;
  return held(decision, evaluation);
}

function held(denial: Denial, { with: { limits, environment } }: EvaluationContext): Permit {
  const { denials, graphqlErrors, stepUp, ...facts } = denial;
  const plan: PlanIR = {
    ir: IR_VERSION,
    websocket: { limit: limits.message, environment, plain: false, graphql: NOTHING },
  };
  return { ...facts, verdict: "ALLOW", reason: "CONNECTION_HELD", plan };
}
