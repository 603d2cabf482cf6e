import { explainDecision, type Explanation } from "./explain.ts";
import { explainRequest, verdictsOfRules, type OperationExplanation } from "./explain-operations.ts";
import {
  explainField,
  evaluateFields,
  verdictsOf,
  type FieldExplanation,
  type EvaluatedField,
} from "./explain-responses.ts";
import { readingsOf } from "./explain-readings.ts";
import { isEndpointPage } from "../decide/evaluate-graphql.ts";
import { evaluatePath } from "../decide/evaluate-path.ts";
import { isWebsocketUpgrade } from "../decide/evaluate-upgrade.ts";
import type { OfflineDecision } from "./offline.ts";
import { maskAnswer, responseOf, type AnswerOutcome } from "./sample-answer.ts";
import {
  partsOfTrace,
  type EvaluatedCondition,
  type EvaluatedPart,
  type SampleAnswer,
} from "../../policy/suite/index.ts";
import type { Reason } from "../../reasons.ts";
import type { Decision } from "../types.ts";

/** A decision with everything that was evaluated for it. */
export interface ExplainedDecision extends OfflineDecision {
  readonly explanation: OfflineExplanation;
  /** Conditions of path rules, connections and GraphQL rules, and of fields that the request alone decides. */
  readonly evaluated: readonly EvaluatedCondition[];
  readonly fields: readonly EvaluatedField[];
}

/** Why a request gets its decision, and what is left to do with its response. Plain JSON. */
export interface OfflineExplanation extends Explanation {
  readonly operation?: OperationExplanation;
  readonly fields: readonly FieldExplanation[];
}

/** What happens to a sample response, and why. */
export interface ExplainedAnswer {
  readonly outcome: AnswerOutcome;
  readonly fields: readonly FieldExplanation[];
  readonly evaluated: readonly EvaluatedCondition[];
}

/** Evaluates again, rule by rule, what led to a decision. */
export async function explainOffline(offline: OfflineDecision): Promise<ExplainedDecision> {
  const { decision, evaluation } = offline;
  const explanation = explainDecision(decision);
  if (evaluation === undefined)
    return { ...offline, explanation: { ...explanation, fields: [] }, evaluated: [], fields: [] };
  const path = await evaluatePath(evaluation);
  const asked =
    path?.verdict !== "DENY" &&
    !isWebsocketUpgrade(evaluation.request) &&
    !(path !== undefined && isEndpointPage(evaluation));
  const readings = readingsOf(offline);
  const operation = asked ? await explainRequest(readings) : undefined;
  const fields = decision.verdict === "ALLOW" ? await evaluateFields(readings) : [];
  const { rule } = path === undefined ? {} : explainDecision(path);
  return {
    ...offline,
    explanation: {
      ...explanation,
      ...(rule && { rule }),
      ...(operation && { operation }),
      fields: fields.map((field) => explainField(field)),
    },
    evaluated: [
      ...(path?.rule === undefined
        ? []
        : [{ rule: path.rule.id, verdict: verdictOf(path), parts: partsOf(rule) }]),
      ...(decision.connection === undefined
        ? []
        : [
            {
              rule: decision.connection.id,
              verdict: verdictOf(decision),
              parts: partsOf(explanation.connection),
            },
          ]),
      ...(operation === undefined ? [] : verdictsOfRules(operation)),
      ...verdictsOf(fields.filter(({ planned }) => planned?.when === undefined)),
    ],
    fields,
  };
}

/** @throws UnsupportedSample if the response is a stream, see {@link maskAnswer} */
export function explainAnswer(
  { decision, fields }: ExplainedDecision,
  answer: SampleAnswer,
): ExplainedAnswer {
  const outcome = maskAnswer(decision.plan?.response, answer);
  const sample = outcome.ok ? { text: answer.text, response: responseOf(answer) } : undefined;
  const waiting = fields.filter(({ planned }) => planned?.when !== undefined);
  return {
    outcome,
    fields: fields.map((field) => explainField(field, sample)),
    evaluated: verdictsOf(waiting, sample),
  };
}

function partsOf(explained: Explanation["rule"]): readonly EvaluatedPart[] {
  return explained === undefined ? [] : partsOfTrace(explained.condition);
}

/** A matching rule that was neither true nor false is unknown, whatever the reason says. */
function verdictOf({ reason }: Decision): EvaluatedCondition["verdict"] {
  return VERDICTS[reason] ?? "unknown";
}

const VERDICTS: Partial<Record<Reason, EvaluatedCondition["verdict"]>> = {
  CONDITION_TRUE: "true",
  CONDITION_FALSE: "false",
};
