import type { Response } from "express";
import { sleep } from "../../../runtime/sleep.ts";

/** Looks per longest stall: it is noticed at most this part of it too late. */
const LOOKS = 4;

/** The receiver of an answer takes nothing of it. */
export class StalledError extends Error {
  constructor() {
    super("the receiver takes nothing");
    this.name = "StalledError";
  }
}

/** Whether an answer's receiver takes it. */
export interface Taking {
  /** Aborted with a {@link StalledError} when it has taken nothing for too long. */
  readonly signal: AbortSignal;
  /** Stops looking. */
  release(): void;
}

/**
 * Watches whether bytes of an answer that wait to be sent are taken: a receiver that keeps its connection open without reading
 * is not noticed otherwise. While nothing waits, it is we who are slow.
 *
 * @param longestMs - how long nothing may be taken
 */
export function whileTaken(response: Response, longestMs: number): Taking {
  const stalled = new AbortController();
  const released = new AbortController();
  async function watch(): Promise<void> {
    let before: number | undefined;
    for (let looks = 0; looks < LOOKS;) {
      await sleep(longestMs / LOOKS, { signal: released.signal, ref: false });
      if (released.signal.aborted) return;
      // after a look that found nothing waiting, it is not known since when something does
      const taken = response.writableLength > 0 ? takenOf(response) : undefined;
      looks = taken !== undefined && taken === before ? looks + 1 : 0;
      before = taken;
    }
    stalled.abort(new StalledError());
  }
  void watch();
  return {
    signal: stalled.signal,
    release() {
      released.abort();
    },
  };
}

/** Bytes that the connection has taken, of earlier answers, too: one that waits behind them is not stalled while they are read. */
function takenOf({ req: { socket } }: Response): number {
  return socket.bytesWritten - socket.writableLength;
}

/** What one write has at most: within a write, nobody sees what is taken of it. */
const PIECE_BYTES = 65_536;

/** The same bytes in pieces that are small enough for {@link whileTaken}. */
export async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) {
    const bytes = Buffer.from(text);
    for (let start = 0; start < bytes.length; start += PIECE_BYTES)
      yield bytes.subarray(start, start + PIECE_BYTES);
  }
}
