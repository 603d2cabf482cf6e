import type { PlanIR } from "../../policy/index.ts";
import type { ConnectionSlot } from "../connections/connection-slots.ts";
import type { Identity } from "../../identity/types.ts";

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
  /** The connection's slot; absent if the connection is not registered. */
  readonly slot?: ConnectionSlot;
}

/**
 * Connections of callers without a token also expire, because nothing would announce that their permission has ended.
 */
const LONGEST_SECONDS = 86_400;

export function carriedPlan(plan: PlanIR, identity: Identity | undefined, decisionId: string): CarriedPlan {
  return {
    decisionId,
    text: JSON.stringify(plan),
    websocket: plan.websocket !== undefined,
    graphql: plan.websocket?.graphql !== undefined,
    expiresAt: Math.min(identity?.expiresAt ?? Infinity, Math.floor(Date.now() / 1000) + LONGEST_SECONDS),
  };
}
