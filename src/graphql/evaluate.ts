import { LookedAt } from "../names/index.ts";
import type { GraphqlPlanIR, PlannedGraphqlRule } from "../policy/index.ts";
import { Conditions } from "./conditions.ts";
import { eventOf } from "./events.ts";
import { variablesOf } from "./literals.ts";
import { Outcome } from "./outcome.ts";
import { Parents } from "./parents.ts";
import { readDocument, type ExecutableDocument } from "./read-document.ts";
import { Rules } from "./rules.ts";
import { scanTokens } from "./scan-tokens.ts";
import {
  GraphqlRefusal,
  malformed,
  overLimit,
  type GraphqlPayload,
  type GraphqlRequest,
  type GraphqlVerdict,
  type EvaluationOptions,
  type OperationKind,
} from "./types.ts";
import { Walk, type Occurrence } from "./walk.ts";
import { filledIn, GRAPHQL, GRAPHQL_TEXT } from "./refusals.ts";

/**
 * Evaluates a request by a plan: every operation in its documents, whichever one is to be executed. Takes bounded time
 * whatever the documents are. Anything it throws is a bug.
 */
export function evaluateGraphql(
  plan: GraphqlPlanIR,
  request: GraphqlRequest,
  options: EvaluationOptions,
): GraphqlVerdict {
  try {
    return evaluateRequest(plan, request, options);
  } catch (error) {
    if (error instanceof GraphqlRefusal) return { kind: "refused", code: error.code, message: error.message };
    throw error;
  }
}

function evaluateRequest(
  plan: GraphqlPlanIR,
  { payloads, batch, kinds, nullable }: GraphqlRequest,
  options: EvaluationOptions,
) {
  checkLength(plan, payloads);
  let budget = plan.limits.tokens;
  for (const { query } of payloads) budget -= scanTokens(query, budget);
  const documents = payloads.map((payload) => ({ payload, ...readDocument(payload, kinds) }));
  const deferred = documents.some((document) => document.deferred);
  // parts of a response are delivered at other paths than those that masking looks for
  if (deferred && (plan.guardedNames ?? []).length > 0) malformed(GRAPHQL_TEXT.deferred);

  const parents = new Parents(plan);
  for (const { operations } of documents) for (const { operation } of operations) parents.rootOf(operation);
  const evaluation: Evaluation = {
    plan,
    options,
    parents,
    rules: new Rules(plan, parents),
    guarded: new Set(plan.guardedNames),
    counters: { selections: 0, aliases: 0 },
    lookedAt: new LookedAt(),
    outcome: new Outcome(nullable && !batch && !deferred),
  };
  for (const document of documents) evaluateDocument(evaluation, document);
  return evaluation.outcome.verdict();
}

/** A document of up to this many characters is never too long. The limit for longer ones depends on the token limit. */
const SHORT = 100_000;
const CHARACTERS_PER_TOKEN = 50;

/** Comments and blanks are not tokens, and a string is only one, but they take time as well. @throws GraphqlRefusal */
function checkLength({ limits }: GraphqlPlanIR, payloads: readonly GraphqlPayload[]): void {
  const length = payloads.reduce((sum, { query }) => sum + query.length, 0);
  if (length > Math.max(SHORT, limits.tokens * CHARACTERS_PER_TOKEN)) {
    overLimit("the documents are too long for the token limit");
  }
}

interface Evaluation {
  readonly plan: GraphqlPlanIR;
  readonly options: EvaluationOptions;
  readonly parents: Parents;
  readonly rules: Rules;
  readonly guarded: ReadonlySet<string>;
  readonly counters: { selections: number; aliases: number };
  readonly lookedAt: LookedAt;
  readonly outcome: Outcome;
}

function evaluateDocument(
  evaluation: Evaluation,
  { payload, operations, fragments }: ExecutableDocument & { readonly payload: GraphqlPayload },
): void {
  const { plan, options, parents, counters, lookedAt, outcome } = evaluation;
  const { variables: given } = payload;
  for (const operation of operations) {
    const kind = operation.operation;
    const conditions = new Conditions({
      variables: variablesOf(operation, payload),
      given,
      env: options.env,
      lookedAt,
    });
    const visit = (occurrence: Occurrence) => {
      outcome.visit(kind, occurrence);
      denyRenaming(evaluation, occurrence);
      evaluateField(evaluation, occurrence, { kind, conditions, fragments });
    };
    new Walk({ limits: plan.limits, parents, operation, fragments, counters, visit }).run();
  }
}

/** Masking finds fields by name: a masked field must keep its name, and no other field may take it. */
function denyRenaming({ guarded, outcome }: Evaluation, { node: { name, alias } }: Occurrence): void {
  if (alias === undefined || alias.value === name.value) return;
  if (!guarded.has(name.value) && !guarded.has(alias.value)) return;
  outcome.deny({ message: filledIn(GRAPHQL_TEXT.renamed, name.value) });
}

interface OperationContext extends Pick<ExecutableDocument, "fragments"> {
  readonly kind: OperationKind;
  readonly conditions: Conditions;
}

function evaluateField(evaluation: Evaluation, occurrence: Occurrence, operation: OperationContext): void {
  const { plan, rules, outcome } = evaluation;
  const { name, parent } = occurrence;
  if (parent.introspection || name === "__typename") return;
  if (name === "__schema" || name === "__type") {
    if (plan.introspection === "deny")
      outcome.deny({ code: GRAPHQL.INTROSPECTION_DENIED, message: GRAPHQL_TEXT.introspection });
    return;
  }
  const matching = rules.matching(name, parent, operation.kind);
  const unnamed = parent.root !== undefined && !matching.some(({ type }) => parent.root?.includes(type));
  if (unnamed && plan.default === "deny") outcome.deny({});
  for (const rule of matching) evaluateRule(evaluation, occurrence, operation, rule);
}

function evaluateRule(
  { options, outcome, parents }: Evaluation,
  occurrence: Occurrence,
  { kind, conditions, fragments }: OperationContext,
  rule: PlannedGraphqlRule,
): void {
  const { path, rootField } = occurrence;
  const { args, verdict, late } = conditions.verdict(occurrence, rule);
  // a subscription's payload is known only with each event, and conditions on it belong to the root field
  const event = verdict === undefined && late.length > 0 && rootField && kind === "subscription";
  options.evaluated?.({ rule: rule.rule, path, args, verdict, event });
  if (verdict === true) return;
  if (!event || !rule.when) {
    outcome.deny(rule);
    return;
  }
  const found = eventOf(occurrence, late, { fragments, parents });
  if ("missing" in found)
    outcome.deny({ ...rule, message: filledIn(GRAPHQL_TEXT.not_selected, found.missing) });
  else outcome.await({ rule: rule.rule, when: rule.when, args, key: path[0] ?? "", ...found });
}
