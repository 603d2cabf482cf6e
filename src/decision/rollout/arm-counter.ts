import type { Decision } from "../types.ts";
import { entryOf, type ArmSample, type ArmSamples } from "./arm-sample.ts";

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

interface Counting {
  decisions: number;
  denials: number;
  errors: number;
  durations: number[];
}

/** Counts a worker's decisions by arm, for the comparison of the arms. */
export class ArmCounter {
  readonly #candidate: () => string | undefined;
  #counted: { readonly candidate: string; readonly stable: Counting; readonly new: Counting } | undefined;

  /** @param candidate - digest of the candidate that is enforced for a part of the callers, if one is */
  constructor(candidate: () => string | undefined) {
    this.#candidate = candidate;
  }

  /** Counts one decision. Those without an arm do not count. */
  count({ arm, verdict, reason }: Decision, elapsedMs: number): void {
    if (arm === undefined) return;
    const candidate = arm.name === "candidate" ? arm.set.digest : this.#candidate();
    if (candidate === undefined) return;
    if (this.#counted?.candidate !== candidate)
      this.#counted = { candidate, stable: nothing(), new: nothing() };
    const counting = arm.name === "candidate" ? this.#counted.new : this.#counted.stable;
    counting.decisions += 1;
    if (verdict === "DENY") counting.denials += 1;
    if (reason === "INTERNAL_ERROR") counting.errors += 1;
    const entry = entryOf(elapsedMs);
    while (counting.durations.length <= entry) counting.durations.push(0);
    counting.durations[entry] = (counting.durations[entry] ?? 0) + 1;
  }

  /** @returns what was counted since the last call, if anything */
  take(): ArmCountsMessage | undefined {
    const counted = this.#counted;
    this.#counted = undefined;
    if (counted === undefined) return undefined;
    const samples: Record<keyof ArmSamples, ArmSample> = { stable: counted.stable, candidate: counted.new };
    return { type: "rollout_counts", candidate: counted.candidate, samples };
  }
}

function nothing(): Counting {
  return { decisions: 0, denials: 0, errors: 0, durations: [] };
}
