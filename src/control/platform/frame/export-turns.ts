import { CallerTurns, currentCaller, TooManyWaitingError, type Caller } from "../../../storage/index.ts";
import { ApiError } from "../errors.ts";

/** Exports of one caller at once. Each reads for as long as its receiver does, and more of them would take as long together. */
const AT_ONCE = 2;
/** Exports that one caller waits for; others are refused at once. */
const MOST_WAITING = 20;
/** Less than the time in which usual clients expect the first byte. */
const LONGEST_WAIT_MS = 20_000;
/** Longer than networks are interrupted for; two receivers that read nothing keep all others of their caller waiting. */
const LONGEST_STALL_MS = 60_000;

export interface ExportLimits {
  /** How long a receiver may take nothing before its export is ended; ms. Default: a minute. */
  readonly longestStallMs?: number;
}

/** An export may begin. */
export interface ExportTurn {
  /** For whom it reads: once it has begun, it is not cut off because others are served. */
  readonly caller: Caller;
  end(): void;
}

/** Exports of one caller take turns, before anything of them is sent. */
export interface ExportTurns {
  /** @throws ApiError RATE_LIMIT_EXCEEDED if too many of the caller's exports run or wait */
  take(): Promise<ExportTurn>;
  readonly longestStallMs: number;
}

export function createExportTurns({ longestStallMs = LONGEST_STALL_MS }: ExportLimits = {}): ExportTurns {
  const turns = new CallerTurns({
    atOnce: Number.POSITIVE_INFINITY,
    mostOfOne: AT_ONCE,
    longestMs: LONGEST_WAIT_MS,
    mostWaiting: MOST_WAITING,
  });
  return {
    longestStallMs,
    async take() {
      const caller = currentCaller();
      if (caller === undefined) throw new Error("an export has no caller");
      const end = await turns.take(caller).catch((error: unknown) => {
        throw error instanceof TooManyWaitingError ? refused(error) : error;
      });
      return { end, caller: { ...caller, isPatient: true } };
    },
  };
}

function refused(cause: unknown): ApiError {
  return new ApiError("RATE_LIMIT_EXCEEDED", {
    message: `at most ${AT_ONCE} exports run at once: wait until one has ended`,
    cause,
    headers: { "retry-after": "5" },
  });
}
