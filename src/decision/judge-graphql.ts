import { graphqlErrors, judgeGraphql, readGraphqlRequest } from "../graphql/index.ts";
import { IR_VERSION, type GraphqlErrorIR, type GraphqlPlanIR, type PlannedField } from "../policy/index.ts";
import { NO_BODY } from "../request/index.ts";
import { allow, chain, deny, gather, bodyProblem, type Eventually, type Judgement } from "./judgement.ts";
import { environmentAttributes } from "./attributes.ts";
import { judgeResponses, type ResponseFields } from "./judge-responses.ts";
import { planAnswer, planGraphql } from "./plan.ts";
import type { Decision } from "./types.ts";

/** What decides about operations at an endpoint, or why the request cannot be let through. */
export type GraphqlPlanned =
  { readonly ok: true; readonly graphql: GraphqlPlanIR } | { readonly ok: false; readonly denial: Decision };

/** Parameters of a path that is a GraphQL endpoint. */
export type EndpointParams = Readonly<Record<string, string>>;

/** @param fields - response rules of the set that apply at the endpoint */
export function planOperations(
  judgement: Judgement,
  params: EndpointParams,
  fields: readonly PlannedField[],
): Eventually<GraphqlPlanned> {
  const { snapshot } = judgement;
  return chain(gather(judgement, snapshot.graphql.needs, params), (gathered) => {
    if (!gathered.ok) return gathered;
    return chain(guardedByOthers(judgement, fields), (guarded) =>
      guarded.ok
        ? { ok: true, graphql: planGraphql(snapshot, gathered.attributes, guarded.fields) }
        : guarded,
    );
  });
}

/** What other sets mask keeps its name, too: only here is it known what an operation calls it. */
function guardedByOthers(judgement: Judgement, fields: readonly PlannedField[]): Eventually<ResponseFields> {
  const { snapshot, sets } = judgement;
  return sets
    .filter(({ digest }) => digest !== snapshot.digest)
    .reduce<Eventually<ResponseFields>>(
      (sofar, other) =>
        chain(sofar, (before) => {
          if (!before.ok) return before;
          const draft = { ...judgement.draft, snapshot: other };
          return chain(judgeResponses({ ...judgement, snapshot: other, draft }), (found) =>
            found.ok ? { ...before, fields: [...before.fields, ...found.fields] } : found,
          );
        }),
      { ok: true, fields, othersPass: false },
    );
}

/**
 * Judges the operations of a request to a GraphQL endpoint. The path rules have not denied it.
 */
export function judgeOperations(judgement: Judgement, params: EndpointParams): Eventually<Decision> {
  return chain(judgeResponses(judgement), (responses) => {
    if (!responses.ok) return responses.denial;
    return chain(planOperations(judgement, params, responses.fields), (planned) => {
      if (!planned.ok) return planned.denial;
      switch (bodyProblem(judgement)) {
        case "BODY_NEEDED":
          return judgeBeforeBody(judgement, planned.graphql, responses.fields);
        case "BODY_TOO_LARGE":
          return deny(judgement.draft, "BODY_TOO_LARGE");
        case undefined:
          return judge(judgement, planned.graphql, responses.fields);
      }
    });
  });
}

/** Whatever the method is, an application may find an operation in the body: every request is asked for its body. */
function judgeBeforeBody(
  judgement: Judgement,
  graphql: GraphqlPlanIR,
  fields: readonly PlannedField[],
): Decision {
  const { request, draft } = judgement;
  const needed = deny(draft, "BODY_NEEDED");
  if (request.method === "POST") return needed;
  // what the URL alone asks for may be denied at once
  const decision = judge({ ...judgement, request: { ...request, body: NO_BODY } }, graphql, fields);
  return decision.verdict === "DENY" ? decision : needed;
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
      return allowed(judgement, [...fields, ...verdict.nulls], verdict.errors);
  }
}

function allowed(
  { draft, with: { limits } }: Judgement,
  fields: readonly PlannedField[],
  errors: readonly GraphqlErrorIR[],
): Decision {
  const decision = allow(draft, "GRAPHQL_ALLOWED");
  const answer = planAnswer(limits.response, fields, { errors });
  return answer.response === undefined ? decision : { ...decision, plan: { ir: IR_VERSION, ...answer } };
}
