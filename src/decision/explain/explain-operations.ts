import { evaluateGraphql, type GraphqlRequest, type GraphqlVerdict } from "../../graphql/index.ts";
import {
  explain,
  formatExpression,
  UNAVAILABLE,
  type Attributes,
  type GraphqlPlanIR,
  type TraceNode,
  type VerdictName,
} from "../../policy/evaluation.ts";
import { partsOfTrace, type EvaluatedCondition } from "../../policy/suite/index.ts";
import { environmentAttributes } from "../attributes/attributes.ts";
import { eachOnce } from "./explain-readings.ts";
import { planOperations } from "../decide/evaluate-graphql.ts";
import { readOperations } from "../decide/read-operations.ts";
import { evaluateResponses } from "../decide/evaluate-responses.ts";
import { gather, type EvaluationContext } from "../decide/evaluation-context.ts";
import { ruleReference, type RuleReference } from "../policies/rule-reference.ts";

/** A rule for one field of an operation. Plain JSON. */
export interface FieldRuleExplanation {
  readonly rule: RuleReference;
  /** Response keys, starting at the root field, joined by dots. */
  readonly path: string;
  readonly verdict: VerdictName;
  readonly condition: TraceNode;
  /** The condition that is evaluated for each event of a subscription. */
  readonly left?: string;
}

/** Why the fields of an operation are permitted or denied. Plain JSON. */
export interface OperationExplanation {
  readonly verdict: "allowed" | "denied" | "refused";
  readonly message?: string;
  readonly denied: readonly {
    readonly path: string;
    readonly code: string;
    readonly message: string;
    /** Rule id; absent if no rule permits the field, or none was evaluated. */
    readonly rule?: string;
  }[];
  readonly rules: readonly FieldRuleExplanation[];
}

/** What decides on operations at an endpoint, with its inputs. */
export interface OperationDesk {
  readonly evaluation: EvaluationContext;
  readonly plan: GraphqlPlanIR;
  readonly attributes: Attributes;
}

/** @returns what decides on operations of the request's caller; `undefined` if that is not available */
export async function openOperations(asked: EvaluationContext): Promise<OperationDesk | undefined> {
  const { snapshot, request } = asked;
  const endpoint = snapshot.endpoints.at(request);
  if (endpoint === undefined || endpoint === "case") return undefined;
  const evaluation =
    endpoint.as === undefined ? asked : { ...asked, request: { ...request, ...endpoint.as } };
  const responses = await evaluateResponses(evaluation);
  if (!responses.ok) return undefined;
  const { params } = endpoint;
  const planned = await planOperations(evaluation, params, responses.fields);
  const gathered = await gather(evaluation, snapshot.graphql.needs, params);
  if (!planned.ok || !gathered.ok) return undefined;
  return { evaluation, plan: planned.graphql, attributes: gathered.attributes };
}

/** Explains the operations of a request to a GraphQL endpoint; `undefined` if none of its readings is one. */
export async function explainRequest(
  readings: readonly EvaluationContext[],
): Promise<OperationExplanation | undefined> {
  const found: OperationExplanation[] = [];
  for (const reading of readings) {
    const explanation = await explainRequestAs(reading);
    if (explanation !== undefined) found.push(explanation);
  }
  const [first] = found;
  if (first === undefined) return undefined;
  return {
    ...first,
    denied: eachOnce(found.map(({ denied }) => denied)),
    rules: eachOnce(
      found.map(({ rules }) => rules),
      ({ rule, path, verdict, left }) => [rule.id, path, verdict, left],
    ),
  };
}

async function explainRequestAs(evaluation: EvaluationContext): Promise<OperationExplanation | undefined> {
  const desk = await openOperations(evaluation);
  if (desk === undefined) return undefined;
  const read = readOperations(evaluation);
  if (!read.ok) return { verdict: "refused", message: read.message, denied: [], rules: [] };
  return explainOperations(desk, read).explanation;
}

/** Evaluates operations and reports the verdict of every rule involved. */
export function explainOperations(
  { evaluation, plan, attributes }: OperationDesk,
  request: GraphqlRequest,
): { readonly verdict: GraphqlVerdict; readonly explanation: OperationExplanation } {
  const { snapshot, access } = evaluation;
  const env = environmentAttributes(access.receivedAt, evaluation.with.environment);
  const rules: FieldRuleExplanation[] = [];
  const verdict = evaluateGraphql(plan, request, {
    env,
    evaluated({ rule: id, path, args, event }) {
      const prepared = snapshot.graphql.rules.find(({ rule }) => rule.id === id);
      const when = plan.rules.find(({ rule }) => rule === id)?.when;
      if (prepared === undefined) return;
      const delivered = [...prepared.late].map((root) => [root, UNAVAILABLE]);
      const condition = explain(prepared.rule.condition.expression, {
        ...attributes,
        ...Object.fromEntries(delivered),
        args,
        env,
      } as Attributes);
      rules.push({
        rule: ruleReference(prepared.rule),
        path: path.join("."),
        verdict: condition.verdict,
        condition,
        ...(event && typeof when === "object" && { left: formatExpression(when) }),
      });
    },
  });
  return { verdict, explanation: { ...outcomeOf(verdict, rules), rules } };
}

/** @returns the verdicts of rules' conditions; those left for events are counted when an event arrives */
export function verdictsOfRules({ rules }: OperationExplanation): EvaluatedCondition[] {
  return rules.flatMap(({ rule, verdict, condition, left }) =>
    left === undefined ? [{ rule: rule.id, verdict, parts: partsOfTrace(condition) }] : [],
  );
}

function outcomeOf(
  verdict: GraphqlVerdict,
  rules: readonly FieldRuleExplanation[],
): Omit<OperationExplanation, "rules"> {
  switch (verdict.kind) {
    case "refused":
      return { verdict: "refused", message: verdict.message, denied: [] };
    case "denied":
      return {
        verdict: "denied",
        denied: verdict.denials.map(({ path, code, message, rule }) => ({
          path: path.join("."),
          code,
          message,
          ...(rule !== undefined && { rule }),
        })),
      };
    case "allowed":
      return {
        verdict: "allowed",
        denied: verdict.errors.map(({ path = [], message, extensions: { code } }) => {
          const at = path.join(".");
          const rule = rules.find((asked) => asked.path === at && asked.verdict !== "true")?.rule.id;
          return { path: at, code, message, ...(rule !== undefined && { rule }) };
        }),
      };
  }
}
