import type {
  BulkAssignment,
  NewBulkAssignment,
  AssignedPolicy,
  DeletedPolicy,
  ListCustomerPoliciesQuery,
  ListPoliciesQuery,
  ListPolicyCustomersQuery,
  NewPolicy,
  Policy,
  PolicyAssignee,
  PolicyAssignment,
  PolicyImpact,
  PolicyPatch,
  PolicyUnassignment,
  PolicyUpdate,
} from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** Policies, and which customers they are assigned to. */
export class Policies {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List policies. */
  list(query?: ListPoliciesQuery, options?: CallOptions): List<Policy> {
    return new List(this.#transport, path`/policies`, query, options);
  }

  /** Create a policy. */
  async create(body: NewPolicy, options?: CallOptions): Promise<Policy> {
    return this.#transport.data({ method: "POST", path: path`/policies`, body, options });
  }

  /** Read a policy. */
  async get(policyId: string, options?: CallOptions): Promise<Policy> {
    return this.#transport.data({ method: "GET", path: path`/policies/${policyId}`, options });
  }

  /** The same, or nothing where the resource still has this ETag. */
  async getIfChanged(policyId: string, etag: string, options?: CallOptions): Promise<Policy | undefined> {
    return this.#transport.data({
      method: "GET",
      path: path`/policies/${policyId}`,
      ifNoneMatch: etag,
      options,
    });
  }

  /** Change parts of a policy. Maps such as metadata are merged: `null` removes a name. */
  async update(policyId: string, body: PolicyPatch, options?: CallOptions): Promise<Policy> {
    return this.#transport.data({ method: "PATCH", path: path`/policies/${policyId}`, body, options });
  }

  /** Update a policy: maps such as metadata are replaced, not merged. */
  async put(policyId: string, body: PolicyUpdate, options?: CallOptions): Promise<Policy> {
    return this.#transport.data({ method: "PUT", path: path`/policies/${policyId}`, body, options });
  }

  /** Delete a policy. */
  async delete(policyId: string, options?: CallOptions): Promise<DeletedPolicy> {
    return this.#transport.data({ method: "DELETE", path: path`/policies/${policyId}`, options });
  }

  /** List a customer's policies. */
  listOfCustomer(
    customerId: string,
    query?: ListCustomerPoliciesQuery,
    options?: CallOptions,
  ): List<AssignedPolicy> {
    return new List(this.#transport, path`/customers/${customerId}/policies`, query, options);
  }

  /** Assign policies to a customer. */
  async assign(customerId: string, body: PolicyAssignment, options?: CallOptions): Promise<AssignedPolicy[]> {
    return this.#transport.data({
      method: "POST",
      path: path`/customers/${customerId}/policies`,
      body,
      options,
    });
  }

  /** Assign a policy to many customers. Its progress is in `bulkAssignments`. */
  async assignInBulk(
    policyId: string,
    body: NewBulkAssignment,
    options?: CallOptions,
  ): Promise<BulkAssignment> {
    return this.#transport.data({
      method: "POST",
      path: path`/policies/${policyId}/assignments`,
      body,
      options,
    });
  }

  /** Remove a policy from a customer. */
  async unassign(customerId: string, policyId: string, options?: CallOptions): Promise<PolicyUnassignment> {
    return this.#transport.data({
      method: "DELETE",
      path: path`/customers/${customerId}/policies/${policyId}`,
      options,
    });
  }

  /** Count the open sessions of a customer that a policy would refuse. */
  async impact(customerId: string, policyId: string, options?: CallOptions): Promise<PolicyImpact> {
    return this.#transport.data({
      method: "GET",
      path: path`/customers/${customerId}/policies/${policyId}/impact`,
      options,
    });
  }

  /** List the customers that a policy is assigned to. */
  listCustomers(
    policyId: string,
    query?: ListPolicyCustomersQuery,
    options?: CallOptions,
  ): List<PolicyAssignee> {
    return new List(this.#transport, path`/policies/${policyId}/customers`, query, options);
  }
}
