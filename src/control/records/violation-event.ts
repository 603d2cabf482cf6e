import type { Violation } from "../../standing/index.ts";
import type { EventData, NewEvent } from "../events.ts";
import type { RecordFacts } from "./read-record.ts";

/** Reasons that say which rule of a customer's policies was violated. */
const VIOLATIONS: ReadonlySet<string> = new Set([
  "MFA_REQUIRED",
  "SESSION_TOO_OLD",
  "EMAIL_DOMAIN_NOT_ALLOWED",
  "CLIENT_ADDRESS_NOT_ALLOWED",
] satisfies Violation[]);

/** What a decision at a gateway announces: a denial because of a customer's own policies is a violation of them. */
export function violationEvent({ row, members }: RecordFacts): NewEvent | undefined {
  if (row.decision !== "DENY" || row.reason === null) return undefined;
  const set = members["customer_policy_set"];
  const bySet = typeof set === "string" && set !== "";
  if (!VIOLATIONS.has(row.reason) && !bySet) return undefined;
  const { customer_id: customerId, user_id: userId, client_ip: address, reason } = row;
  const session = members["session_id"];
  const data: EventData = {
    ...(userId !== "" && customerId !== null && { user: { id: userId, customer_id: customerId } }),
    ...(typeof session === "string" &&
      session !== "" && { session: { id: storable(session), ip_address: address ?? "", user_agent: "" } }),
    reason,
    detail: bySet
      ? `denied by the policy set ${storable(set)}`
      : `denied at the gateway: ${row.action} ${row.resource}`,
    decision_id: row.id,
  };
  return {
    type: "policy.violated",
    ...(customerId !== null && { customerId }),
    ...(userId !== "" && { userId }),
    data,
  };
}

function storable(text: string): string {
  return text.slice(0, 512).replaceAll("\0", "\ufffd").toWellFormed();
}
