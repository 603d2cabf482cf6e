import type { Reason } from "../../../reasons.ts";
import type { REFUSAL_REASONS } from "../../../refusal-reasons.ts";
import type { Violation } from "../../../customer-state/index.ts";
import type { EventData, NewEvent } from "../../platform/events.ts";
import type { RecordFacts } from "./read-record.ts";
import { storable } from "./read-record.ts";

/** Reasons that a customer's policies cause. */
const VIOLATIONS: ReadonlySet<string> = new Set([
  "MFA_REQUIRED",
  "SESSION_TOO_OLD",
  "EMAIL_DOMAIN_NOT_ALLOWED",
  "CLIENT_ADDRESS_NOT_ALLOWED",
] satisfies Violation[]);

/** Reasons that a policy set causes: its rules, or that no rule matches. */
const OF_SETS: ReadonlySet<string> = new Set([
  "CONDITION_FALSE",
  "CONDITION_UNKNOWN",
  "CLAIM_OMITTED",
  "NO_MATCHING_RULE",
  "GRAPHQL_DENIED",
] satisfies Reason[]);

/** The check of names that a rule reads: its refusals name the rule, which denied nothing. */
const SIMILAR = "similar_parameter" satisfies keyof typeof REFUSAL_REASONS;

/**
 * The event for a decision at a gateway: a denial because of a customer's policies, or of a user by a policy set.
 * Denials of anonymous requests are no events, because anybody can send any number of them.
 */
export function violationEvent({ row, members, isForeignUser }: RecordFacts): NewEvent | undefined {
  if (row.decision !== "DENY" || row.reason === null) return undefined;
  const set = deniedBy(row, members);
  if (!VIOLATIONS.has(row.reason) && set === undefined) return undefined;
  const { customer_id: customerId, reason } = row;
  // for a user of another customer, the event contains nothing that an erasure would have to find later
  const userId = isForeignUser === true ? "" : row.user_id;
  const data: EventData = {
    ...(userId !== "" && customerId !== null && { user: { id: userId, customer_id: customerId } }),
    reason,
    detail:
      set !== undefined
        ? `denied by the policy set ${storable(set.slice(0, 512))}`
        : `denied at the gateway${isForeignUser === true ? "" : `: ${row.action} ${row.resource}`}`,
    decision_id: row.id,
  };
  return {
    type: "policy.violated",
    ...(customerId !== null && { customerId }),
    ...(userId !== "" && { userId }),
    rule: `${set ?? ""} ${row.rule ?? ""}`,
    data,
  };
}

/** The policy set that denied: one of the customer's own, or the gateway's. */
function deniedBy(row: RecordFacts["row"], members: RecordFacts["members"]): string | undefined {
  const { reason, user_id: userId, policy_set: set } = row;
  const { customer_policy_set: own } = members;
  if (typeof own === "string" && own !== "") return own;
  const isOfSet = reason !== null && (OF_SETS.has(reason) || isDeniedReading(row, members));
  return isOfSet && userId !== "" && set !== null && set !== "" ? set : undefined;
}

/** Whether a rule denied what else the path could be read as. What is refused before any rule is evaluated names none. */
function isDeniedReading({ reason, rule }: RecordFacts["row"], { detail }: RecordFacts["members"]): boolean {
  // of gateways that did not know AMBIGUOUS_QUERY yet
  const isOfNames = typeof detail === "string" && detail.startsWith(`${SIMILAR}:`);
  return reason === ("AMBIGUOUS_PATH" satisfies Reason) && rule !== null && !isOfNames;
}
