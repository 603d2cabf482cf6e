import type { EventFeed, GetEventFeedQuery } from "../api.ts";
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
}
