import type { ListSessionsQuery, Session } from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** The users' sessions. */
export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List sessions. */
  list(query?: ListSessionsQuery, options?: CallOptions): List<Session> {
    return new List(this.#transport, path`/sessions`, query, options);
  }

  /** Read a session. */
  async get(sessionId: string, options?: CallOptions): Promise<Session> {
    return this.#transport.data({ method: "GET", path: path`/sessions/${sessionId}`, options });
  }

  /** Revoke a session. */
  async revoke(sessionId: string, options?: CallOptions): Promise<Session> {
    return this.#transport.data({ method: "DELETE", path: path`/sessions/${sessionId}`, options });
  }
}
