import type {
  Client,
  ClientSecretRotation,
  ClientUpdate,
  ClientWithSecret,
  DeletedClient,
  ListClientsQuery,
  NewClient,
} from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** Machine clients. Only dashboard sessions manage them (`dashboardSession`). */
export class Clients {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List machine clients. */
  list(query?: ListClientsQuery, options?: CallOptions): List<Client> {
    return new List(this.#transport, path`/clients`, query, options);
  }

  /** Create a machine client. */
  async create(body: NewClient, options?: CallOptions): Promise<ClientWithSecret> {
    return this.#transport.data({ method: "POST", path: path`/clients`, body, options });
  }

  /** Read a machine client. */
  async get(clientId: string, options?: CallOptions): Promise<Client> {
    return this.#transport.data({ method: "GET", path: path`/clients/${clientId}`, options });
  }

  /** Change a machine client's name or scopes. Maps such as metadata are merged: `null` removes a name. */
  async update(clientId: string, body: ClientUpdate, options?: CallOptions): Promise<Client> {
    return this.#transport.data({ method: "PATCH", path: path`/clients/${clientId}`, body, options });
  }

  /** Change a machine client's name or scopes: maps such as metadata are replaced, not merged. */
  async put(clientId: string, body: ClientUpdate, options?: CallOptions): Promise<Client> {
    return this.#transport.data({ method: "PUT", path: path`/clients/${clientId}`, body, options });
  }

  /** Delete a machine client. */
  async delete(clientId: string, options?: CallOptions): Promise<DeletedClient> {
    return this.#transport.data({ method: "DELETE", path: path`/clients/${clientId}`, options });
  }

  /** Replace a machine client's secret. */
  async rotateSecret(
    clientId: string,
    body?: ClientSecretRotation,
    options?: CallOptions,
  ): Promise<ClientWithSecret> {
    return this.#transport.data({
      method: "POST",
      path: path`/clients/${clientId}/rotate-secret`,
      body,
      options,
    });
  }
}
