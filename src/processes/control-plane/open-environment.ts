import type { GatewayConfig } from "../../config/index.ts";
import { compareEncryptionKey, registerEncryptionKey } from "../../control/encryption/key-check.ts";
import { connectionBudgets, statementTimeouts } from "../../control/platform/connection-budgets.ts";
import type { BackgroundWork, ControlContext, ControlSettings } from "../../control/platform/context.ts";
import type { Environment } from "../../control/platform/environment.ts";
import { createSecretBox } from "../../control/platform/secret-box.ts";
import { createUnits } from "../../control/platform/unit.ts";
import { SEALED_COLUMNS } from "../../control/sealed-columns.ts";
import { unitWriters } from "../../control/unit-writers.ts";
import { hostPort } from "../../startup/index.ts";
import {
  closeDatabase,
  databaseNow,
  migrate,
  pendingMigrations,
  provideDatabases,
  transaction,
  type Database,
  type DatabaseLocation,
  type ProvidedDatabases,
} from "../../storage/index.ts";
import type { Log } from "../../telemetry/log.ts";
import type { ControlPlaneMetrics } from "../../telemetry/metrics.ts";
import { counted } from "../../text/index.ts";
import { masterKeys, type MasterKeys } from "./encryption-key.ts";
import { openPool, type PoolsOptions } from "./pools.ts";
import { controlSettings, publicUrlOf } from "./settings.ts";

/** What opening an environment's database needs besides the configuration. */
export interface OpenDependencies {
  readonly keys: MasterKeys;
  readonly databases: ProvidedDatabases;
  readonly log: Log;
  readonly metrics?: ControlPlaneMetrics | undefined;
}

/** Locates the databases from the configuration. */
export function databaseLocation({ api, database }: GatewayConfig): DatabaseLocation {
  return {
    dataDirectory: api.data_directory,
    ...(database.url !== undefined && { url: database.url }),
    ...(database.sandbox_url !== undefined && { sandboxUrl: database.sandbox_url }),
  };
}

/** An environment's database and context, for a server or for a command. */
export interface OpenedEnvironment extends BackgroundWork {
  readonly context: ControlContext;
}

/**
 * Why a database is opened. A server migrates it and registers its encryption key; a command migrates it and only compares
 * the key; a reader changes nothing.
 */
export type OpenedFor = "serve" | "command" | "look";

/** Opens one environment's database without a server; others may be using it. */
export async function openEnvironment(
  config: GatewayConfig,
  environment: Environment,
  log: Log,
  openedFor: Exclude<OpenedFor, "serve"> = "command",
): Promise<OpenedEnvironment> {
  const create = openedFor !== "look";
  await masterKeys(config, { create });
  const databases = await provideDatabases(databaseLocation(config), [environment], log, { create });
  try {
    // again, as at the start of a control plane
    const keys = await masterKeys(config, { create });
    const { api } = config;
    const own = `http://${hostPort(api.listen_address, environment === "production" ? api.port : api.sandbox_port)}`;
    const publicUrl = publicUrlOf(config, environment, own);
    const dependencies = { keys, databases, log };
    const pools = poolsOf(config, environment, dependencies);
    const opened = await openContext(config, { publicUrl }, pools, dependencies, openedFor);
    return {
      context: opened.context,
      async close() {
        await opened.close();
        await databases.close();
      },
    };
  } catch (error) {
    await databases.close();
    throw error;
  }
}

/** How the pools of an environment's database are opened. */
export function poolsOf(
  { database }: GatewayConfig,
  environment: Environment,
  { databases, log, metrics }: OpenDependencies,
): PoolsOptions {
  const budgets = connectionBudgets(database.pool_size);
  const statementTimeoutsMs = statementTimeouts(database.statement_timeout, database.analytics_timeout);
  return { environment, url: databases.url(environment), budgets, statementTimeoutsMs, log, metrics };
}

/**
 * Opens the API's pool of one environment: migrates the database, or requires that it is, and compares the encryption key.
 *
 * @param urls - addresses of the environment, see {@link ControlSettings}
 * @throws Error that names the environment, if the database needs another program or another key
 */
export async function openContext(
  config: GatewayConfig,
  urls: Pick<ControlSettings, "publicUrl" | "ownUrl">,
  pools: PoolsOptions,
  { keys, log }: OpenDependencies,
  openedFor: OpenedFor,
): Promise<OpenedEnvironment> {
  const db = openPool("api", pools);
  const clock = Date.now;
  const box = createSecretBox(keys.sealing, keys.others);
  try {
    await (openedFor === "look" ? requireMigrated(db) : migrate(db, { log }));
    await compareEncryptionKey({ db, box }, SEALED_COLUMNS);
    if (openedFor === "serve")
      await transaction(db, (trx) => registerEncryptionKey(trx, box, new Date(clock())));
  } catch (error) {
    await closeDatabase(db);
    throw inEnvironment(pools.environment, error);
  }
  return {
    context: {
      settings: { ...controlSettings(config, pools.environment, urls.publicUrl), ...urls },
      db,
      units: createUnits(db, unitWriters, clock),
      box,
      clock,
      databaseNow,
      log,
    },
    close: () => closeDatabase(db),
  };
}

/** @throws Error if the database must be migrated before this version can read it */
async function requireMigrated(db: Database): Promise<void> {
  const { length } = await pendingMigrations(db);
  if (length > 0)
    throw new Error(
      `the database lacks ${counted(length, "migration")} of this version; run \`gatehouse migrate\` first`,
    );
}

/** Adds the environment to the message, because the operator has two databases. */
function inEnvironment(environment: Environment, error: unknown): unknown {
  if (error instanceof Error) error.message = `${environment}: ${error.message}`;
  return error;
}
