import type {
  DeletedIdentityProvider,
  IdentityProvider,
  IdpTest,
  IdpTestRequest,
  NewIdentityProvider,
} from "../api.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** The identity provider of each customer. */
export class IdentityProviders {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Read a customer's identity provider. */
  async get(customerId: string, options?: CallOptions): Promise<IdentityProvider> {
    return this.#transport.data({ method: "GET", path: path`/customers/${customerId}/idp`, options });
  }

  /** The same, or nothing where the resource still has this ETag. */
  async getIfChanged(
    customerId: string,
    etag: string,
    options?: CallOptions,
  ): Promise<IdentityProvider | undefined> {
    return this.#transport.data({
      method: "GET",
      path: path`/customers/${customerId}/idp`,
      ifNoneMatch: etag,
      options,
    });
  }

  /** Configure a customer's identity provider. */
  async configure(
    customerId: string,
    body: NewIdentityProvider,
    options?: CallOptions,
  ): Promise<IdentityProvider> {
    return this.#transport.data({ method: "POST", path: path`/customers/${customerId}/idp`, body, options });
  }

  /** Test a customer's identity provider. */
  async test(customerId: string, body: IdpTestRequest, options?: CallOptions): Promise<IdpTest> {
    return this.#transport.data({
      method: "POST",
      path: path`/customers/${customerId}/idp/test`,
      body,
      options,
    });
  }

  /** Delete a customer's identity provider. */
  async delete(customerId: string, options?: CallOptions): Promise<DeletedIdentityProvider> {
    return this.#transport.data({ method: "DELETE", path: path`/customers/${customerId}/idp`, options });
  }
}
