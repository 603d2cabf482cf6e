import { canBecomeTrue, specialize, type PathRuleIR } from "../../policy/evaluation.ts";
import type { RuleNeeds } from "../policies/needs.ts";
import {
  deny,
  fromVerdict,
  gather,
  bodyProblem,
  verdictOf,
  type BarePermit,
  type EvaluationContext,
} from "./evaluation-context.ts";
import { evaluatePreflight, type PreflightPermit } from "./evaluate-preflight.ts";
import type { Denial } from "../types.ts";
import { andThen, type PromiseOrValue } from "../promise-or-value.ts";

/**
 * Evaluates a request by `policies` and `web_policies`: the most specific rule decides.
 *
 * @returns `undefined` if no rule matches
 */
export function evaluatePath(
  evaluation: EvaluationContext,
): PromiseOrValue<BarePermit | PreflightPermit | Denial | undefined> {
  const { snapshot, request, draft, caller } = evaluation;
  const match = snapshot.matcher.match(request.method, request.segments);
  if (match.kind === "case") return deny(draft, "AMBIGUOUS_CASE");
  const explicit = match.kind === "rule" && match.rule.method === "OPTIONS";
  const preflight = explicit ? undefined : evaluatePreflight(evaluation);
  if (preflight !== undefined) return preflight;
  if (match.kind === "none") return undefined;

  const { rule, params } = match;
  const needs = snapshot.needs.get(rule);
  if (needs === undefined) throw new Error(`rule ${rule.id} is not of this snapshot`);
  const evaluated = { ...draft, rule };
  if (needs.body && bodyProblem(evaluation) === "BODY_NEEDED") {
    return evaluateBeforeBody({ ...evaluation, draft: evaluated }, rule.condition, needs, params);
  }
  return andThen(gather({ ...evaluation, draft: evaluated }, needs, params), (gathered) => {
    if (!gathered.ok) return gathered.denial;
    const { attributes } = gathered;
    const accepted = [...evaluated.accepted, ...gathered.accepted];
    const verdict = verdictOf(evaluation, rule.condition, needs, attributes);
    return fromVerdict({ ...evaluated, accepted, attributes }, needs, caller, verdict);
  });
}

/**
 * Does not ask for the body if the condition cannot become true with it.
 *
 * @returns a denial, or BODY_NEEDED
 */
function evaluateBeforeBody(
  evaluation: EvaluationContext,
  { expression }: PathRuleIR["condition"],
  needs: RuleNeeds,
  params: Readonly<Record<string, string>>,
): PromiseOrValue<BarePermit | Denial> {
  const { draft, caller } = evaluation;
  return andThen(gather(evaluation, { ...needs, body: false }, params), (gathered) => {
    if (!gathered.ok) return gathered.denial;
    const { attributes } = gathered;
    const rest = specialize(expression, attributes, REQUEST);
    if (rest.known ? rest.verdict === true : canBecomeTrue(rest.residual)) return deny(draft, "BODY_NEEDED");
    const verdict = rest.known ? rest.verdict : undefined;
    const accepted = [...draft.accepted, ...gathered.accepted];
    return fromVerdict({ ...draft, accepted, attributes }, { ...needs, body: false }, caller, verdict);
  });
}

const REQUEST: ReadonlySet<string> = new Set(["request"]);
