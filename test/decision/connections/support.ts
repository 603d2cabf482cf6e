import {
  ConnectionRegistry,
  type ConnectionRegistryOptions,
  type LiveConnection,
  type Reevaluation,
} from "../../../src/decision/connections/connection-registry.ts";
import type { AccessRequest } from "../../../src/decision/types.ts";
import type { DenialReason } from "../../../src/reasons.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { accessOf, never } from "../support.ts";

/** Unix ms. */
export const START = 1_800_000_000_000;

/** A registry with a clock that stands at START, and what it said to others. */
export function registry(options: Partial<ConnectionRegistryOptions> = {}) {
  const metrics = createMetrics();
  const logged: { level: string; object: object; message: string }[] = [];
  const write = (level: string) => (object: object, message: string) => {
    logged.push({ level, object, message });
  };
  const state = { now: START, changes: 0 };
  const connections = new ConnectionRegistry({
    evaluate: never,
    changed: () => (state.changes += 1),
    metrics,
    log: { info: write("info"), warn: write("warn"), error: write("error") },
    clock: () => state.now,
    ...options,
  });
  const live = async () => (await metrics.connections.get()).values[0]?.value;
  return { connections, state, logged, live };
}

export const allow = (planText: string): Reevaluation => ({ verdict: "ALLOW", planText });
export const deny = (reason: DenialReason): Reevaluation => ({ verdict: "DENY", reason });

/** One whose handshake came a moment after START. */
export function connection(decisionId: string, more: Partial<LiveConnection> = {}): LiveConnection {
  const access = accessOf({ path: `/${decisionId}`, requestId: decisionId, at: START + 1 });
  return { decisionId, access, planText: "plan", ...more };
}

/** Evaluates by the id of the request, which is the connection's. */
export const byId =
  (verdicts: Readonly<Record<string, Reevaluation>>) =>
  ({ requestId }: AccessRequest) =>
    verdicts[requestId] ?? allow("plan");

export const POLICY_CHANGED = { code: 1008, reason: "POLICY_CHANGED" };
