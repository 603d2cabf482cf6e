import { carriesNoOperation, graphqlErrors, evaluateGraphql } from "../../graphql/index.ts";
import { IR_VERSION, type GraphqlPlanIR, type PlannedField } from "../../policy/evaluation.ts";
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
import { readOperations } from "./read-operations.ts";
import { planAnswer, planEvents, planGraphql } from "./plan.ts";
import { prefersHtml } from "../../request/index.ts";
import type { GraphqlEndpoint } from "../policies/graphql-endpoints.ts";
import type { Decision, Denial, Permit } from "../types.ts";
import { andThen, type PromiseOrValue } from "../promise-or-value.ts";

/** What decides on operations at an endpoint, or why the request is denied. */
export type GraphqlPlanned =
  { readonly ok: true; readonly graphql: GraphqlPlanIR } | { readonly ok: false; readonly denial: Denial };

/**
 * Plans what decides on operations at an endpoint.
 *
 * @param params - of the endpoint's path
 * @param fields - response rules of the set that apply at the endpoint
 */
export function planOperations(
  evaluation: EvaluationContext,
  params: GraphqlEndpoint["params"],
  fields: readonly PlannedField[],
): PromiseOrValue<GraphqlPlanned> {
  const { snapshot } = evaluation;
  return andThen(gather(evaluation, snapshot.graphql.needs, params), (gathered) => {
    if (!gathered.ok) return gathered;
    return andThen(withFieldsOfOthers(evaluation, fields), (guarded) =>
      guarded.ok
        ? {
            ok: true,
            graphql: planGraphql(
              snapshot,
              gathered.attributes,
              guarded.fields,
              evaluation.with.recorded?.specialize,
            ),
          }
        : guarded,
    );
  });
}

/**
 * Adds the fields that are masked by other sets, or by rules for other readings of the request. Their names must not be
 * aliased either, and only here are an operation's aliases known.
 */
function withFieldsOfOthers(
  evaluation: EvaluationContext,
  fields: readonly PlannedField[],
): PromiseOrValue<ResponseFields> {
  const { request: sent, others, variants } = evaluation.readings;
  const readings = new Set([evaluation.request, sent, ...others, ...variants.map(({ request }) => request)]);
  return evaluation.sets
    .flatMap((snapshot) => [...readings].map((request) => ({ snapshot, request })))
    .filter(
      ({ snapshot, request }) =>
        snapshot.digest !== evaluation.snapshot.digest || request !== evaluation.request,
    )
    .reduce<PromiseOrValue<ResponseFields>>(
      (sofar, other) =>
        andThen(sofar, (before) => {
          if (!before.ok) return before;
          const draft = { ...evaluation.draft, ...other };
          return andThen(evaluateResponses({ ...evaluation, ...other, draft }), (found) =>
            found.ok ? { ...before, fields: [...before.fields, ...found.fields] } : found,
          );
        }),
      { ok: true, fields, othersPass: false },
    );
}

/**
 * Evaluates the operations of a request to a GraphQL endpoint that the path rules have not denied.
 *
 * @param path - the result of the path rules; `undefined` if none matches
 */
export function evaluateOperations(
  evaluation: EvaluationContext,
  path: BarePermit | undefined,
  params: GraphqlEndpoint["params"],
): PromiseOrValue<Decision> {
  return andThen(evaluateResponses(evaluation), (responses) => {
    if (!responses.ok) return responses.denial;
    return andThen(planOperations(evaluation, params, responses.fields), (planned) => {
      if (!planned.ok) return planned.denial;
      switch (bodyProblem(evaluation)) {
        case "BODY_NEEDED":
          return evaluateBeforeBody(evaluation, path, planned.graphql, responses.fields);
        case "BODY_TOO_LARGE":
          return deny(evaluation.draft, "BODY_TOO_LARGE");
        case undefined:
          return evaluateReadOperations(evaluation, path, planned.graphql, responses.fields);
      }
    });
  });
}

/** Every request must provide its body: whatever the method is, an application may read an operation from it. */
function evaluateBeforeBody(
  evaluation: EvaluationContext,
  page: BarePermit | undefined,
  graphql: GraphqlPlanIR,
  fields: readonly PlannedField[],
): Denial {
  const { request, draft } = evaluation;
  const needed = deny(draft, "BODY_NEEDED");
  if (request.method === "POST") return needed;
  // an operation in the URL may be denied at once
  const decision = evaluateReadOperations(
    { ...evaluation, request: { ...request, body: NO_BODY } },
    page,
    graphql,
    fields,
  );
  return decision.verdict === "DENY" ? decision : needed;
}

/** @param page - permits a browser that asks for no operation to load the page that servers show at their endpoint */
function evaluateReadOperations(
  evaluation: EvaluationContext,
  page: BarePermit | undefined,
  graphql: GraphqlPlanIR,
  fields: readonly PlannedField[],
): Decision {
  const { snapshot, draft, caller, access } = evaluation;
  if (page !== undefined && isPageRequest(evaluation)) return withAnswerPlan(evaluation, page, fields, {});
  const read = readOperations(evaluation);
  if (!read.ok) return { ...deny(draft, read.code, read.message), graphqlErrors: graphqlErrors([read]) };
  const env = environmentAttributes(access.receivedAt, evaluation.with.environment);
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
      return withAnswerPlan(evaluation, allow(draft, "GRAPHQL_ALLOWED"), [...fields, ...verdict.nulls], {
        // also if the fields are those of another set or reading, whose plan is joined with this one
        graphql: fields.length > 0 || verdict.nulls.length > 0 || (graphql.guardedNames ?? []).length > 0,
        errors: verdict.errors,
        events: planEvents(verdict.events, evaluation.with.environment),
      });
  }
}

/**
 * Whether a browser asks for the page that servers show at their endpoint (GraphiQL and others). Only where the path as it
 * was sent is the endpoint's: below it, the path itself may name a stored operation.
 */
function isPageRequest({ request, isOther }: EvaluationContext): boolean {
  return isOther !== true && prefersHtml(request.headers["accept"]) && carriesNoOperation(request);
}

/** The same, for a request of which it is not known whether its path is an endpoint's. */
export function isEndpointPage(evaluation: EvaluationContext): boolean {
  const endpoint = evaluation.snapshot.endpoints.at(evaluation.request);
  return typeof endpoint === "object" && endpoint.as === undefined && isPageRequest(evaluation);
}

function withAnswerPlan(
  { with: { limits } }: EvaluationContext,
  decision: BarePermit,
  fields: readonly PlannedField[],
  result: NonNullable<Parameters<typeof planAnswer>[2]>,
): Permit {
  const answer = planAnswer(limits.response, fields, result);
  return answer.response === undefined ? decision : { ...decision, plan: { ir: IR_VERSION, ...answer } };
}
