import { nextDecisionId } from "../../decision/point/index.ts";
import type { RolloutChange } from "../../decision/rollout/rollout-controller.ts";
import type { RolloutRecord } from "../../protocol/index.ts";

/** From the supervisor to one worker, which writes the record. */
export interface RolloutChangeMessage {
  readonly type: "rollout_changed";
  readonly record: RolloutRecord;
}

export function isRolloutChangeMessage(message: unknown): message is RolloutChangeMessage {
  return (
    typeof message === "object" && message !== null && "type" in message && message.type === "rollout_changed"
  );
}

/**
 * @param rollout - its id at the control plane, if it is from there
 * @returns the audit record of a change of the rollout that has just been made
 */
export function rolloutRecord(
  { change, set, mode, percentage, cause, detail }: RolloutChange,
  rollout: string | undefined,
): RolloutRecord {
  return {
    timestamp: new Date().toISOString(),
    event: "rollout",
    decision_id: nextDecisionId(),
    change,
    ...(rollout !== undefined && { rollout_id: rollout }),
    policy_set: set.label,
    policy_digest: set.digest,
    mode,
    percentage,
    ...(cause !== undefined && { cause }),
    ...(detail !== undefined && { detail }),
  };
}
