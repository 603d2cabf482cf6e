import type { AccessRequest, Decision } from "../types.ts";
import { isSteady, type DecidedBy } from "./connection-steady.ts";
import type { Reevaluation } from "./connection-types.ts";

/** The result of evaluating a connection's handshake again. */
export function reevaluationOf(
  access: AccessRequest,
  decision: Decision,
  decidedBy: DecidedBy,
): Reevaluation {
  switch (decision.verdict) {
    case "DENY":
      return { verdict: "DENY", reason: decision.reason, set: decision.snapshot?.digest };
    case "ALLOW":
      return {
        verdict: "ALLOW",
        steady: isSteady(access, decision, decidedBy),
        identity: decision.identity,
        set: decision.snapshot?.digest,
        get planText() {
          return JSON.stringify(decision.plan);
        },
      };
  }
}

/** A handshake as it is kept: without its trace and deadline, which belonged to the original request. */
export function lasting({ traceparent, bodies, ...kept }: AccessRequest): AccessRequest {
  return { ...kept, deadline: Number.POSITIVE_INFINITY };
}
