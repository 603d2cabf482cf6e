/** Explains decisions offline, for `policy explain` and `policy test`. */
export {
  explainAnswer,
  explainOffline,
  type ExplainedAnswer,
  type ExplainedDecision,
} from "./explain-offline.ts";
export type { Direction } from "./message-verdict.ts";
export { decideOffline, type OfflineSettings } from "./offline.ts";
export { openConnection } from "./offline-connection.ts";
export { renderAnswer, renderDelivery, renderExplanation } from "./render-explanation.ts";
