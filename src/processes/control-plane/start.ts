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
import { listenToItself, type OwnListener } from "./own-listener.ts";
import { observeCallsOf, type CallObservers } from "./observe-calls.ts";
import { publicUrlOf } from "./settings.ts";
import { openWorkloads, refusedTurns } from "./pools.ts";
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
import type { TlsFiles } from "../../runtime/tls-files.ts";
import { inTime } from "../../runtime/in-time.ts";
import { assertPortIsFree, cannotListen, hostPort, type WantedPort } from "../../startup/index.ts";
import { errorMessage } from "../../text/index.ts";
import { openLineFile, type LineFile } from "../../telemetry/line-file.ts";
import type { Log } from "../../telemetry/log.ts";
import type { ControlPlaneMetrics } from "../../telemetry/metrics.ts";
import { startTracing } from "../../telemetry/tracing.ts";

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
  // what is wrong with the keys is said before anything starts
  await masterKeys(config);
  const observed = await openObservers(config, { log, metrics });
  const databases = await provideDatabases(databaseLocation(config), wanted, log).catch(
    async (error: unknown) => {
      await observed.close();
      throw error;
    },
  );
  // again, once the databases are there: until then, a restore that fails may take the key away that it has placed
  const keys = await masterKeys(config).catch(async (error: unknown) => {
    await Promise.all([databases.close(), observed.close()]);
    throw error;
  });
  const running: { readonly served: ServedEnvironment; close(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(running.map((environment) => environment.close()));
    await databases.close();
    await observed.close();
  };
  try {
    for (const environment of wanted)
      running.push(await serveEnvironment(config, environment, { keys, databases, log, metrics, observed }));
  } catch (error) {
    await close();
    throw error;
  }
  return { environments: running.map(({ served }) => served), close };
}

async function serveEnvironment(
  config: GatewayConfig,
  environment: Environment,
  dependencies: OpenDependencies & { readonly observed: CallObservers },
) {
  const files = tlsFilesOf(config);
  const { server, unfollow } = await createApiServer(notReady, files && { files, log: dependencies.log });
  const url = await listen(server, portOf(config, environment), files === undefined ? "http" : "https").catch(
    async (error: unknown) => {
      await unfollow();
      throw error;
    },
  );
  let opened: OpenedEnvironment | undefined;
  let others: ReturnType<typeof openWorkloads> | undefined;
  let composed: Awaited<ReturnType<typeof composeEnvironment>> | undefined;
  let own: OwnListener | undefined;
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
    await Promise.all([unfollow(), own?.close()]);
    await others?.close();
    await opened?.close();
  };
  try {
    const publicUrl = publicUrlOf(config, environment, url);
    const pools = poolsOf(config, environment, dependencies);
    // only the sandbox's provider is asked by this process itself
    if (files !== undefined && environment === "sandbox")
      own = await listenToItself(() => composed?.application);
    const ownUrl = own?.url ?? fromHere(url);
    opened = await openContext(config, { publicUrl, ownUrl }, pools, dependencies, "serve");
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
      observe: observeCallsOf(environment, dependencies.observed),
      onRefusedCall: (record, calls) => {
        dependencies.metrics?.apiRefusals.inc({ environment, record }, calls);
      },
      onRefusedFeedTurn: refusedTurns("feed", pools),
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

/** What hears of the requests of all environments. */
async function openObservers(
  { api, telemetry }: GatewayConfig,
  { log, metrics }: Pick<OpenDependencies, "log" | "metrics">,
): Promise<CallObservers & { close(): Promise<void> }> {
  const { endpoint, sample_ratio: sampleRatio } = telemetry.tracing;
  const accessLog =
    api.access_log === "off"
      ? undefined
      : openAccessLog(api.access_log, () => metrics?.accessLogDropped.inc());
  const tracing = await startTracing({
    ...(endpoint !== undefined && { endpoint }),
    ...{ sampleRatio, serviceName: "gatehouse-control-plane", log },
  });
  return {
    ...{ metrics, tracing, accessLog },
    async close() {
      await Promise.all([tracing.shutdown(), accessLog?.close()]);
    },
  };
}

function openAccessLog(file: string, dropped: () => void): LineFile {
  try {
    return openLineFile(file, dropped);
  } catch (error) {
    throw new Error(`api.access_log: cannot write ${file}: ${errorMessage(error)}`, { cause: error });
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

function tlsFilesOf({ api: { tls } }: GatewayConfig): TlsFiles | undefined {
  const { certificate, private_key: privateKey, client_ca: clientCa } = tls;
  if (certificate === undefined || privateKey === undefined) return undefined;
  return { certificate, privateKey, ...(clientCa !== undefined && { clientCa }) };
}

function portOf({ api }: GatewayConfig, environment: Environment): WantedPort {
  const host = api.listen_address;
  return environment === "production"
    ? { setting: "api.port", host, port: api.port }
    : { setting: "api.sandbox_port", host, port: api.sandbox_port };
}

/** @returns the URL of the port */
async function listen(server: Server, wanted: WantedPort, scheme: "http" | "https"): Promise<string> {
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
  return `${scheme}://${hostPort(host, (server.address() as AddressInfo).port)}`;
}
