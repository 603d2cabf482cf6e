import type { AuditRecord, ListAuditLogsQuery } from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** The audit trail. */
export class Audit {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List the audit trail. */
  list(query?: ListAuditLogsQuery, options?: CallOptions): List<AuditRecord> {
    return new List(this.#transport, path`/audit/logs`, query, options);
  }
}
