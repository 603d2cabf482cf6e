import type { OutcomeLog } from "../../audit/types.ts";
import type { Shadowed } from "../../decision/decide/decide.ts";
import { gatewayPlanOf } from "../../decision/decide/both-permit.ts";
import { decidingRule } from "../../decision/decide/deciding-rule.ts";
import { ShadowCounter, type ShadowCountsMessage } from "../../decision/shadow/shadow-counter.ts";
import { ShadowEvaluator } from "../../decision/shadow/shadow-evaluator.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { SHADOW_THREAD, type ShadowData } from "./shadow-thread.ts";

/** A worker's part of a candidate in shadow mode. Its thread starts with the first decision. */
export interface Shadow {
  /** Has the candidate evaluated later. Never throws. */
  readonly observe: (shadowed: Shadowed) => void;
  /** @returns what was counted since the last call, if anything */
  take(): ShadowCountsMessage | undefined;
  close(): void;
}

/** @returns what evaluates candidates in shadow, and records and counts the differences */
export function createShadow(
  data: ShadowData,
  { audit, metrics, log }: { readonly audit: OutcomeLog; readonly metrics: Metrics; readonly log: Log },
): Shadow {
  const counter = new ShadowCounter();
  const evaluator = new ShadowEvaluator(
    { script: SHADOW_THREAD, data },
    {
      record: (record) => {
        metrics.outcomes.inc({ event: "shadow_decision" });
        audit.recordOutcome(true, () => record);
      },
      metrics,
      counter,
      log,
    },
  );
  return {
    observe: (shadowed) => {
      try {
        take(evaluator, shadowed);
      } catch (error) {
        log.error({ err: error }, "cannot evaluate the candidate in shadow");
      }
    },
    take: () => counter.take(),
    close: () => {
      evaluator.close();
    },
  };
}

function take(evaluator: ShadowEvaluator, { candidate, access, found, checked, decision }: Shadowed): void {
  const { set, file } = candidate;
  const { snapshot } = decision;
  // what a customer's own set denies, the candidate does not change
  if (file === undefined || snapshot === undefined || decision.customerPolicySet !== undefined) return;
  evaluator.take(
    { file, label: set.label, digest: set.digest },
    {
      ...{ access, found, checked },
      stable: {
        verdict: decision.verdict,
        reason: decision.reason,
        rule: decidingRule(decision)?.id ?? null,
        plan: gatewayPlanOf(decision),
        isJoined: decision.gatewayPlan !== undefined,
        label: snapshot.label,
        digest: snapshot.digest,
      },
    },
  );
}
