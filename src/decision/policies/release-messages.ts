import type { RolloutTerms } from "./release.ts";

/**
 * How a change of policies reaches the workers: the supervisor compiles it and has every worker load it. Once all have,
 * it sets the time at which all of them switch. So no caller sees the new sets, then the old ones, then the new ones
 * again; and a change that one worker cannot load has no effect.
 */

/** A compiled set in a file written by the supervisor. */
export interface PolicySetFile {
  /** Absolute path; the IR as JSON. */
  readonly file: string;
  /** `name@version`, as in audit records. */
  readonly label: string;
  /** sha256 of the set's canonical content, hex. */
  readonly digest: string;
}

/** A candidate in a file, and how it is used. */
export interface CandidateFile extends PolicySetFile, RolloutTerms {}

/** The process that a message is for or from: a worker's place may have been taken by a new process. */
interface OfOneLife {
  readonly life: string;
}

/** From the supervisor to one worker. */
export type ReleaseOrder = OfOneLife &
  (
    | {
        readonly type: "release_prepare";
        readonly id: number;
        /** The release that this one changes; absent if it is complete. */
        readonly base?: number;
        /** Absent if it is that of the base. */
        readonly main?: PolicySetFile;
        /** Absent if it is that of the base; null if there is none any more. */
        readonly candidate?: CandidateFile | null;
        /** Customers' sets that have changed; null if no longer in force. */
        readonly customers: Readonly<Record<string, PolicySetFile | null>>;
      }
    | {
        readonly type: "release_activate";
        readonly id: number;
        /** The switch time, by {@link monotonicNow}. */
        readonly at: number;
      }
  );

/** From a worker to the supervisor. */
export type ReleaseReport = OfOneLife &
  (
    | {
        /** The worker has started and has no policies yet. */
        readonly type: "release_wanted";
      }
    | {
        /** It has loaded a release, or could not, and why. */
        readonly type: "release_prepared";
        readonly id: number;
        readonly error?: string;
      }
    | {
        /** It knows the switch time; `late` if the message arrived after it. */
        readonly type: "release_activated";
        readonly id: number;
        readonly late: boolean;
      }
  );

/**
 * Milliseconds on a monotonic clock shared by all processes of a machine (CLOCK_MONOTONIC; `performance.now()` starts
 * at zero in each process).
 */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

export function isReleaseReport(message: unknown): message is ReleaseReport {
  return hasType(message, ["release_wanted", "release_prepared", "release_activated"]);
}

export function isReleaseOrder(message: unknown): message is ReleaseOrder {
  return hasType(message, ["release_prepare", "release_activate"]);
}

/** Messages between our own processes, distinguished by type. */
function hasType(message: unknown, types: readonly string[]): boolean {
  if (typeof message !== "object" || message === null || !("type" in message)) return false;
  return typeof message.type === "string" && types.includes(message.type);
}
