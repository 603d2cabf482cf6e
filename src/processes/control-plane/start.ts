import type { RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { GatewayConfig } from "../../config/index.ts";
import { connectionBudgets, statementTimeouts } from "../../control/platform/connection-budgets.ts";
import type { BackgroundWork, ControlContext, ControlSettings } from "../../control/platform/context.ts";
import { ENVIRONMENTS, type Environment } from "../../control/platform/environment.ts";
import { composeEnvironment } from "../../control/compose.ts";
import type { SetupLink } from "../../control/resources/dashboard-users/links.ts";
import { createApiServer, serveOn } from "../../control/platform/frame/serve-on.ts";
import { ApiError } from "../../control/platform/errors.ts";
import { errorEnvelope } from "../../control/platform/frame/envelope.ts";
import { newId } from "../../control/platform/ids.ts";
import { compareEncryptionKey, registerEncryptionKey } from "../../control/encryption/key-check.ts";
import { createSecretBox } from "../../control/platform/secret-box.ts";
import { createUnits } from "../../control/platform/unit.ts";
import { unitWriters } from "../../control/unit-writers.ts";
import { startDeliveryThread } from "./start-delivery-thread.ts";
import { controlSettings, publicUrlOf } from "./settings.ts";
import { openPool, openWorkloads, type PoolsOptions } from "./pools.ts";
import { masterKeys, type MasterKeys } from "./encryption-key.ts";
import {
  closeDatabase,
  migrate,
  pendingMigrations,
  provideDatabases,
  transaction,
  type Database,
  type DatabaseLocation,
  type ProvidedDatabases,
} from "../../storage/index.ts";
import { sandboxSeed } from "./sandbox-seed.ts";
import { inTime } from "../../runtime/in-time.ts";
import { assertPortIsFree, cannotListen, hostPort, type WantedPort } from "../../startup/index.ts";
import type { Log } from "../../telemetry/log.ts";
import type { ControlPlaneMetrics } from "../../telemetry/metrics.ts";
import { counted } from "../../text/index.ts";
import { SEALED_COLUMNS } from "../../control/sealed-columns.ts";

/** An environment that is being served. */
export interface ServedEnvironment {
  readonly environment: Environment;
  /** Its own address; `context.settings.publicUrl` is the one that clients use. */
  readonly url: string;
  readonly context: ControlContext;
  /** Setup link for the first owner; present while there is no owner. */
  readonly setupLink?: SetupLink;
}

export interface ControlPlane {
  readonly environments: readonly ServedEnvironment[];
  /** Lets current requests and deliveries finish, then stops everything, including the embedded database. */
  close(): Promise<void>;
}

/** Locates the databases from the configuration. */
export function databaseLocation({ api, database }: GatewayConfig): DatabaseLocation {
  return {
    dataDirectory: api.data_directory,
    ...(database.url !== undefined && { url: database.url }),
    ...(database.sandbox_url !== undefined && { sandboxUrl: database.sandbox_url }),
  };
}

export interface ControlPlaneOptions {
  readonly log: Log;
  /** Environments to serve; default: the configured ones. */
  readonly environments?: readonly Environment[];
  /** Registry to count into; the caller serves it. */
  readonly metrics?: ControlPlaneMetrics;
}

/**
 * Starts the control plane: databases, migrations, and one server for each environment.
 *
 * @throws if a port is in use, a database is unreachable, or the encryption key is missing or wrong
 */
export async function startControlPlane(
  config: GatewayConfig,
  { log, metrics, environments = config.api.environments }: ControlPlaneOptions,
): Promise<ControlPlane> {
  const wanted = ENVIRONMENTS.filter((environment) => environments.includes(environment));
  for (const environment of wanted) await assertPortIsFree(portOf(config, environment));
  const keys = await masterKeys(config);
  const databases = await provideDatabases(databaseLocation(config), wanted, log);
  const running: { readonly served: ServedEnvironment; close(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(running.map((environment) => environment.close()));
    await databases.close();
  };
  try {
    for (const environment of wanted)
      running.push(await serveEnvironment(config, environment, { keys, databases, log, metrics }));
  } catch (error) {
    await close();
    throw error;
  }
  return { environments: running.map(({ served }) => served), close };
}

interface Dependencies {
  readonly keys: MasterKeys;
  readonly databases: ProvidedDatabases;
  readonly log: Log;
  readonly metrics?: ControlPlaneOptions["metrics"] | undefined;
}

async function serveEnvironment(config: GatewayConfig, environment: Environment, dependencies: Dependencies) {
  const server = createApiServer(notReady);
  const url = await listen(server, portOf(config, environment));
  let opened: OpenedEnvironment | undefined;
  let others: ReturnType<typeof openWorkloads> | undefined;
  let composed: Awaited<ReturnType<typeof composeEnvironment>> | undefined;
  const close = async () => {
    // a kept-alive connection could go on sending requests: close it with its next response
    server.prependListener("request", (_request, response: ServerResponse) => {
      response.shouldKeepAlive = false;
    });
    const { promise: closed, resolve } = Promise.withResolvers<true>();
    server.close(() => {
      resolve(true);
    });
    server.closeIdleConnections();
    await composed?.close();
    server.closeIdleConnections();
    // the grace period is over: close what is still open
    if (!(await inTime(closed, CLOSE_MS, false))) server.closeAllConnections();
    await closed;
    await others?.close();
    await opened?.close();
  };
  try {
    const publicUrl = publicUrlOf(config, environment, url);
    const pools = poolsOf(config, environment, dependencies);
    opened = await open(config, { publicUrl, ownUrl: fromHere(url) }, pools, dependencies, "serve");
    const { context } = opened;
    others = openWorkloads(context, pools);
    composed = await composeEnvironment(context, {
      workloads: others.workloads,
      readiness: others.readiness,
      seed: sandboxSeed(config),
      deliver: (started) =>
        startDeliveryThread(started, {
          databaseUrl: dependencies.databases.url(environment),
          keys: dependencies.keys,
          logLevel: config.telemetry.log_level,
        }),
      ...(config.api.publish_policies.includes(environment) && {
        publish: {
          directory: config.policies.directory,
          policySet: config.policies.policy_set,
          onAttempt: (failed: boolean) => {
            dependencies.metrics?.policyReloadFailed.set({ source: "folder", environment }, failed ? 1 : 0);
          },
        },
      }),
    });
    serveOn(server.off("request", notReady), composed.application, context.clock);
    const { setupLink } = composed;
    const served = { environment, url, context, ...(setupLink !== undefined && { setupLink }) };
    return { served, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The address must be known before the application exists, so this listens first and also answers early requests. */
const notReady: RequestListener = (_request, response) => {
  const error = new ApiError("SERVICE_UNAVAILABLE");
  const body = JSON.stringify(errorEnvelope(error, newId("request"), new Date()));
  response.writeHead(error.status, { "content-type": "application/json", "retry-after": "1" }).end(body);
};

/** A wildcard listen address cannot be connected to. */
function fromHere(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** Grace period for current requests when the server stops. */
const CLOSE_MS = 10_000;

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
  const keys = await masterKeys(config, { create });
  const databases = await provideDatabases(databaseLocation(config), [environment], log, { create });
  try {
    const { api } = config;
    const own = `http://${hostPort(api.listen_address, environment === "production" ? api.port : api.sandbox_port)}`;
    const publicUrl = publicUrlOf(config, environment, own);
    const dependencies = { keys, databases, log };
    const pools = poolsOf(config, environment, dependencies);
    const opened = await open(config, { publicUrl }, pools, dependencies, openedFor);
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

function poolsOf(
  { database }: GatewayConfig,
  environment: Environment,
  { databases, log, metrics }: Dependencies,
): PoolsOptions {
  const budgets = connectionBudgets(database.pool_size);
  const statementTimeoutsMs = statementTimeouts(database.statement_timeout, database.analytics_timeout);
  return { environment, url: databases.url(environment), budgets, statementTimeoutsMs, log, metrics };
}

async function open(
  config: GatewayConfig,
  urls: Pick<ControlSettings, "publicUrl" | "ownUrl">,
  pools: PoolsOptions,
  { keys, log }: Dependencies,
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

function portOf({ api }: GatewayConfig, environment: Environment): WantedPort {
  const host = api.listen_address;
  return environment === "production"
    ? { setting: "api.port", host, port: api.port }
    : { setting: "api.sandbox_port", host, port: api.sandbox_port };
}

async function listen(server: Server, wanted: WantedPort): Promise<string> {
  const { host, port } = wanted;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  }).catch(async (error: unknown) => {
    throw await cannotListen(wanted, error);
  });
  return `http://${hostPort(host, (server.address() as AddressInfo).port)}`;
}
