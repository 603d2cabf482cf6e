import type { Gateway, ListGatewaysQuery } from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** The gateways that have reported. */
export class Gateways {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List gateways. */
  list(query?: ListGatewaysQuery, options?: CallOptions): List<Gateway> {
    return new List(this.#transport, path`/gateways`, query, options);
  }
}
