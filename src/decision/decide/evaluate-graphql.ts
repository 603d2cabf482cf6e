import { asksForPage, graphqlErrors, evaluateGraphql, readGraphqlRequest } from "../../graphql/index.ts";
import {
  IR_VERSION,
  type GraphqlErrorIR,
  type GraphqlPlanIR,
  type PlannedField,
} from "../../policy/index.ts";
import { NO_BODY } from "../../request/index.ts";
import {
  allow,
  bodyProblem,
  deny,
  gather,
  type BarePermit,
  type EvaluationContext,
} from "./evaluation-context.ts";
import { environmentAttributes } from "../attributes/attributes.ts";
import { evaluateResponses, type ResponseFields } from "./evaluate-responses.ts";
import { planAnswer, planGraphql } from "./plan.ts";
import type { GraphqlEndpoint } from "../policies/graphql-endpoints.ts";
import type { Decision, Denial, Permit } from "../types.ts";
import { andThen, type PromiseOrValue } from "../promise-or-value.ts";

/** What decides about operations at an endpoint, or why the request cannot be let through. */
export type GraphqlPlanned =
  { readonly ok: true; readonly graphql: GraphqlPlanIR } | { readonly ok: false; readonly denial: Denial };

/**
 * @param params - of the endpoint's path
 * @param fields - response rules of the set that apply at the endpoint
 */
export function planOperations(
  judgement: EvaluationContext,
  params: GraphqlEndpoint["params"],
  fields: readonly PlannedField[],
): PromiseOrValue<GraphqlPlanned> {
  const { snapshot } = judgement;
  return andThen(gather(judgement, snapshot.graphql.needs, params), (gathered) => {
    if (!gathered.ok) return gathered;
    return andThen(guardedByOthers(judgement, fields), (guarded) =>
      guarded.ok
        ? { ok: true, graphql: planGraphql(snapshot, gathered.attributes, guarded.fields) }
        : guarded,
    );
  });
}

/** What other sets mask keeps its name, too: only here is it known what an operation calls it. */
function guardedByOthers(
  judgement: EvaluationContext,
  fields: readonly PlannedField[],
): PromiseOrValue<ResponseFields> {
  const { snapshot, sets } = judgement;
  return sets
    .filter(({ digest }) => digest !== snapshot.digest)
    .reduce<PromiseOrValue<ResponseFields>>(
      (sofar, other) =>
        andThen(sofar, (before) => {
          if (!before.ok) return before;
          const draft = { ...judgement.draft, snapshot: other };
          return andThen(evaluateResponses({ ...judgement, snapshot: other, draft }), (found) =>
            found.ok ? { ...before, fields: [...before.fields, ...found.fields] } : found,
          );
        }),
      { ok: true, fields, othersPass: false },
    );
}

/**
 * Judges the operations of a request to a GraphQL endpoint. The path rules have not denied it.
 *
 * @param path - what the path rules say; `undefined` where none matches
 */
export function evaluateOperations(
  judgement: EvaluationContext,
  path: BarePermit | undefined,
  params: GraphqlEndpoint["params"],
): PromiseOrValue<Decision> {
  return andThen(evaluateResponses(judgement), (responses) => {
    if (!responses.ok) return responses.denial;
    return andThen(planOperations(judgement, params, responses.fields), (planned) => {
      if (!planned.ok) return planned.denial;
      switch (bodyProblem(judgement)) {
        case "BODY_NEEDED":
          return judgeBeforeBody(judgement, path, planned.graphql, responses.fields);
        case "BODY_TOO_LARGE":
          return deny(judgement.draft, "BODY_TOO_LARGE");
        case undefined:
          return judge(judgement, path, planned.graphql, responses.fields);
      }
    });
  });
}

/** Whatever the method is, an application may find an operation in the body: every request is asked for its body. */
function judgeBeforeBody(
  judgement: EvaluationContext,
  page: BarePermit | undefined,
  graphql: GraphqlPlanIR,
  fields: readonly PlannedField[],
): Denial {
  const { request, draft } = judgement;
  const needed = deny(draft, "BODY_NEEDED");
  if (request.method === "POST") return needed;
  // what the URL alone asks for may be denied at once
  const decision = judge({ ...judgement, request: { ...request, body: NO_BODY } }, page, graphql, fields);
  return decision.verdict === "DENY" ? decision : needed;
}

/** @param page - what permits the page that servers show at their endpoint, to browsers that ask for no operation */
function judge(
  judgement: EvaluationContext,
  page: BarePermit | undefined,
  graphql: GraphqlPlanIR,
  fields: readonly PlannedField[],
): Decision {
  const { snapshot, request, draft, caller, access } = judgement;
  if (page !== undefined && asksForPage(request)) return withAnswerPlan(judgement, page, fields, []);
  const read = readGraphqlRequest(request, snapshot.ir.graphql.settings);
  if (!read.ok) return { ...deny(draft, read.code, read.message), graphqlErrors: graphqlErrors([read]) };
  const env = environmentAttributes(access.receivedAt, judgement.with.environment);
  const verdict = evaluateGraphql(graphql, read, { env });
  switch (verdict.kind) {
    case "refused":
      return { ...deny(draft, verdict.code, verdict.message), graphqlErrors: graphqlErrors([verdict]) };
    case "denied": {
      const signedOut = snapshot.graphql.needs.identity && caller.identity === undefined;
      const errors = graphqlErrors(verdict.denials);
      const detail = verdict.denials
        .map(({ path, rule }) => `${path.join(".")} (${rule ?? "no rule"})`)
        .join(", ");
      return {
        ...deny(draft, signedOut ? "IDENTITY_REQUIRED" : "GRAPHQL_DENIED", detail),
        denials: verdict.denials,
        graphqlErrors: errors,
      };
    }
    case "allowed":
      return withAnswerPlan(
        judgement,
        allow(draft, "GRAPHQL_ALLOWED"),
        [...fields, ...verdict.nulls],
        verdict.errors,
      );
  }
}

function withAnswerPlan(
  { with: { limits } }: EvaluationContext,
  decision: BarePermit,
  fields: readonly PlannedField[],
  errors: readonly GraphqlErrorIR[],
): Permit {
  const answer = planAnswer(limits.response, fields, { errors });
  return answer.response === undefined ? decision : { ...decision, plan: { ir: IR_VERSION, ...answer } };
}
