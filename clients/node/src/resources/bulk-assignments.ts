import type { BulkAssignment, ListBulkAssignmentsQuery } from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** Assignments of a policy to many customers; `policies.assignInBulk` starts one. */
export class BulkAssignments {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List assignments to many customers. */
  list(query?: ListBulkAssignmentsQuery, options?: CallOptions): List<BulkAssignment> {
    return new List(this.#transport, path`/bulk-assignments`, query, options);
  }

  /** Read the progress of an assignment to many customers. */
  async get(assignmentId: string, options?: CallOptions): Promise<BulkAssignment> {
    return this.#transport.data({ method: "GET", path: path`/bulk-assignments/${assignmentId}`, options });
  }

  /** Cancel an assignment to many customers. */
  async cancel(assignmentId: string, options?: CallOptions): Promise<BulkAssignment> {
    return this.#transport.data({
      method: "POST",
      path: path`/bulk-assignments/${assignmentId}/cancel`,
      options,
    });
  }
}
