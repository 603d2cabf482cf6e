import type {
  Customer,
  CustomerPatch,
  CustomerUpdate,
  DeletedCustomer,
  ListCustomersQuery,
  NewCustomer,
} from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** Customers. Their identity providers are in `identityProvider`. */
export class Customers {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List customers. */
  list(query?: ListCustomersQuery, options?: CallOptions): List<Customer> {
    return new List(this.#transport, path`/customers`, query, options);
  }

  /** Create a customer. */
  async create(body: NewCustomer, options?: CallOptions): Promise<Customer> {
    return this.#transport.data({ method: "POST", path: path`/customers`, body, options });
  }

  /** Read a customer. */
  async get(customerId: string, options?: CallOptions): Promise<Customer> {
    return this.#transport.data({ method: "GET", path: path`/customers/${customerId}`, options });
  }

  /** The same, or nothing where the resource still has this ETag. */
  async getIfChanged(customerId: string, etag: string, options?: CallOptions): Promise<Customer | undefined> {
    return this.#transport.data({
      method: "GET",
      path: path`/customers/${customerId}`,
      ifNoneMatch: etag,
      options,
    });
  }

  /** Change parts of a customer. Maps such as metadata are merged: `null` removes a name. */
  async update(customerId: string, body: CustomerPatch, options?: CallOptions): Promise<Customer> {
    return this.#transport.data({ method: "PATCH", path: path`/customers/${customerId}`, body, options });
  }

  /** Update a customer: maps such as metadata are replaced, not merged. */
  async put(customerId: string, body: CustomerUpdate, options?: CallOptions): Promise<Customer> {
    return this.#transport.data({ method: "PUT", path: path`/customers/${customerId}`, body, options });
  }

  /** Delete a customer. */
  async delete(customerId: string, options?: CallOptions): Promise<DeletedCustomer> {
    return this.#transport.data({ method: "DELETE", path: path`/customers/${customerId}`, options });
  }
}
