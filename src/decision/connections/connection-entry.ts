import { createHash } from "node:crypto";
import { closingFor, NOW_IDENTIFIED, type Closing } from "./connection-closing.ts";
import type { ConnectionSlot } from "./connection-slots.ts";
import type { LiveConnection, Reevaluation } from "./connection-types.ts";

/** The state kept per open connection. */
export interface ConnectionEntry {
  /** Ids of all decisions that permitted it. It is not known which of them Envoy carries out. */
  readonly ids: string[];
  readonly connection: Omit<LiveConnection, "planText">;
  /** Hash of the plan in force, because plans may be long and most never change. */
  planHash: string;
  steady: boolean;
  /** The plan that replaces the first one. */
  newPlan?: string;
  closing?: Closing;
  /** The round in which it was last evaluated. */
  round: number;
  readonly slot: ConnectionSlot;
  readonly bytes: number;
  /**
   * Stopwatch time at which Envoy last reported it, or it was added; undefined if Envoy does not report connections.
   */
  reportedAt: number | undefined;
}

/** Whether Envoy must be told about it. */
export function isListed({ closing, newPlan }: ConnectionEntry): boolean {
  return closing !== undefined || newPlan !== undefined;
}

/** After a reevaluation: how the connection is closed, or gets its new plan. */
export function endOf(
  { connection }: ConnectionEntry,
  evaluated: Reevaluation,
): Closing | { readonly plan: () => string } {
  if (evaluated.verdict === "DENY") return closingFor(evaluated.reason);
  if (evaluated.identity !== undefined && connection.identity === undefined) return NOW_IDENTIFIED;
  return { plan: () => evaluated.planText };
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
