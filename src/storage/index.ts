export {
  lockRowShared,
  lockRowsShared,
  lockRowsUntilEnd,
  lockUntilEnd,
  lockUntilEndWithin,
} from "./advisory-locks.ts";
export {
  CallerTurns,
  currentCaller,
  forAllCallers,
  forCaller,
  itemsForCaller,
  TooManyWaitingError,
  TURN_REFUSALS,
} from "./caller-turns.ts";
export type { Caller, RefusedTurn } from "./caller-turns.ts";
export { backUp, type BackupOptions } from "./backup.ts";
export type { BackupManifest } from "./backup-files.ts";
export { databaseFailure } from "./database-failure.ts";
export { databaseNow } from "./database-now.ts";
export { closeDatabase, isCanceled, isUnavailable, isUniqueViolation, openDatabase } from "./database.ts";
export type { Database, DatabaseOptions } from "./database.ts";
export { startEmbeddedPostgres } from "./embedded-postgres.ts";
export type { EmbeddedPostgres, EmbeddedPostgresOptions, StorageLog } from "./embedded-postgres.ts";
export { provideDatabases } from "./environments.ts";
export type { DatabaseEnvironment, DatabaseLocation, ProvidedDatabases } from "./environments.ts";
export { listen } from "./listen.ts";
export type { Listener, Listening } from "./listen.ts";
export { createSchemaCheck, migrate, pendingMigrations } from "./migrate.ts";
export type { MigrateOptions } from "./migrate.ts";
export { restore, type RestoreOptions } from "./restore.ts";
export { transaction } from "./transaction.ts";
export type { TransactionOptions } from "./transaction.ts";
