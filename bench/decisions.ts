import { createDecisionIds } from "../src/audit/index.ts";
import type { AuditRecord } from "../src/protocol/record.ts";

/** Realistic decisions: few customers make most requests, each user belongs to one, and rules protect the resources. */
export interface Traffic {
  readonly customers: number;
  readonly users: number;
  readonly resources: number;
}

export interface BenchDecision {
  readonly timestamp: number;
  readonly id: string;
  readonly customer: string;
  readonly user: string;
  readonly resource: string;
  readonly guarded: string;
  readonly rule: string;
  readonly denied: boolean;
  readonly microseconds: number;
}

/** @returns a source of decisions, the same for the same numbers of everything; only ids differ */
export function decisionsOf({ customers, users, resources }: Traffic): (timestamp: number) => BenchDecision {
  const random = randomNumbers(7);
  let now = 0;
  const nextId = createDecisionIds(() => now);
  // Zipf's law, as near as a power comes to it
  const skewed = (count: number) => Math.floor(count * random() ** 3);
  return (timestamp) => {
    now = timestamp;
    const user = skewed(users);
    const guarded = skewed(resources);
    return {
      timestamp,
      id: nextId(),
      customer: `cus_${String(user % customers).padStart(26, "0")}`,
      user: `usr_${String(user).padStart(26, "0")}`,
      resource: `/api/things/${guarded}/parts/${Math.floor(random() * 1e6)}`,
      guarded: `GET /api/things/${guarded}/parts/{part_id}`,
      rule: `policies[${guarded}]`,
      denied: random() < 0.07,
      microseconds: Math.ceil(80 + 4000 * random() ** 8),
    };
  };
}

/** As the gateway sends it. */
export function recordOf(decision: BenchDecision): AuditRecord {
  return {
    timestamp: new Date(decision.timestamp).toISOString(),
    request_id: requestIdOf(decision),
    user_id: decision.user,
    resource: decision.resource,
    action: "GET",
    decision: decision.denied ? "DENY" : "ALLOW",
    policy_set: "default@v1",
    evaluation_time_ms: Math.floor(decision.microseconds / 1000),
    client_ip: "192.0.2.7",
    decision_id: decision.id,
    reason: decision.denied ? "CONDITION_FALSE" : "CONDITION_TRUE",
    rule: decision.rule,
    rule_resource: decision.guarded,
    policy_digest: "5e".repeat(32),
    customer_id: decision.customer,
    host: "api.example.com",
    raw_path: decision.resource,
    evaluation_time_us: decision.microseconds,
  };
}

/** Columns of the audit trail, and a decision's values for them. */
export const COLUMNS = [
  ["timestamp", "kind", "id", "request_id", "customer_id", "user_id", "decision", "reason", "resource"],
  ["action", "rule", "policy_set", "client_ip", "evaluation_time_us", "record"],
].flat();

export function valuesOf(decision: BenchDecision): readonly (string | number)[] {
  const rest = {
    evaluation_time_ms: Math.floor(decision.microseconds / 1000),
    rule_resource: decision.guarded,
    host: "api.example.com",
  } satisfies Partial<AuditRecord>;
  return [
    new Date(decision.timestamp).toISOString(),
    "decision",
    decision.id,
    requestIdOf(decision),
    decision.customer,
    decision.user,
    decision.denied ? "DENY" : "ALLOW",
    decision.denied ? "CONDITION_FALSE" : "CONDITION_TRUE",
    decision.resource,
    "GET",
    decision.rule,
    "default@v1",
    "192.0.2.7",
    decision.microseconds,
    JSON.stringify(rest),
  ];
}

function requestIdOf({ id }: BenchDecision): string {
  return `req-${id.slice(4)}`;
}

/** mulberry32: numbers from 0 to 1, always the same ones. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
