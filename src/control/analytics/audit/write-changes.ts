import type { Knex } from "knex";
import type { StoredChange } from "../../platform/unit.ts";

/** Rows of one statement: deleting a customer revokes any number of keys. */
const BATCH = 5_000;

/** Writes changes in the control plane to the audit trail, within their transaction. */
export async function writeChanges(trx: Knex.Transaction, changes: readonly StoredChange[]): Promise<void> {
  for (let from = 0; from < changes.length; from += BATCH) {
    const rows = changes.slice(from, from + BATCH).map(rowOf);
    // one parameter: a statement may have at most 65,535, and many are slow
    await trx.raw(
      `insert into audit_records (timestamp, kind, id, request_id, customer_id, user_id, about_user, resource, action,
         client_ip, record)
       select timestamp, 'change', id, request_id, customer_id, user_id, about_user, resource, action, client_ip, record
       from json_to_recordset(?::json) as change (
         timestamp timestamptz, id text, request_id text, customer_id text, user_id text, about_user text, resource text,
         action text, client_ip text, record jsonb
       )`,
      [JSON.stringify(rows)],
    );
  }
}

/** The columns by which the trail is searched; the rest as it is. */
function rowOf(change: StoredChange): object {
  const { id, timestamp, actor, action, target, customerId, requestId, clientIp, before, after } = change;
  const { userId = target.type === "user" ? target.id : null } = change;
  return {
    timestamp,
    id,
    request_id: requestId,
    customer_id: customerId ?? null,
    user_id: actor.id,
    about_user: userId,
    resource: `${target.type}/${target.id}`,
    action,
    client_ip: clientIp,
    record: { actor, target, ...(before && { before }), ...(after && { after }) },
  };
}
