import { createHash } from "node:crypto";
import { closingFor, NOW_IDENTIFIED, type Closing } from "./connection-closing.ts";
import type { ConnectionSlot } from "./connection-slots.ts";
import type { LiveConnection, Reevaluation } from "./connection-types.ts";

/** What is kept of one open connection. */
export interface ConnectionEntry {
  /** Of the decisions that permitted it, the first one included: which of them Envoy carries out is not known. */
  readonly ids: string[];
  readonly connection: Omit<LiveConnection, "planText">;
  /** Hash of the plan in force: plans may be long, and most never change. */
  planHash: string;
  steady: boolean;
  /** In place of the first one. */
  newPlan?: string;
  closing?: Closing;
  /** The round it was last evaluated in. */
  round: number;
  readonly slot: ConnectionSlot;
  readonly bytes: number;
  /** By the stopwatch: when Envoy reported it last, or it was added; undefined where Envoy reports none. */
  reportedAt: number | undefined;
}

/** Whether Envoy has to hear of it. */
export function isListed({ closing, newPlan }: ConnectionEntry): boolean {
  return closing !== undefined || newPlan !== undefined;
}

/** How a connection ends that was evaluated again, or how it gets the plan by which it goes on. */
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
