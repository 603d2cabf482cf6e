import type {
  DeletedUser,
  ListUsersOfCustomerQuery,
  ListUsersQuery,
  NewUser,
  User,
  UserExport,
  UserPatch,
  UserUpdate,
} from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** The customers' users. */
export class Users {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List users. */
  list(query?: ListUsersQuery, options?: CallOptions): List<User> {
    return new List(this.#transport, path`/users`, query, options);
  }

  /** List the users of a customer. */
  listOfCustomer(customerId: string, query?: ListUsersOfCustomerQuery, options?: CallOptions): List<User> {
    return new List(this.#transport, path`/customers/${customerId}/users`, query, options);
  }

  /** Add a user before their first sign-in. */
  async create(customerId: string, body: NewUser, options?: CallOptions): Promise<User> {
    return this.#transport.data({
      method: "POST",
      path: path`/customers/${customerId}/users`,
      body,
      options,
    });
  }

  /** Read a user. */
  async get(userId: string, options?: CallOptions): Promise<User> {
    return this.#transport.data({ method: "GET", path: path`/users/${userId}`, options });
  }

  /** Change a user's status or some attributes. Maps such as metadata are merged: `null` removes a name. */
  async update(userId: string, body: UserPatch, options?: CallOptions): Promise<User> {
    return this.#transport.data({ method: "PATCH", path: path`/users/${userId}`, body, options });
  }

  /** Change a user's status or attributes: maps such as metadata are replaced, not merged. */
  async put(userId: string, body: UserUpdate, options?: CallOptions): Promise<User> {
    return this.#transport.data({ method: "PUT", path: path`/users/${userId}`, body, options });
  }

  /** Delete a user. */
  async delete(userId: string, options?: CallOptions): Promise<DeletedUser> {
    return this.#transport.data({ method: "DELETE", path: path`/users/${userId}`, options });
  }

  /** Export all data about a user. */
  async export(userId: string, options?: CallOptions): Promise<UserExport> {
    return this.#transport.data({ method: "GET", path: path`/users/${userId}/export`, options });
  }
}
