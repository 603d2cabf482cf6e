import type {
  ApiKey,
  ApiKeyRoll,
  ApiKeyUpdate,
  CreatedApiKey,
  ListApiKeysQuery,
  NewApiKey,
  RolledApiKey,
} from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** API keys. Only dashboard sessions manage keys (`dashboardSession`): a key cannot make another. */
export class ApiKeys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List API keys. */
  list(query?: ListApiKeysQuery, options?: CallOptions): List<ApiKey> {
    return new List(this.#transport, path`/api-keys`, query, options);
  }

  /** Create an API key. */
  async create(body: NewApiKey, options?: CallOptions): Promise<CreatedApiKey> {
    return this.#transport.data({ method: "POST", path: path`/api-keys`, body, options });
  }

  /** Read an API key. */
  async get(apiKeyId: string, options?: CallOptions): Promise<ApiKey> {
    return this.#transport.data({ method: "GET", path: path`/api-keys/${apiKeyId}`, options });
  }

  /** Rename an API key, or change when it expires and from where it may be used. Maps such as metadata are merged: `null` removes a name. */
  async update(apiKeyId: string, body: ApiKeyUpdate, options?: CallOptions): Promise<ApiKey> {
    return this.#transport.data({ method: "PATCH", path: path`/api-keys/${apiKeyId}`, body, options });
  }

  /** Rename an API key, or change when it expires and from where it may be used: maps such as metadata are replaced, not merged. */
  async put(apiKeyId: string, body: ApiKeyUpdate, options?: CallOptions): Promise<ApiKey> {
    return this.#transport.data({ method: "PUT", path: path`/api-keys/${apiKeyId}`, body, options });
  }

  /** Replace an API key. */
  async roll(apiKeyId: string, body?: ApiKeyRoll, options?: CallOptions): Promise<RolledApiKey> {
    return this.#transport.data({ method: "POST", path: path`/api-keys/${apiKeyId}/roll`, body, options });
  }

  /** Revoke an API key. */
  async revoke(apiKeyId: string, options?: CallOptions): Promise<ApiKey> {
    return this.#transport.data({ method: "DELETE", path: path`/api-keys/${apiKeyId}`, options });
  }
}
