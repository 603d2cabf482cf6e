import { graphqlErrors, judgeGraphql, readGraphqlRequest } from "../graphql/index.ts";
import { IR_VERSION, paramsOf, type GraphqlPlanIR, type PlanIR, type PlannedField } from "../policy/index.ts";
import { allow, chain, deny, gather, type Eventually, type Judgement } from "./judgement.ts";
import { environmentAttributes } from "./attributes.ts";
import { judgeResponses } from "./judge-responses.ts";
import { planGraphql } from "./plan.ts";
import type { Decision } from "./types.ts";

/** What decides about operations at an endpoint, or why the request cannot be let through. */
export type GraphqlPlanned =
  { readonly ok: true; readonly graphql: GraphqlPlanIR } | { readonly ok: false; readonly denial: Decision };

/** @param fields - response rules that apply at the endpoint */
export function planOperations(
  judgement: Judgement,
  fields: readonly PlannedField[],
): Eventually<GraphqlPlanned> {
  const { snapshot, request } = judgement;
  const endpoint = snapshot.endpoints.match(request.method, request.segments);
  const params = endpoint.kind === "rule" ? paramsOf(endpoint.rule, request.segments) : {};
  return chain(gather(judgement, snapshot.graphql.needs, params), (gathered) =>
    gathered.ok ? { ok: true, graphql: planGraphql(snapshot, gathered.attributes, fields) } : gathered,
  );
}

/**
 * Judges the operations of a request to a GraphQL endpoint. The path rules have not denied it.
 */
export function judgeOperations(judgement: Judgement): Eventually<Decision> {
  return chain(judgeResponses(judgement), (responses) => {
    if (!responses.ok) return responses.denial;
    return chain(planOperations(judgement, responses.fields), (planned) =>
      planned.ok ? judge(judgement, planned.graphql, responses.fields) : planned.denial,
    );
  });
}

function judge(judgement: Judgement, graphql: GraphqlPlanIR, fields: readonly PlannedField[]): Decision {
  const { snapshot, request, draft, caller, access } = judgement;
  const read = readGraphqlRequest(request, snapshot.ir.graphql.settings);
  if (!read.ok) return deny({ ...draft, graphqlErrors: graphqlErrors([read]) }, read.code, read.message);
  const env = environmentAttributes(access.receivedAt, judgement.with.environment);
  const verdict = judgeGraphql(graphql, read, { env });
  switch (verdict.kind) {
    case "refused":
      return deny({ ...draft, graphqlErrors: graphqlErrors([verdict]) }, verdict.code, verdict.message);
    case "denied": {
      const signedOut = snapshot.graphql.needs.identity && caller.identity === undefined;
      const errors = graphqlErrors(verdict.denials);
      const detail = verdict.denials
        .map(({ path, rule }) => `${path.join(".")} (${rule ?? "no rule"})`)
        .join(", ");
      return deny(
        { ...draft, denials: verdict.denials, graphqlErrors: errors },
        signedOut ? "IDENTITY_REQUIRED" : "GRAPHQL_DENIED",
        detail,
      );
    }
    case "allowed":
      return {
        ...allow(draft, "GRAPHQL_ALLOWED"),
        ...withPlan(judgement, [...fields, ...verdict.nulls], verdict.errors),
      };
  }
}

function withPlan(
  { with: { limits } }: Judgement,
  fields: readonly PlannedField[],
  errors: NonNullable<PlanIR["response"]>["errors"] = [],
): Pick<Decision, "plan"> {
  if (fields.length === 0) return {};
  const response = { limit: limits.response, fields, ...(errors.length > 0 && { errors }) };
  return { plan: { ir: IR_VERSION, response } };
}
