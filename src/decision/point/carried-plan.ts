import type { PlanIR } from "../../policy/index.ts";
import type { ConnectionSlot } from "../connections/connection-slots.ts";
import type { Permit } from "../types.ts";

/** A plan for the component that carries it out. */
export interface CarriedPlan {
  readonly decisionId: string;
  /** JSON. The text may be used as a cache key. */
  readonly text: string;
  /** Present if a WebSocket handshake was permitted. */
  readonly websocket: boolean;
  /** Present if its messages are GraphQL operations. */
  readonly graphql: boolean;
  /** Expiry of the connection in Unix seconds: that of the caller's token, or one day. */
  readonly expiresAt: number;
  /** Digest of the gateway's own policy set that decided; absent if there was none. */
  readonly set?: string;
  /** The connection's slot; absent if the connection is not registered. */
  readonly slot?: ConnectionSlot;
}

/**
 * Connections of callers without a token also expire, because nothing would announce that their permission has ended.
 */
const LONGEST_SECONDS = 86_400;

export function carriedPlan(
  plan: PlanIR,
  { identity, snapshot }: Pick<Permit, "identity" | "snapshot">,
  decisionId: string,
): CarriedPlan {
  return {
    decisionId,
    text: JSON.stringify(plan),
    websocket: plan.websocket !== undefined,
    graphql: plan.websocket?.graphql !== undefined,
    ...(snapshot && { set: snapshot.digest }),
    expiresAt: Math.min(identity?.expiresAt ?? Infinity, Math.floor(Date.now() / 1000) + LONGEST_SECONDS),
  };
}
