import { createHash } from "node:crypto";
import type { Decision } from "../types.ts";
import { entryOf, type ArmSample, type ArmSamples } from "./arm-sample.ts";
import { ALWAYS_FAST_MS, heaviestOf, type HeavyCaller } from "./heavy-callers.ts";

/** From a worker to the supervisor: its decisions since the last report, of each arm. */
export interface ArmCountsMessage {
  readonly type: "rollout_counts";
  /** Digest of the candidate that was in force. */
  readonly candidate: string;
  readonly samples: ArmSamples;
}

export function isArmCountsMessage(message: unknown): message is ArmCountsMessage {
  return (
    typeof message === "object" && message !== null && "type" in message && message.type === "rollout_counts"
  );
}

interface Counts {
  decisions: number;
  denials: number;
  errors: number;
}

interface Counting extends Counts {
  durations: number[];
  /** By the caller's key. */
  readonly callers: Map<string, Counts & { slow: number }>;
}

/** Callers that are counted one by one between two reports; what more of them do counts only in the sums. */
const MOST_CALLERS = 20_000;

/** Counts a worker's decisions by arm, for the comparison of the arms. */
export class ArmCounter {
  readonly #candidate: () => string | undefined;
  readonly #callerOf: (decision: Decision) => string;
  #counted: { readonly candidate: string; readonly stable: Counting; readonly new: Counting } | undefined;

  /**
   * @param candidate - digest of the candidate that is enforced for a part of the callers, if one is
   * @param callerOf - tells callers apart
   */
  constructor(candidate: () => string | undefined, callerOf: (decision: Decision) => string) {
    this.#candidate = candidate;
    this.#callerOf = callerOf;
  }

  /** Counts one decision. Those without an arm do not count. */
  count(decision: Decision, elapsedMs: number): void {
    const { arm } = decision;
    if (arm === undefined) return;
    const candidate = arm.name === "candidate" ? arm.set.digest : this.#candidate();
    if (candidate === undefined) return;
    if (this.#counted?.candidate !== candidate)
      this.#counted = { candidate, stable: nothing(), new: nothing() };
    const counting = arm.name === "candidate" ? this.#counted.new : this.#counted.stable;
    add(counting, decision);
    const caller = callerIn(counting, this.#callerOf(decision));
    if (caller !== undefined) {
      add(caller, decision);
      if (elapsedMs > ALWAYS_FAST_MS) caller.slow += 1;
    }
    const entry = entryOf(elapsedMs);
    while (counting.durations.length <= entry) counting.durations.push(0);
    counting.durations[entry] = (counting.durations[entry] ?? 0) + 1;
  }

  /** @returns what was counted since the last call, if anything */
  take(): ArmCountsMessage | undefined {
    const counted = this.#counted;
    this.#counted = undefined;
    if (counted === undefined) return undefined;
    const samples: ArmSamples = { stable: sampleOf(counted.stable), candidate: sampleOf(counted.new) };
    return { type: "rollout_counts", candidate: counted.candidate, samples };
  }
}

function add(counts: Counts, { verdict, reason }: Decision): void {
  counts.decisions += 1;
  if (verdict === "DENY") counts.denials += 1;
  if (reason === "INTERNAL_ERROR") counts.errors += 1;
}

function callerIn({ callers }: Counting, key: string): (Counts & { slow: number }) | undefined {
  let found = callers.get(key);
  if (found === undefined && callers.size < MOST_CALLERS) {
    found = { decisions: 0, denials: 0, errors: 0, slow: 0 };
    callers.set(key, found);
  }
  return found;
}

function sampleOf({ callers, ...counts }: Counting): ArmSample {
  const all = [...callers].map(([caller, counted]): HeavyCaller => ({ caller, ...counted }));
  const heaviest = heaviestOf(all).map((one) => ({ ...one, caller: hashOf(one.caller) }));
  return { ...counts, heaviest };
}

function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 16);
}

function nothing(): Counting {
  return { decisions: 0, denials: 0, errors: 0, durations: [], callers: new Map() };
}
