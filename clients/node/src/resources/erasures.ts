import type { Erasure, ListErasuresQuery } from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** The erasure of what is known of deleted users and customers. */
export class Erasures {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List erasures. */
  list(query?: ListErasuresQuery, options?: CallOptions): List<Erasure> {
    return new List(this.#transport, path`/erasures`, query, options);
  }

  /** Read the progress of an erasure. */
  async get(erasureId: string, options?: CallOptions): Promise<Erasure> {
    return this.#transport.data({ method: "GET", path: path`/erasures/${erasureId}`, options });
  }
}
