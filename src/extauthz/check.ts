import { serveDoor, type ServingDependencies } from "../decision/point/index.ts";
import { createCheckEncoder, type CheckEncoderOptions } from "./answer-check.ts";
import { createCheckReader } from "./read-check.ts";
import type { CheckHandler } from "./server.ts";

/** Dependencies of checks. */
export interface CheckDependencies extends ServingDependencies, CheckEncoderOptions {
  /** How long Envoy waits for an answer; ms. */
  readonly decisionTimeout?: number;
  readonly log: ServingDependencies["log"] & { warn(object: object, message: string): void };
}

/** Envoy's door: decode, decide, encode. The returned function never throws or rejects. */
export function createCheck(dependencies: CheckDependencies): CheckHandler {
  return serveDoor(
    {
      decode: createCheckReader(dependencies),
      encode: createCheckEncoder(dependencies),
      namesDecisions: dependencies.records !== undefined,
    },
    dependencies,
  );
}
