import { GIVEN_UP, serveDoor, type ServingDependencies } from "../decision/point/index.ts";
import { inTime } from "../runtime/in-time.ts";
import { createCheckEncoder, type CheckEncoderOptions } from "./answer-check.ts";
import { createCheckReader } from "./read-check.ts";
import type { CheckHandler } from "./server.ts";

/** Dependencies of checks. */
export interface CheckDependencies extends ServingDependencies, CheckEncoderOptions {
  /** Time limit for one decision, for our own Envoy; ms. */
  readonly decisionTimeout?: number;
  /** How long our own Envoy lets a check wait for it; ms. */
  readonly queueTimeout?: number;
  readonly log: ServingDependencies["log"] & { warn(object: object, message: string): void };
}

/** Envoy's door: decode, decide, encode. The returned function never throws or rejects. */
export function createCheck(dependencies: CheckDependencies): CheckHandler {
  const serve = serveDoor(
    {
      decode: createCheckReader(dependencies),
      encode: createCheckEncoder(dependencies),
      namesDecisions: dependencies.records !== undefined,
    },
    dependencies,
  );
  return withinTime(serve, dependencies.decisionTimeout);
}

/**
 * Ends checks of our own Envoy that are not decided in time. It waits for the time in the queue as well, so it would wait for an
 * attribute source that does not answer.
 *
 * @param ms - time limit from now on; Infinity: none
 */
export function withinTime(check: CheckHandler, ms = Infinity): CheckHandler {
  if (ms === Infinity) return check;
  return (bytes, call) => {
    const answer = check(bytes, call);
    return answer instanceof Promise && call.askedAfter !== undefined ? inTime(answer, ms, GIVEN_UP) : answer;
  };
}
