import type {
  Analytics,
  Event,
  GetAnalyticsQuery,
  ListEventsQuery,
  ListUserActivityQuery,
  UserActivity,
} from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** Figures, and the history of events. */
export class AnalyticsReports {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Read the metrics of the dashboard. */
  async dashboard(query?: GetAnalyticsQuery, options?: CallOptions): Promise<Analytics> {
    return this.#transport.data({ method: "GET", path: path`/analytics/dashboard`, query, options });
  }

  /** List the history of events. */
  events(query?: ListEventsQuery, options?: CallOptions): List<Event> {
    return new List(this.#transport, path`/analytics/events`, query, options);
  }

  /** List user activity. */
  users(query?: ListUserActivityQuery, options?: CallOptions): List<UserActivity> {
    return new List(this.#transport, path`/analytics/users`, query, options);
  }
}
