import type { AuditLog, RefusalLog } from "../audit/types.ts";
import type { OutcomeRecord } from "../protocol/record.ts";
import { within } from "../audit/within.ts";
import { REASONS, type Reason } from "../reasons.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Decide } from "./decide.ts";
import { requiresAudit } from "./judgement.ts";
import { auditRecord, nextDecisionId, type RecordContext } from "./record.ts";
import type { Snapshot } from "./snapshot.ts";
import type { AccessRequest, Decision } from "./types.ts";

/** What a policy decision point is made of. */
export interface DecisionPointDependencies {
  readonly decide: Decide;
  readonly snapshot: () => Snapshot | undefined;
  readonly audit: AuditLog & RefusalLog;
  readonly metrics: Metrics;
  readonly log: { error(object: object, message: string): void };
  /** Unix ms. */
  readonly clock?: () => number;
}

/** How long a record may take where there is no deadline. */
const LONGEST_WAIT_MS = 5_000;
/** What is left of the deadline for the way back, at most. */
const ANSWER_MS = 20;

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
   * audit is required and its record is not written in time.
   *
   * @param started - `performance.now()` when the door received the request
   * @returns a promise only where the record has to be written first
   */
  conclude(
    judged: Decision,
    context: RecordContext,
    deadline: number,
    started: number,
  ): Decision | Promise<Decision> {
    const { audit } = this.#dependencies;
    let final = judged;
    if (judged.verdict === "ALLOW" && this.#clock() > deadline) final = denied(judged, "DEADLINE_EXCEEDED");
    const isRequired = requiresAudit(final);
    if (final.verdict === "ALLOW" && isRequired) {
      if (audit.accepting()) return this.#concludeWritten(final, context, deadline, started);
      final = denied(judged, "AUDIT_UNAVAILABLE");
    }
    const recorded = final;
    const elapsed = performance.now() - started;
    audit.record(
      recorded.verdict,
      () => auditRecord(recorded, context, elapsed, audit.wantsTrace),
      isRequired,
    );
    return this.#counted(final, started);
  }

  /** Makes a denial final that was made before anything was read: anyone may cause any number, so records have a rate. */
  refuse(refusal: Decision, context: RecordContext, started: number): Decision {
    const elapsed = performance.now() - started;
    this.#dependencies.audit.recordRefusal(() => auditRecord(refusal, context, elapsed, false));
    return this.#counted(refusal, started);
  }

  /** An allow that is one when its record is written: until then it may be killed, and is not let through. */
  async #concludeWritten(
    allowed: Decision,
    context: RecordContext,
    deadline: number,
    started: number,
  ): Promise<Decision> {
    const { audit } = this.#dependencies;
    const elapsed = performance.now() - started;
    const named = { ...context, decisionId: context.decisionId ?? nextDecisionId() };
    const recordOf = (decision: Decision) => () => auditRecord(decision, named, elapsed, audit.wantsTrace);
    const record = audit.recordDurably(recordOf(allowed));
    const isWritten = record !== undefined && (await within(this.#patience(deadline), record.written));
    if (isWritten && this.#clock() <= deadline) return this.#counted(allowed, started);
    const final = denied(allowed, isWritten ? "DEADLINE_EXCEEDED" : "AUDIT_UNAVAILABLE");
    record?.revoke(recordOf(final), () => notForwarded(final, named.decisionId, this.#clock() - context.at));
    return this.#counted(final, started);
  }

  /** How long a record may take: the answer has to be back before the deadline, or another worker is asked. */
  #patience(deadline: number): number {
    const left = Math.max(0, deadline - this.#clock());
    return Math.min(LONGEST_WAIT_MS, left - Math.min(ANSWER_MS, left / 4));
  }

  #counted(final: Decision, started: number): Decision {
    const { metrics } = this.#dependencies;
    this.#counter(final).inc();
    metrics.decisionDuration.observe((performance.now() - started) / 1000);
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

/** Said beside a record of an allow that was out before the allow came to nothing. */
function notForwarded({ reason }: Decision, decisionId: string, elapsedMs: number): OutcomeRecord {
  return {
    timestamp: new Date().toISOString(),
    event: "response",
    decision_id: decisionId,
    response_code: REASONS[reason].status,
    duration_ms: Math.max(0, Math.floor(elapsedMs)),
    result: "not_forwarded",
    reason,
    masked_count: 0,
    masked_paths: [],
    response_bytes: 0,
    detail: "the record was written too late",
  };
}
