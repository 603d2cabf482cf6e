import type { EventFeed, GetEventFeedQuery } from "../api.ts";
import { followEvents, type EventBatch, type FollowOptions } from "../follow-events.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** The feed of events, in their order, beside webhooks. */
export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Follow events: what came after a cursor. */
  async read(query?: GetEventFeedQuery, options?: CallOptions): Promise<EventFeed> {
    return this.#transport.data({ method: "GET", path: path`/events`, query, options });
  }

  /**
   * Every event from a cursor on, without an end. Begins with the oldest event, or `after` a stored cursor, or with what comes
   * after now (`latest`). Each batch has the cursor to store once its events are handled: after a crash, begin there, and no event
   * is missed.
   *
   * Lost connections, 429 and 5xx are retried as long as they last. Any other error ends it; so does the `signal`, whose reason is
   * thrown.
   *
   * @throws CursorExpiredError if events after the cursor may be missing
   * @example
   * for await (const { events, cursor } of gatehouse.events.follow({ after: await load() })) {
   *   for (const event of events) await handle(event);
   *   await save(cursor);
   * }
   */
  follow(query?: GetEventFeedQuery, options?: FollowOptions): AsyncGenerator<EventBatch, void, undefined> {
    return followEvents(this.#transport, query ?? {}, options ?? {});
  }
}
