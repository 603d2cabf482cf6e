import type { AuditLog, DurableRecord, RefusalLog } from "../../audit/types.ts";
import type { OutcomeRecord } from "../../protocol/record.ts";
import { REASONS } from "../../reasons.ts";
import { inTime } from "../../runtime/in-time.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Decide } from "../decide/decide.ts";
import { EvaluationFailure } from "../decide/rollout-arm.ts";
import { denyPermitted, requiresAudit } from "../decide/evaluation-context.ts";
import { auditRecord, nextDecisionId, type RecordContext } from "./record.ts";
import type { InputProtection } from "../inputs/index.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { PromiseOrValue } from "../promise-or-value.ts";
import type { AccessRequest, Decision, Denial, Permit } from "../types.ts";

/** The dependencies of a policy decision point. */
export interface DecisionPointDependencies {
  readonly decide: Decide;
  readonly snapshot: () => Snapshot | undefined;
  readonly audit: AuditLog & RefusalLog;
  readonly metrics: Metrics;
  readonly log: { error(object: object, message: string): void };
  /** Called with each final decision, and each that came too late for its caller, and how long it took. */
  readonly concluded?: (decision: Decision, elapsedMs: number) => void;
  /** What records keep of the values that rules read; absent: they carry no inputs. */
  readonly inputs?: InputProtection;
  /** Unix ms. */
  readonly clock?: () => number;
}

/** Timeout for writing a record if there is no deadline. */
const LONGEST_WAIT_MS = 5_000;
/** The part of the deadline reserved for the way back, at most. */
const ANSWER_MS = 20;

/**
 * The policy decision point that every door asks, in two steps: {@link decide} evaluates the policies and never throws;
 * {@link conclude} makes the decision final (in time, recorded, counted) after the door has prepared its answer.
 */
export class DecisionPoint {
  readonly #dependencies: DecisionPointDependencies;
  readonly #clock: () => number;
  readonly #counters = new Map<string, { inc(): void }>();

  constructor(dependencies: DecisionPointDependencies) {
    this.#dependencies = dependencies;
    this.#clock = dependencies.clock ?? Date.now;
  }

  /** Decides. Any failure is a denial, INTERNAL_ERROR. */
  decide(access: AccessRequest): PromiseOrValue<Decision> {
    try {
      const decision = this.#dependencies.decide(access);
      return decision instanceof Promise
        ? decision.catch((error: unknown) => this.failed(error, access))
        : decision;
    } catch (error) {
      return this.failed(error, access);
    }
  }

  /**
   * The denial for an unexpected failure, which is logged with its cause.
   *
   * @param decided - the decision that was made before it failed
   */
  failed(error: unknown, access: AccessRequest | undefined, decided?: Decision): Denial {
    this.#dependencies.log.error({ err: error, request_id: access?.requestId }, "a decision failed");
    const isEvaluation = error instanceof EvaluationFailure;
    const cause = isEvaluation ? error.cause : error;
    const known = isEvaluation ? error.draft : decided;
    const snapshot = known?.snapshot ?? this.#dependencies.snapshot();
    return {
      verdict: "DENY",
      reason: "INTERNAL_ERROR",
      detail: cause instanceof Error ? cause.name : "error",
      clientIp: known?.clientIp ?? access?.peer ?? "",
      trustedPeer: known?.trustedPeer ?? false,
      accepted: [],
      ...(snapshot && { snapshot }),
      ...(known?.arm && { arm: known.arm }),
      ...(known?.identity && { identity: known.identity }),
    };
  }

  /** Counts a decision that came after its deadline: the caller was refused without it, and whoever did that records it. */
  missed(decided: Decision, started: number): void {
    const { concluded, log } = this.#dependencies;
    const late = decided.verdict === "ALLOW" ? denyPermitted(decided, "DEADLINE_EXCEEDED") : decided;
    try {
      concluded?.(late, performance.now() - started);
    } catch (error) {
      log.error({ err: error }, "cannot count a decision");
    }
  }

  /**
   * Makes a decision final. A permit becomes a denial if the deadline has passed, or if its audit record is required
   * and was not written in time. Never throws and never rejects.
   *
   * @param started - `performance.now()` when the door received the request
   * @returns a promise only if the record has to be written first
   */
  conclude(denial: Denial, context: RecordContext, deadline: number, started: number): Denial;
  conclude(
    decided: Decision,
    context: RecordContext,
    deadline: number,
    started: number,
  ): PromiseOrValue<Decision>;
  conclude(
    decided: Decision,
    context: RecordContext,
    deadline: number,
    started: number,
  ): PromiseOrValue<Decision> {
    try {
      switch (decided.verdict) {
        case "DENY":
          return this.#recorded(decided, context, started);
        case "ALLOW":
          return this.#concludePermit(decided, context, deadline, started);
      }
    } catch (error) {
      return this.#unrecorded(error, decided, context, started);
    }
  }

