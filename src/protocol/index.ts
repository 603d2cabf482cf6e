export { callerData, callerParams, type CallerData } from "./caller.ts";
export {
  errorEnvelope,
  successEnvelope,
  type ErrorEnvelope,
  type GatewayErrorCode,
  type SuccessEnvelope,
} from "./envelope.ts";
export { policySetData, policySetParams, policySetVersionParams, type PolicySetData } from "./policy-set.ts";
export type {
  AuditRecord,
  DeniedMessagesRecord,
  EventRecord,
  OutcomeRecord,
  RecordInputs,
  RecordMember,
  RolloutRecord,
  ShadowRecord,
} from "./record.ts";
export {
  MAX_RECORDS_BYTES,
  recordsAnswer,
  recordsBody,
  recordsData,
  type RecordsAnswer,
  type RecordRejection,
} from "./records.ts";
export {
  registrationAnswer,
  registrationBody,
  registrationTaken,
  type Registration,
  type RegistrationAnswer,
} from "./registration.ts";
export {
  MOST_SHADOW_RULES,
  MOST_HEAVY_CALLERS,
  MOST_IGNORED_CALLERS,
  OTHER_RULES,
  rolloutGuard,
  rolloutReportAnswer,
  rolloutReportBody,
  rolloutReportTaken,
  type RolloutReport,
  type RolloutReportAnswer,
  type RolloutTermsData,
} from "./rollout.ts";
export { GATEWAY_NAME_HEADER, gatewayNameOn, GATEWAY_ROUTES, isGatewayName, pathTo } from "./routes.ts";
export { stateAnswer, stateData, stateQuery, type StateAnswer, type StateData } from "./state.ts";
export {
  statisticsAnswer,
  statisticsBody,
  statisticsTaken,
  type StatisticsAnswer,
  type StatisticsReport,
} from "./statistics.ts";
export { MAX_USER_KEY, userData, userParams } from "./user.ts";
