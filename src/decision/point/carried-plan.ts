import type { PlanIR } from "../../policy/index.ts";
import type { ConnectionSlot } from "../connections/connection-slots.ts";
import type { Identity } from "../../identity/types.ts";

/** A plan on its way to whoever carries it out. */
export interface CarriedPlan {
  readonly decisionId: string;
  /** JSON; by this very text it may be kept. */
  readonly text: string;
  /** A WebSocket handshake was permitted. */
  readonly websocket: boolean;
  /** Unix seconds at which a connection ends: with the caller's token, or after a day. */
  readonly expiresAt: number;
  /** By which the connection is looked for; absent where it is not looked after. */
  readonly slot?: ConnectionSlot;
}

/** Connections of callers without a token end, too: nobody could say that their permission is gone. */
const LONGEST_SECONDS = 86_400;

export function carriedPlan(plan: PlanIR, identity: Identity | undefined, decisionId: string): CarriedPlan {
  return {
    decisionId,
    text: JSON.stringify(plan),
    websocket: plan.websocket !== undefined,
    expiresAt: Math.min(identity?.expiresAt ?? Infinity, Math.floor(Date.now() / 1000) + LONGEST_SECONDS),
  };
}
