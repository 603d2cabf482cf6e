/** Explains decisions offline, for `policy explain`, `policy test`, `policy diff` and the dashboard's editor. */
export {
  explainAnswer,
  explainOffline,
  type ExplainedAnswer,
  type ExplainedDecision,
} from "./explain-offline.ts";
export type { Direction } from "./message-verdict.ts";
export { decideOffline, type OfflineSettings } from "./offline.ts";
export {
  explainExchange,
  plainExplanation,
  renderExchange,
  type Exchange,
  type ExplainedExchange,
  type PlainExplanation,
} from "./explain-exchange.ts";
export { USUAL_GATEWAY, type GatewaySettings } from "./gateway-settings.ts";
export { repeatRecord, type NotInRecord, type PastDecision, type RepeatedDecision } from "./repeat-record.ts";
export { UnsupportedSample } from "./sample-answer.ts";
export { openConnection } from "./offline-connection.ts";
export { createRawRequest, wireText } from "./raw-request.ts";
export { renderExplanation } from "./render-explanation.ts";
export { replayChange, type ReplayedChange, type ReplayedWitness } from "./replay-witness.ts";
export { createSuiteSubject } from "./suite-subject.ts";
