import type { Knex } from "knex";
import type { StoredChange } from "../../platform/unit.ts";

/** Writes changes in the control plane to the audit trail, within their transaction. */
export async function writeChanges(trx: Knex.Transaction, changes: readonly StoredChange[]): Promise<void> {
  await trx("audit_records").insert(changes.map(rowOf));
}

/** The columns by which the trail is searched; the rest as it is. */
function rowOf(change: StoredChange): object {
  const { id, timestamp, actor, action, target, customerId, requestId, clientIp, before, after } = change;
  const { userId = target.type === "user" ? target.id : null } = change;
  return {
    timestamp,
    kind: "change",
    id,
    request_id: requestId,
    customer_id: customerId ?? null,
    user_id: actor.id,
    about_user: userId,
    resource: `${target.type}/${target.id}`,
    action,
    client_ip: clientIp,
    record: JSON.stringify({ actor, target, ...(before && { before }), ...(after && { after }) }),
  };
}
