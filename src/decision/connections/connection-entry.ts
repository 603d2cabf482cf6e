import { createHash } from "node:crypto";
import { closingFor, NOW_IDENTIFIED, type Closing } from "./connection-closing.ts";
import type { ConnectionSlot } from "./connection-slots.ts";
import { bytesOf } from "./connection-space.ts";
import type { ConnectionDirectives, Identified, LiveConnection, Reevaluation } from "./connection-types.ts";

/** The state kept per open connection. */
export interface ConnectionEntry {
  /** Ids of all decisions that permitted it. It is not known which of them Envoy carries out. */
  readonly ids: string[];
  connection: Omit<LiveConnection, "planText">;
  /** Hash of the plan in force, because plans may be long and most never change. */
  planHash: string;
  steady: boolean;
  /** The plan that replaces the first one. */
  newPlan?: string;
  closing?: Closing;
  /** The round in which it was last evaluated. */
  round: number;
  readonly slot: ConnectionSlot;
  bytes: number;
  /** Its first message has been asked about, which happens once. */
  hasBegun?: true;
  /**
   * Stopwatch time at which Envoy last reported it, or it was added; undefined if Envoy does not report connections.
   */
  reportedAt: number | undefined;
}

/** Whether Envoy must be told about it. */
export function isListed({ closing, newPlan }: ConnectionEntry): boolean {
  return closing !== undefined || newPlan !== undefined;
}

/** The client has said who it is. */
export function identifyEntry(entry: ConnectionEntry, identified: Identified): void {
  const { planText, steady = false, ...connection } = identified;
  entry.connection = { ...entry.connection, ...connection };
  entry.bytes = bytesOf(connection.access);
  entry.planHash = hashOf(planText);
  entry.steady = steady;
}

/** What Envoy must be told about these. */
export function directivesFor(entries: Iterable<ConnectionEntry>): ConnectionDirectives {
  const closed: [string, Closing][] = [];
  const plans: [string, string][] = [];
  for (const { ids, closing, newPlan } of entries)
    for (const id of ids) {
      if (closing !== undefined) closed.push([id, closing]);
      else if (newPlan !== undefined) plans.push([id, newPlan]);
    }
  return { closed: Object.fromEntries(closed), plans: Object.fromEntries(plans) };
}

/** After a reevaluation: how the connection is closed, or gets its new plan. */
export function endOf(
  { connection }: ConnectionEntry,
  evaluated: Reevaluation,
): Closing | { readonly plan: () => string } {
  if (evaluated.verdict === "DENY") return closingFor(evaluated.reason, evaluated.set);
  if (evaluated.identity !== undefined && connection.identity === undefined) return NOW_IDENTIFIED;
  return { plan: () => evaluated.planText };
}

/**
 * @param planText - JSON of a plan, in which the set is left out, so that plans of two sets are the same if they say the same
 * @returns the text with the set
 */
export function planTextOf(planText: string, set: string | undefined): string {
  // plans may be long: appended to the object, which has members
  return set === undefined ? planText : `${planText.slice(0, -1)},"set":${JSON.stringify(set)}}`;
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
