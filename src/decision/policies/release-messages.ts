/**
 * How a change of policies reaches the workers: the supervisor compiles, has every worker load the change, and once all
 * have, names the moment from which on all decide by it. So no caller meets the new sets, the old ones, and the new ones
 * again; and a change that one worker cannot load changes nothing.
 */

/** A compiled set in a file of the supervisor's. */
export interface PolicySetFile {
  /** Absolute path; the IR as JSON. */
  readonly file: string;
  /** `name@version`, as audit records name it. */
  readonly label: string;
  /** sha256 of the set's canonical content, hex. */
  readonly digest: string;
}

/** Which process in a worker's place a message is for or from: its place may be taken by another one meanwhile. */
interface OfOneLife {
  readonly life: string;
}

/** From the supervisor to one worker. */
export type ReleaseOrder = OfOneLife &
  (
    | {
        readonly type: "release_prepare";
        readonly id: number;
        /** The release that this one is a change of; absent: it is complete. */
        readonly base?: number;
        /** Absent: that of the base. */
        readonly main?: PolicySetFile;
        /** Customers' sets that have changed; null: no longer in force. */
        readonly customers: Readonly<Record<string, PolicySetFile | null>>;
      }
    | {
        readonly type: "release_activate";
        readonly id: number;
        /** From this moment on, by {@link monotonicNow}. */
        readonly at: number;
      }
  );

/** From a worker to the supervisor. */
export type ReleaseReport = OfOneLife &
  (
    | {
        /** A worker has started and has no policies yet. */
        readonly type: "release_wanted";
      }
    | {
        /** It has loaded a release, or cannot, and says why. */
        readonly type: "release_prepared";
        readonly id: number;
        readonly error?: string;
      }
    | {
        /** It knows the moment; `late`: it heard of it only after that. */
        readonly type: "release_activated";
        readonly id: number;
        readonly late: boolean;
      }
  );

/**
 * Milliseconds on a clock that all processes of a machine share and nobody sets (CLOCK_MONOTONIC; `performance.now()`
 * begins with each process).
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

/** Messages between our own processes: their type tells them apart. */
function hasType(message: unknown, types: readonly string[]): boolean {
  if (typeof message !== "object" || message === null || !("type" in message)) return false;
  return typeof message.type === "string" && types.includes(message.type);
}
