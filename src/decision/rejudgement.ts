import type { Rejudgement } from "./connection-types.ts";
import type { AccessRequest, Decision } from "./types.ts";

/** What a connection's handshake comes to, looked at again. */
export function rejudgementOf({ verdict, reason, plan, identity }: Decision, steady: boolean): Rejudgement {
  if (verdict === "DENY") return { verdict, reason };
  return {
    verdict,
    steady,
    identity,
    get planText() {
      return JSON.stringify(plan);
    },
  };
}

/** A handshake as it is kept: its trace is over, and its deadline was for its answer. */
export function lasting({ raw, peer, requestId, receivedAt }: AccessRequest): AccessRequest {
  return { raw, peer, requestId, receivedAt, deadline: Number.POSITIVE_INFINITY };
}
