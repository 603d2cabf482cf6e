import {
  GIVEN_UP,
  serveDoor,
  type Door,
  type DoorCall,
  type ServingDependencies,
} from "../../decision/point/index.ts";
import { andThen, type PromiseOrValue } from "../../decision/promise-or-value.ts";
import type { JsonValue } from "../../json/index.ts";
import { answerOf, FAILED, verdictEncoder, type AwsAnswer, type AwsVerdict } from "./answer.ts";
import { decodeEvent } from "./decode.ts";
import { readEvent } from "./event.ts";
import type { AwsSettings } from "./settings.ts";

export type { AwsAnswer } from "./answer.ts";
export type { AwsSettings } from "./settings.ts";

/** Answers an event of an API Gateway authorizer. It never throws and never rejects. */
export type AskAws = (event: JsonValue, call: DoorCall) => PromiseOrValue<AwsAnswer>;

/** API Gateway's Lambda authorizers, TOKEN and REQUEST, of REST and HTTP APIs. */
export function awsDoor(settings: AwsSettings): Door<JsonValue, AwsVerdict> {
  return {
    decode: (event, call) => decodeEvent(readEvent(event), settings, call),
    encode: verdictEncoder(settings.usageIdentifierHeader),
  };
}

export function createAskAws(settings: AwsSettings, serving: ServingDependencies): AskAws {
  const ask = serveDoor(awsDoor(settings), serving);
  return (event, call) => andThen(ask(event, call), (verdict) => awsAnswer(verdict, event, settings));
}

/** @returns the document for the authorizer; a denial because of a failure is a failure, which API Gateway does not cache */
export function awsAnswer(
  verdict: AwsVerdict | typeof GIVEN_UP,
  event: JsonValue,
  settings: AwsSettings,
): AwsAnswer {
  // also for an event that cannot be read, which is answered without being read again
  if (verdict === GIVEN_UP || (!verdict.permitted && verdict.status >= 500)) return FAILED;
  return answerOf(verdict, readEvent(event), settings);
}
