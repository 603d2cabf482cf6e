import type { RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { GatewayConfig } from "../../config/index.ts";
import type { ControlContext } from "../../control/platform/context.ts";
import { ENVIRONMENTS, type Environment } from "../../control/platform/environment.ts";
import { composeEnvironment } from "../../control/compose.ts";
import type { SetupLink } from "../../control/resources/dashboard-users/links.ts";
import { createApiServer, serveOn } from "../../control/platform/frame/serve-on.ts";
import { ApiError } from "../../control/platform/errors.ts";
import { errorEnvelope } from "../../control/platform/frame/envelope.ts";
import { newId } from "../../control/platform/ids.ts";
import { startDeliveryThread } from "./start-delivery-thread.ts";
import { publicUrlOf } from "./settings.ts";
import { openWorkloads } from "./pools.ts";
import { masterKeys } from "./encryption-key.ts";
import {
  databaseLocation,
  openContext,
  poolsOf,
  type OpenDependencies,
  type OpenedEnvironment,
} from "./open-environment.ts";
import { provideDatabases } from "../../storage/index.ts";
import { sandboxSeed } from "./sandbox-seed.ts";
import { inTime } from "../../runtime/in-time.ts";
import { assertPortIsFree, cannotListen, hostPort, type WantedPort } from "../../startup/index.ts";
import type { Log } from "../../telemetry/log.ts";
import type { ControlPlaneMetrics } from "../../telemetry/metrics.ts";

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

async function serveEnvironment(
  config: GatewayConfig,
  environment: Environment,
  dependencies: OpenDependencies,
) {
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
    opened = await openContext(config, { publicUrl, ownUrl: fromHere(url) }, pools, dependencies, "serve");
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
      onFleet: (counts) => {
        for (const [status, count] of Object.entries(counts))
          dependencies.metrics?.gateways.set({ environment, status }, count);
      },
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
