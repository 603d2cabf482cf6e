import { mkdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { join } from "node:path";
import { followControlPlane, storeOptions, type Following } from "./follow-control-plane.ts";
import type { GatewayConfig } from "./config/index.ts";
import { PolicyStore } from "./decision/policy-store.ts";
import type { Snapshot } from "./decision/snapshot.ts";
import {
  askAdmin,
  envoyBootstrap,
  EXT_AUTHZ_CLUSTER,
  NO_NEEDS,
  startEnvoy,
  systemCertificateAuthorities,
  writeRoutes,
  type AuthzEndpoint,
  type EnvoyProcess,
  type RouteNeeds,
} from "./gateway/index.ts";
import type { Log } from "./telemetry/log.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";
import type { WorkerAddress } from "./worker.ts";

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** An Envoy that ran this long was healthy: the next failure starts the back-off anew. */
const HEALTHY_MS = 30_000;

const STATS = `/stats?filter=^cluster\\.${EXT_AUTHZ_CLUSTER}\\.membership_healthy$`;

/** What Envoy is kept running with. */
export interface EnvoyKeeperOptions {
  readonly binary: string;
  /** Folder for its bootstrap, routes and admin socket. */
  readonly runtime: string;
  readonly endpoints: readonly WorkerAddress[];
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called when a running Envoy has ended. */
  readonly onEnvoyEnd: () => void;
}

/**
 * Keeps one Envoy running and its routes in step with the policy set: rules that read a request's body need a route
 * that hands the body over, and Envoy follows the routes file without dropping a connection.
 */
export class EnvoyKeeper {
  readonly #config: GatewayConfig;
  readonly #options: EnvoyKeeperOptions;
  readonly #routes: string;
  readonly #store: PolicyStore;
  readonly #following: Following | undefined;
  #envoy: EnvoyProcess | undefined;
  /** Chosen at the first start where the configuration says 0, and kept over restarts. */
  #port: number;
  #closing = false;
  #starting: Promise<void> = Promise.resolve();
  #retryMs = FIRST_RETRY_MS;

  constructor(config: GatewayConfig, options: EnvoyKeeperOptions) {
    this.#config = config;
    this.#options = options;
    const routes = join(options.runtime, "routes"); // a folder of its own: Envoy watches it
    mkdirSync(routes, { mode: 0o700 });
    this.#routes = join(routes, "routes.json");
    this.#port = config.gateway.listen_port;
    // the workers count and log their own reloads of the same folder; this one only moves routes
    const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    this.#following = followControlPlane(config, { metrics: createMetrics(), log: quiet });
    this.#store = new PolicyStore(storeOptions(config, this.#following), {
      metrics: createMetrics(),
      log: quiet,
    });
    this.#store.beforeChange((snapshot) => {
      this.#follow(snapshot);
    });
    this.#following?.sets.afterChange(() => {
      if (this.#store.current !== undefined) this.#follow(this.#store.current);
    });
  }

  /** Whether an Envoy runs and has answered. */
  get running(): boolean {
    return this.#envoy !== undefined;
  }

  /** The gateway's own URL; its port is known once Envoy has answered. */
  get url(): string {
    const { listen_address: host, security } = this.#config.gateway;
    const scheme = security.tls_certificate === undefined ? "http" : "https";
    return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${this.#port}`;
  }

  /** Resolves when Envoy answers for the first time. Rejects when it cannot even start once. */
  async start(): Promise<void> {
    writeRoutes(this.#routes, this.#config, NO_NEEDS);
    await this.#following?.start();
    await this.#store.start();
    this.#starting = this.#run();
    await this.#starting;
  }

  /** Resolves when Envoy has found every worker healthy: it asks them by itself, at its own pace. */
  async seesWorkers(): Promise<void> {
    const healthy = `cluster.${EXT_AUTHZ_CLUSTER}.membership_healthy: ${this.#options.endpoints.length}`;
    while (!this.#closing) {
      const envoy = this.#envoy;
      const stats = envoy && (await askAdmin(envoy.admin, "GET", STATS).catch(() => undefined));
      if (stats?.body.includes(healthy) === true) return;
      await delay(FIRST_RETRY_MS);
    }
  }

  /** Lets Envoy finish what is under way and ends it. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#store.close();
    this.#following?.close();
    await this.#starting.catch(() => undefined); // reported to whoever waits for the start
    await this.#envoy?.stop(this.#config.authz.drain_timeout);
  }

  async #run(): Promise<void> {
    const config = { ...this.#config, gateway: { ...this.#config.gateway, listen_port: this.#port } };
    const started = Date.now();
    const { endpoints, binary, runtime, log } = this.#options;
    const envoy = await startEnvoy({
      bootstrap: envoyBootstrap(config, {
        authzEndpoints: endpoints.map(toEndpoint),
        routesFile: this.#routes,
        ...certificateAuthorities(),
      }),
      binary,
      runtimeDirectory: join(runtime, "envoy"),
      log,
    });
    this.#port = envoy.listenPort;
    this.#envoy = envoy;
    void envoy.exited.then(() => this.#again(started));
  }

  /** After Envoy has ended: starts it again, later and later while that fails. */
  async #again(started: number): Promise<void> {
    const { metrics, log, onEnvoyEnd } = this.#options;
    this.#envoy = undefined;
    onEnvoyEnd();
    if (this.#isClosing()) return;
    if (Date.now() - started > HEALTHY_MS) this.#retryMs = FIRST_RETRY_MS;
    metrics.processRestarts.inc({ process: "envoy" });
    log.error({ retry_ms: this.#retryMs }, "envoy has ended; starting it again");
    await delay(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
    if (this.#isClosing()) return;
    this.#starting = this.#run();
    await this.#starting.catch((error: unknown) => {
      log.error({ err: error }, "envoy cannot be started");
      return this.#again(Date.now());
    });
  }

  /** A method, because it may have changed while something was awaited. */
  #isClosing(): boolean {
    return this.#closing;
  }

  #follow(snapshot: Snapshot): void {
    const all = [snapshot, ...(this.#following?.sets.snapshots() ?? [])].map(routeNeeds);
    writeRoutes(this.#routes, this.#config, {
      bodies: all.flatMap(({ bodies }) => bodies),
      responses: all.some(({ responses }) => responses),
    });
  }
}

function ignore(): void {
  // the workers say the same, and theirs is heard
}

/** What the policy set asks of Envoy's routes. */
function routeNeeds({ ir, needs, endpoints, responses }: Snapshot): RouteNeeds {
  const rules = ir.rules.filter((rule) => needs.get(rule)?.body === true);
  const responding = responses.rules.filter((prepared) => prepared.needs.body);
  const operations = endpoints.rules.map(({ segments }) => ({ method: "POST", segments }));
  return {
    bodies: [...rules, ...responding, ...operations],
    responses: ir.responses.length > 0 || ir.graphql.rules.some(({ onDeny }) => onDeny === "null"),
  };
}

/** A worker's address in the form of the Envoy configuration. */
export function toEndpoint(address: WorkerAddress): AuthzEndpoint {
  return "unix" in address ? { unixSocket: address.unix } : { address: address.host, port: address.port };
}

/** What `https` peers are verified with, unless `gateway.backend_ca` says otherwise. */
export function certificateAuthorities(): { caFile?: string } {
  const caFile = systemCertificateAuthorities();
  return caFile === undefined ? {} : { caFile };
}
