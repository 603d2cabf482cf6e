/** Recorded decisions, decided again with another policy set. */
export {
  CHANGE_KINDS,
  readDecisionRecord,
  replayRecord,
  type Change,
  type ChangeKind,
  type DecisionRecord,
  type OtherRecord,
  type ReplayedRecord,
  type ReplayedSets,
  type ReplayOutcome,
} from "./replay-record.ts";
export { rememberHashes } from "./known-hashes.ts";
