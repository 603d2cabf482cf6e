import {
  GIVEN_UP,
  serveDoor,
  type Door,
  type DoorCall,
  type ServingDependencies,
} from "../../decision/point/index.ts";
import type { JsonObject } from "../../json/index.ts";
import { REASONS } from "../../reasons.ts";
import { checkOf, UnknownName, type AuthzenSettings } from "./question.ts";
import { BadRequest, readEvaluations, readTuple, type Tuple } from "./tuple.ts";

/** One decision, as the Authorization API has it. */
export interface Evaluation {
  readonly decision: boolean;
  readonly context?: object;
}

/** The most evaluations of one request. */
export const MOST_EVALUATIONS = 100;

/** Questions about one request of a caller each. */
export function authzenDoor(settings: AuthzenSettings): Door<Tuple, Evaluation> {
  return {
    decode: (tuple, call) => checkOf(tuple, settings, call),
    encode: {
      permit: (_permit, _check, { plan }) => {
        if (plan !== undefined) throw new Error("a plan cannot be sent to a caller of the Authorization API");
        return { decision: true };
      },
      denial: ({ reason }) => denied(reason, REASONS[reason].code),
      lastResort: denied("INTERNAL_ERROR", REASONS.INTERNAL_ERROR.code),
    },
  };
}

/** The reason for the operator, and the public code for the user. */
function denied(reason: string, code: string): Evaluation {
  return { decision: false, context: { reason_admin: { en: reason }, reason_user: { en: code } } };
}

/** A question that has no decision of the policies, and thus no record. */
function failed(status: number, message: string): Evaluation {
  return { decision: false, context: { error: { status, message } } };
}

export interface Evaluate {
  /** @throws BadRequest */
  readonly one: (body: JsonObject, call: DoorCall) => Promise<Evaluation>;
  /** @throws BadRequest, if it is no list of evaluations at all; what is wrong with one of them is its answer */
  readonly several: (body: JsonObject, call: DoorCall) => Promise<object>;
}

export function createEvaluate(settings: AuthzenSettings, serving: ServingDependencies): Evaluate {
  const ask = serveDoor(authzenDoor(settings), serving);

  const one = async (body: JsonObject, call: DoorCall): Promise<Evaluation> => {
    const tuple = readTuple(body);
    try {
      // the door would record a mistake of the caller as a failure of its own
      checkOf(tuple, settings, call);
    } catch (error) {
      if (error instanceof UnknownName) return failed(404, error.message);
      throw error;
    }
    const answer = await ask(tuple, call);
    return answer === GIVEN_UP ? failed(503, "no decision") : answer;
  };

  const several = async (body: JsonObject, call: DoorCall): Promise<object> => {
    const wanted = readEvaluations(body, MOST_EVALUATIONS);
    if (wanted === undefined) return one(body, call);
    const evaluations: Evaluation[] = [];
    for (const question of wanted.questions) {
      const evaluation = await one(question, call).catch(asAnswer);
      evaluations.push(evaluation);
      if (wanted.semantic === "deny_on_first_deny" && !evaluation.decision) break;
      if (wanted.semantic === "permit_on_first_permit" && evaluation.decision) break;
    }
    return { evaluations };
  };
  return { one, several };
}

function asAnswer(error: unknown): Evaluation {
  if (error instanceof BadRequest) return failed(400, error.message);
  throw error;
}