  #concludePermit(
    permit: Permit,
    context: RecordContext,
    deadline: number,
    started: number,
  ): PromiseOrValue<Decision> {
    const { audit } = this.#dependencies;
    if (this.#clock() > deadline)
      return this.#recorded(denyPermitted(permit, "DEADLINE_EXCEEDED"), context, started);
    if (!requiresAudit(permit)) return this.#recorded(permit, context, started);
    if (!audit.accepting())
      return this.#recorded(denyPermitted(permit, "AUDIT_UNAVAILABLE"), context, started);
    return this.#concludeWritten(permit, context, deadline, started).catch((error: unknown) =>
      this.#unrecorded(error, permit, context, started),
    );
  }

  #recorded<Final extends Decision>(final: Final, context: RecordContext, started: number): Final {
    const { audit, inputs } = this.#dependencies;
    const elapsed = performance.now() - started;
    audit.record(
      final.verdict,
      () => auditRecord(final, context, elapsed, audit.wantsTrace, inputs),
      requiresAudit(final),
    );
    return this.#counted(final, started);
  }

  /** The audit itself has failed unexpectedly: nothing is permitted without a record. */
  #unrecorded(error: unknown, decided: Decision, { access }: RecordContext, started: number): Denial {
    return this.#counted(this.failed(error, access, decided), started);
  }

  /**
   * Makes a denial final that was made before anything was read. Anyone may cause any number of these, so their records
   * are rate-limited.
   */
  refuse(refusal: Denial, context: RecordContext, started: number): Denial {
    const elapsed = performance.now() - started;
    try {
      this.#dependencies.audit.recordRefusal(() => auditRecord(refusal, context, elapsed, false));
      return this.#counted(refusal, started);
    } catch (error) {
      return this.#unrecorded(error, refusal, context, started);
    }
  }

  /**
   * A permit that counts only once its record is written: until then it can be revoked, and the request is not
   * forwarded.
   */
  async #concludeWritten(
    allowed: Permit,
    context: RecordContext,
    deadline: number,
    started: number,
  ): Promise<Decision> {
    const { audit, inputs } = this.#dependencies;
    const elapsed = performance.now() - started;
    const named = { ...context, decisionId: context.decisionId ?? nextDecisionId() };
    const recordOf = (decision: Decision) => () =>
      auditRecord(decision, named, elapsed, audit.wantsTrace, inputs);
    const record = audit.recordDurably(recordOf(allowed));
    const final = await this.#whenWritten(record, allowed, context, deadline);
    if (final.verdict === "DENY")
      record?.revoke(recordOf(final), () =>
        notForwarded(final, named.decisionId, this.#clock() - context.at),
      );
    return this.#counted(final, started);
  }

  /** Never rejects: the record of the permit may already be written, and must then be revoked. */
  async #whenWritten(
    record: DurableRecord | undefined,
    allowed: Permit,
    { access }: RecordContext,
    deadline: number,
  ): Promise<Decision> {
    try {
      const isWritten =
        record !== undefined && (await inTime(record.written, this.#patience(deadline), false));
      if (!isWritten) return denyPermitted(allowed, "AUDIT_UNAVAILABLE");
      return this.#clock() <= deadline ? allowed : denyPermitted(allowed, "DEADLINE_EXCEEDED");
    } catch (error) {
      return this.failed(error, access, allowed);
    }
  }

  /** Timeout for writing a record: the answer must be back before the deadline, or Envoy asks another worker. */
  #patience(deadline: number): number {
    const left = Math.max(0, deadline - this.#clock());
    return Math.min(LONGEST_WAIT_MS, left - Math.min(ANSWER_MS, left / 4));
  }

  /** Runs last, after recording: whatever fails here, the answer is what the record says. */
  #counted<Final extends Decision>(final: Final, started: number): Final {
    const { metrics, log, concluded } = this.#dependencies;
    try {
      const elapsedMs = performance.now() - started;
      this.#counter(final).inc();
      metrics.decisionDuration.observe(elapsedMs / 1000);
      concluded?.(final, elapsedMs);
      for (const check of final.accepted) metrics.acceptedAmbiguities.inc({ check });
    } catch (error) {
      log.error({ err: error }, "cannot count a decision");
    }
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

/** Recorded next to a permit that was recorded but then came to nothing. */
function notForwarded({ reason }: Denial, decisionId: string, elapsedMs: number): OutcomeRecord {
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
    detail:
      reason === "INTERNAL_ERROR"
        ? "the decision failed after its record was written"
        : "the record was written too late",
  };
}
