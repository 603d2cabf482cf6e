import { createDecisionIds } from "../../../audit/index.ts";
import type { AuditRecord } from "../../../protocol/record.ts";
import type { Reason } from "../../../reasons.ts";
import { pick } from "./random.ts";

/** Who sends requests. */
export interface SeedCaller {
  readonly id: string;
  readonly customerId: string;
  readonly role: string | null;
  /** Unix ms: the customer is suspended or archived since. */
  readonly suspendedAt?: number;
}

interface Guarded {
  readonly rule: string;
  readonly name: string;
  readonly action: string;
  readonly path: string;
  /** Whom it permits. */
  readonly roles: readonly string[];
}

const EVERYBODY = ["admin", "manager", "support", "viewer"];

/** What is asked for, the most frequent several times. */
const GUARDED: readonly [Guarded, ...Guarded[]] = [
  guarded(2, "list customers", "GET", "/api/customers", EVERYBODY),
  guarded(2, "list customers", "GET", "/api/customers", EVERYBODY),
  guarded(3, "read a customer", "GET", "/api/customers/{customer_id}", EVERYBODY),
  guarded(3, "read a customer", "GET", "/api/customers/{customer_id}", EVERYBODY),
  guarded(4, "change a customer", "PUT", "/api/customers/{customer_id}", ["admin", "manager"]),
  guarded(5, "delete a customer", "DELETE", "/api/customers/{customer_id}", ["admin"]),
  guarded(6, "read a customer's orders", "GET", "/api/customers/{customer_id}/orders", [
    ...["admin", "manager", "support"],
  ]),
  guarded(8, "place an order", "POST", "/api/orders", ["admin", "manager"]),
  guarded(10, "revenue report", "GET", "/api/reports/revenue", ["admin", "manager"]),
];

function guarded(
  rule: number,
  name: string,
  action: string,
  path: string,
  roles: readonly string[],
): Guarded {
  return { rule: `policies[${rule}]`, name, action, path, roles };
}

const DAY_MS = 86_400_000;

/** How often something else than the rule decides. */
const REFUSALS: readonly (readonly [number, Reason])[] = [
  [0.03, "IDENTITY_REQUIRED"],
  [0.05, "TOKEN_EXPIRED"],
  [0.07, "NO_MATCHING_RULE"],
];

/** What the records have in common. */
export interface DecisionOptions {
  readonly callers: readonly [SeedCaller, ...SeedCaller[]];
  readonly count: number;
  readonly from: number;
  readonly to: number;
  /** `name@version` and digest. */
  readonly policySet: readonly [string, string];
  readonly random: () => number;
}

/** Records as gateways write them, in the order of their times; more of them by day than by night. */
export function decisionRecords({ callers, count, from, to, policySet, random }: DecisionOptions) {
  const times = Array.from({ length: count }, () => timeBetween(from, to, random)).sort((a, b) => a - b);
  let at = from;
  const nextId = createDecisionIds(() => at);
  return times.map((time, index) => {
    at = time;
    const record = decisionOf(pick(random, callers), time, random);
    const micros = evaluationMicros(random);
    return {
      ...record,
      timestamp: new Date(time).toISOString(),
      request_id: `sandbox-${index + 1}`,
      decision_id: nextId(),
      policy_set: policySet[0],
      policy_digest: policySet[1],
      evaluation_time_ms: Math.floor(micros / 1000),
      evaluation_time_us: micros,
      host: "app.example.com",
      raw_path: record.resource,
    } satisfies AuditRecord;
  });
}

type DecidedFields = Pick<
  AuditRecord,
  | "user_id"
  | "resource"
  | "action"
  | "decision"
  | "reason"
  | "rule"
  | "rule_name"
  | "rule_resource"
  | "customer_id"
  | "client_ip"
>;

function decisionOf(caller: SeedCaller, at: number, random: () => number): DecidedFields {
  const asked = pick(random, GUARDED);
  const common = {
    resource: asked.path.replace("{customer_id}", `c-${1 + Math.floor(random() * 6)}`),
    action: asked.action,
    client_ip: `192.0.2.${1 + Math.floor(random() * 200)}`,
  };
  const luck = random();
  const refused = REFUSALS.find(([below]) => luck < below);
  if (refused?.[1] === "NO_MATCHING_RULE")
    return {
      ...common,
      ...who(caller),
      resource: "/api/internal/status",
      decision: "DENY",
      reason: "NO_MATCHING_RULE",
      rule: null,
    };
  if (refused !== undefined)
    return { ...common, user_id: "", decision: "DENY", reason: refused[1], rule: null };
  if (caller.suspendedAt !== undefined && at >= caller.suspendedAt)
    return { ...common, ...who(caller), decision: "DENY", reason: "CUSTOMER_SUSPENDED", rule: null };
  const allowed = caller.role !== null && asked.roles.includes(caller.role);
  return {
    ...common,
    ...who(caller),
    decision: allowed ? "ALLOW" : "DENY",
    reason: allowed ? "CONDITION_TRUE" : "CONDITION_FALSE",
    rule: asked.rule,
    rule_name: asked.name,
    rule_resource: `${asked.action} ${asked.path}`,
  };
}

function who({ id, customerId }: SeedCaller) {
  return { user_id: id, customer_id: customerId };
}

/** Three of four at working hours (UTC). */
function timeBetween(from: number, to: number, random: () => number): number {
  const at = Math.floor(from + random() * (to - from));
  if (random() < 0.25) return at;
  const day = Math.floor(at / DAY_MS) * DAY_MS;
  const moved = Math.floor(day + (8 + random() * 10) * 3_600_000);
  return moved < from || moved >= to ? at : moved;
}

/** Mostly a fraction of a millisecond, seldom several. */
function evaluationMicros(random: () => number): number {
  return Math.round(150 * Math.exp(random() * 2 + (random() < 0.02 ? 3 : 0)));
}
