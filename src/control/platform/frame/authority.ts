import type { Actor } from "../actor.ts";
import { sleep } from "../../../runtime/sleep.ts";
import { ApiError } from "../errors.ts";

/**
 * For how long, in milliseconds, it counts who asks and what they may, once it was seen. Whoever sends a request chooses when its
 * body ends, and what a route asks elsewhere takes its time: what goes on for longer is looked at again before anything is
 * done. A request that had begun when a right was taken is carried out within this time at most; one that begins later is refused.
 */
const COUNTS_MS = 1_000;

/** Who asks, for as long as their request takes. */
export interface Authority {
  /**
   * Who asks, and still may: seen less than a second ago.
   * @throws ApiError as the request would have been refused with
   */
  current(): Promise<Actor>;
  /** The same, before something is changed. People change what counts most, and seldom: they are looked at in any case. */
  toWrite(): Promise<Actor>;
  /** The same, seen now. */
  seenNow(): Promise<Actor>;
}

/**
 * @param first - who asks, as was just seen
 * @param look - sees again who asks, and whether they may. Not called while what was seen counts
 * @param clock - Unix ms
 */
export function createAuthority(first: Actor, look: () => Promise<Actor>, clock: () => number): Authority {
  let actor = first;
  let seenAt = clock();
  const seenNow = async () => {
    const found = await look();
    // credentials that are given to somebody else are not what the request was permitted by
    if (found.kind !== actor.kind || found.id !== actor.id) throw new ApiError("UNAUTHORIZED");
    actor = found;
    seenAt = clock();
    return actor;
  };
  const current = async () => {
    const age = clock() - seenAt;
    // a clock that was set back says nothing
    return age >= 0 && age < COUNTS_MS ? actor : seenNow();
  };
  return { seenNow, current, toWrite: () => (actor.kind === "dashboard_user" ? seenNow() : current()) };
}

/** Gives the parts of an answer on as long as they who asked have the right to them. */
export async function* permittedParts<Part>(
  parts: AsyncIterable<Part>,
  authority: Authority,
): AsyncGenerator<Part> {
  for await (const part of parts) {
    await authority.current();
    yield part;
  }
}

/** Someone's right to what they get, for as long as it is sent. */
export interface Permission {
  /** Aborted with the reason when the right is lost, or when it cannot be told whether it is. */
  readonly signal: AbortSignal;
  /** Ends the looks. */
  release(): void;
}

/** Looks once a second whether they who asked still may, also while they read nothing. */
export function whilePermitted(authority: Authority): Permission {
  const ended = new AbortController();
  const released = new AbortController();
  async function watch(): Promise<void> {
    for (;;) {
      await sleep(COUNTS_MS, { signal: released.signal, ref: false });
      if (released.signal.aborted) return;
      await authority.current();
    }
  }
  watch().catch((error: unknown) => {
    ended.abort(error);
  });
  return {
    signal: ended.signal,
    release() {
      released.abort();
    },
  };
}
