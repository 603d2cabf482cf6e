import type { Event, EventFeed, GetEventFeedQuery } from "./api.ts";
import { checkNumber } from "./check.ts";
import { ApiError, DeadlineExceededError, NetworkError, type GatehouseError } from "./errors.ts";
import { unreadableResponse } from "./response.ts";
import { delayMs, isTransient } from "./retry.ts";
import { sleep } from "./sleep.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** A part of the feed. */
export interface EventBatch {
  /** In the order of the feed. There may be none. */
  readonly events: readonly Event[];
  /** Store it after the events are handled, also if there are none: the next `follow` begins `after` it. */
  readonly cursor: string;
}

export interface FollowOptions extends Pick<CallOptions, "signal" | "timeoutMs" | "onResponse"> {
  /** The longest pause between two requests while there are no events. Default: 5,000. */
  readonly pollMs?: number | undefined;
  /** Is told why a request failed, before it is repeated. */
  readonly onRetry?: ((error: GatehouseError) => void) | undefined;
}

const SHORTEST_PAUSE_MS = 500;
/** Whatever `Retry-After` says. */
const LONGEST_PAUSE_MS = 3_600_000;

/** Polls the feed without an end. Temporary failures are retried as long as they last. */
export async function* followEvents(
  transport: Transport,
  query: GetEventFeedQuery,
  { pollMs = 5_000, onRetry, ...options }: FollowOptions,
): AsyncGenerator<EventBatch, void, undefined> {
  checkNumber("pollMs", pollMs);
  let { after } = query;
  let failures = 0;
  let idle = 0;
  for (;;) {
    let feed: EventFeed;
    try {
      feed = await read(transport, { ...query, ...(after !== undefined && { after }) }, options);
    } catch (error) {
      if (!isTemporary(error)) throw error;
      onRetry?.(error);
      const wanted = error instanceof ApiError ? error.retryAfterMs : undefined;
      await sleep(Math.min(delayMs(failures, wanted), LONGEST_PAUSE_MS), options.signal);
      failures += 1;
      continue;
    }
    failures = 0;
    // a cursor that stands still would be asked for without a pause
    const goesOn = feed.more && feed.cursor !== after;
    after = feed.cursor;
    yield { events: feed.events, cursor: feed.cursor };
    options.signal?.throwIfAborted();
    if (goesOn) continue;
    idle = feed.events.length > 0 ? 0 : idle + 1;
    await sleep(Math.min(pollMs, SHORTEST_PAUSE_MS * 2 ** idle), options.signal);
  }
}

async function read(
  transport: Transport,
  query: GetEventFeedQuery,
  options: CallOptions,
): Promise<EventFeed> {
  const { data, response } = await transport.request<Partial<EventFeed> | null>({
    method: "GET",
    path: "/events",
    query,
    // retries are counted here, and not limited
    options: { ...options, maxRetries: 0 },
  });
  if (!Array.isArray(data?.events) || typeof data.cursor !== "string") throw unreadableResponse(response);
  return data as EventFeed;
}

function isTemporary(error: unknown): error is GatehouseError {
  if (error instanceof ApiError) return isTransient(error.status, error.code);
  return error instanceof NetworkError || error instanceof DeadlineExceededError;
}
