export { apiKeyInFile, assertApiKey, fixedApiKey, type ApiKey } from "./api-key.ts";
export { ControlPlaneClient } from "./client.ts";
export { ControlPlaneError, type Failure } from "./control-plane-error.ts";
export { controlPlaneSource, versionSource } from "./policy-sets-source.ts";
export { Registrar, type RegisteredState, type RegistrarOptions } from "./registrar.ts";
export { recordIntake } from "./record-intake.ts";
export type { ActiveVersion, SyncedState, UserStatus } from "./synced-state.ts";
export {
  StateFeed,
  type StateChange,
  type StateFeedDependencies,
  type StateFeedOptions,
} from "./state-feed.ts";
export { StatisticsReporter, type StatisticsDependencies } from "./statistics.ts";
export { Transport, type TransportOptions } from "./transport.ts";
