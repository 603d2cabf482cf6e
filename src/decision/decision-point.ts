import type { AuditLog } from "../audit/types.ts";
import type { Reason } from "../reasons.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Decide } from "./decide.ts";
import { requiresAudit } from "./judgement.ts";
import { auditRecord, type RecordContext } from "./record.ts";
import type { Snapshot } from "./snapshot.ts";
import type { AccessRequest, Decision } from "./types.ts";

/** What a policy decision point is made of. */
export interface DecisionPointDependencies {
  readonly decide: Decide;
  readonly snapshot: () => Snapshot | undefined;
  readonly audit: AuditLog;
  readonly metrics: Metrics;
  readonly log: { error(object: object, message: string): void };
  /** Unix ms. */
  readonly clock?: () => number;
}

/**
 * The policy decision point that every door asks, in two steps: {@link judge} says what the policies say and never
 * throws; {@link conclude} makes it final - still in time, recorded, counted - after the door has prepared its answer.
 */
export class DecisionPoint {
  readonly #dependencies: DecisionPointDependencies;
  readonly #clock: () => number;
  readonly #counters = new Map<string, { inc(): void }>();

  constructor(dependencies: DecisionPointDependencies) {
    this.#dependencies = dependencies;
    this.#clock = dependencies.clock ?? Date.now;
  }

  /** Decides. Whatever goes wrong inside is a denial, INTERNAL_ERROR. */
  judge(access: AccessRequest): Decision | Promise<Decision> {
    try {
      const decision = this.#dependencies.decide(access);
      return decision instanceof Promise
        ? decision.catch((error: unknown) => this.failed(error, access))
        : decision;
    } catch (error) {
      return this.failed(error, access);
    }
  }

  /** The denial for something that should not have happened; it is logged with its cause. */
  failed(error: unknown, access: AccessRequest | undefined): Decision {
    this.#dependencies.log.error({ err: error, request_id: access?.requestId }, "a decision failed");
    const snapshot = this.#dependencies.snapshot();
    return {
      verdict: "DENY",
      reason: "INTERNAL_ERROR",
      detail: error instanceof Error ? error.name : "error",
      clientIp: access?.peer ?? "",
      trustedPeer: false,
      accepted: [],
      ...(snapshot && { snapshot }),
    };
  }

  /**
   * Makes a decision final. It comes back changed to a denial when the deadline has passed meanwhile, or when its
   * audit is required and cannot be taken.
   *
   * @param started - `performance.now()` when the door received the request
   */
  conclude(judged: Decision, context: RecordContext, deadline: number, started: number): Decision {
    const { audit, metrics } = this.#dependencies;
    let final = judged;
    if (judged.verdict === "ALLOW" && this.#clock() > deadline) final = denied(judged, "DEADLINE_EXCEEDED");
    if (final.verdict === "ALLOW" && requiresAudit(final) && !audit.accepting()) {
      final = denied(judged, "AUDIT_UNAVAILABLE");
    }
    const elapsed = performance.now() - started;
    const recorded = final;
    const build = () => auditRecord(recorded, context, elapsed, audit.wantsTrace);
    const taken = audit.record(recorded.verdict, build, requiresAudit(recorded));
    if (!taken && final.verdict === "ALLOW" && requiresAudit(final))
      final = denied(judged, "AUDIT_UNAVAILABLE");
    this.#counter(final).inc();
    metrics.decisionDuration.observe(elapsed / 1000);
    for (const check of final.accepted) metrics.acceptedAmbiguities.inc({ check });
    return final;
  }

  #counter({ verdict, reason }: Decision): { inc(): void } {
    let counter = this.#counters.get(reason);
    if (counter === undefined) {
      counter = this.#dependencies.metrics.decisions.labels(verdict, reason);
      this.#counters.set(reason, counter);
    }
    return counter;
  }
}

function denied(decision: Decision, reason: Reason): Decision {
  return { ...decision, verdict: "DENY", reason };
}
