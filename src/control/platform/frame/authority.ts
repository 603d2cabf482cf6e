import type { Actor } from "../actor.ts";
import { sleep } from "../../../runtime/sleep.ts";
import { ApiError } from "../errors.ts";

/**
 * How long the result of checking a caller and its permission is valid, in milliseconds. The sender decides when its
 * body ends, and a route's requests to other servers take time: after this, the caller is checked again before anything
 * is done. So a request that is in progress when a permission is withdrawn may still be carried out within this time, and
 * a later one is refused.
 */
const VALID_MS = 1_000;

/** The caller, for the duration of its request. */
export interface Authority {
  /**
   * The caller, who still has permission: checked less than a second ago.
   * @throws ApiError as the request would have been refused with
   */
  current(): Promise<Actor>;
  /**
   * The same, before something is changed. People change the most important things, and rarely, so they are always
   * checked again.
   */
  beforeWrite(): Promise<Actor>;
  /** The same, checked now. */
  checkNow(): Promise<Actor>;
}

/**
 * @param first - the caller, just checked
 * @param check - checks again who the caller is, and its permission. Not called while the last result is valid
 * @param clock - Unix ms
 */
export function createAuthority(first: Actor, check: () => Promise<Actor>, clock: () => number): Authority {
  let actor = first;
  let checkedAt = clock();
  const checkNow = async () => {
    const found = await check();
    // the request was not permitted by credentials that now belong to somebody else
    if (found.kind !== actor.kind || found.id !== actor.id) throw new ApiError("UNAUTHORIZED");
    actor = found;
    checkedAt = clock();
    return actor;
  };
  const current = async () => {
    const age = clock() - checkedAt;
    // negative: the clock was set back, so the age is unknown
    return age >= 0 && age < VALID_MS ? actor : checkNow();
  };
  return { checkNow, current, beforeWrite: () => (actor.kind === "dashboard_user" ? checkNow() : current()) };
}

/** Passes on the parts of an answer as long as the caller has permission. */
export async function* permittedParts<Part>(
  parts: AsyncIterable<Part>,
  authority: Authority,
): AsyncGenerator<Part> {
  for await (const part of parts) {
    await authority.current();
    yield part;
  }
}

/** A caller's permission while an answer is being sent. */
export interface Permission {
  /** Aborted with the reason when the permission is lost, or when it cannot be checked. */
  readonly signal: AbortSignal;
  /** Stops checking. */
  release(): void;
}

/** Checks once per second whether the caller still has permission, even while it reads nothing. */
export function whilePermitted(authority: Authority): Permission {
  const ended = new AbortController();
  const released = new AbortController();
  async function watch(): Promise<void> {
    for (;;) {
      await sleep(VALID_MS, { signal: released.signal, ref: false });
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
