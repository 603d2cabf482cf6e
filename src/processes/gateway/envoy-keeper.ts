import { join } from "node:path";
import type { GatewayConfig } from "../../config/index.ts";
import {
  askAdmin,
  checkLimits,
  checkTimeout,
  envoyBootstrap,
  startEnvoy,
  upstreamMetrics,
  systemCertificateAuthorities,
  WORKER_CLUSTERS,
  type AuthzEndpoint,
  type EnvoyProcess,
} from "../../gateway/index.ts";
import { Backoff } from "../../runtime/backoff.ts";
import { every, type Job } from "../../runtime/every.ts";
import { sleep } from "../../runtime/sleep.ts";
import type { MetricsJson } from "../../telemetry/aggregate.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { WorkerAddress } from "./worker.ts";

const POLL_MS = 100;
/** How often the number of checks is adjusted. */
const LIMITS_MS = 250;
const RESTARTS = { firstMs: 200, longestMs: 5_000 };
/** An Envoy that ran this long was healthy: the back-off starts over at its next failure. */
const HEALTHY_MS = 30_000;

const HEALTHY_WORKERS = `/stats?filter=^cluster\\.(${WORKER_CLUSTERS.join("|")})\\.membership_healthy$`;

/** Options of {@link EnvoyKeeper}. */
export interface EnvoyKeeperOptions {
  readonly binary: string;
  /** Folder for its bootstrap and admin socket. */
  readonly runtime: string;
  readonly endpoints: readonly WorkerAddress[];
  /** File with the CORS headers of Envoy's own responses. */
  readonly corsFile: string;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called when a running Envoy has exited. */
  readonly onEnvoyEnd: () => void;
  /** Whether the workers are busy. */
  readonly isBusy: () => boolean;
}

/**
 * Keeps one Envoy running. Its configuration is complete from the start and depends only on `gateway.yaml`: an Envoy
 * that rejects any part of it does not start serving.
 */
export class EnvoyKeeper {
  readonly #config: GatewayConfig;
  readonly #options: EnvoyKeeperOptions;
  #envoy: EnvoyProcess | undefined;
  #limits: Job | undefined;
  /** If 0 is configured: chosen at the first start and kept across restarts. */
  #port: number;
  #closing = false;
  #starting: Promise<void> = Promise.resolve();
  readonly #backoff = new Backoff(RESTARTS);

  constructor(config: GatewayConfig, options: EnvoyKeeperOptions) {
    this.#config = config;
    this.#options = options;
    this.#port = config.gateway.listen_port;
  }

  /** Whether Envoy is running and has responded. */
  get running(): boolean {
    return this.#envoy !== undefined;
  }

  /** The gateway's own URL; its port is known once Envoy has responded. */
  get url(): string {
    const { listen_address: host, security } = this.#config.gateway;
    const scheme = security.tls_certificate === undefined ? "http" : "https";
    return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${this.#port}`;
  }

  /** Resolves when Envoy responds for the first time. Rejects if its first start fails. */
  async start(): Promise<void> {
    this.#starting = this.#run();
    await this.#starting;
  }

  /** Resolves when Envoy has found every worker healthy. Envoy runs these health checks on its own interval. */
  async seesWorkers(): Promise<void> {
    const healthy = WORKER_CLUSTERS.map(
      (name) => `cluster.${name}.membership_healthy: ${this.#options.endpoints.length}`,
    );
    while (!this.#closing) {
      const envoy = this.#envoy;
      const stats = envoy && (await askAdmin(envoy.admin, "GET", HEALTHY_WORKERS).catch(() => undefined));
      const lines = stats?.body.split("\n") ?? [];
      if (healthy.every((line) => lines.includes(line))) return;
      await sleep(POLL_MS);
    }
  }

  /** Envoy's statistics about the applications' responses; empty while Envoy is not running. */
  async upstreamMetrics(): Promise<MetricsJson> {
    return this.#envoy === undefined ? [] : upstreamMetrics(this.#envoy.admin, this.#config);
  }

  /** Lets Envoy finish current requests and stops it. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#starting.catch(() => undefined); // reported to the caller that waits for the start
    await this.#limits?.close();
    await this.#envoy?.stop(this.#config.authz.drain_timeout);
  }

  async #run(): Promise<void> {
    const config = { ...this.#config, gateway: { ...this.#config.gateway, listen_port: this.#port } };
    const started = Date.now();
    const { endpoints, corsFile, binary, runtime, log } = this.#options;
    const envoy = await startEnvoy({
      bootstrap: envoyBootstrap(config, {
        authzEndpoints: endpoints.map(toEndpoint),
        corsFile,
        ...certificateAuthorities(),
      }),
      binary,
      runtimeDirectory: join(runtime, "envoy"),
      log,
      ...(config.gateway.access_log === "stderr" && { accessLog: writeToStderr }),
    });
    this.#port = envoy.listenPort;
    this.#envoy = envoy;
    const adjust = checkLimits(envoy.admin, {
      workers: endpoints.length,
      timeout: checkTimeout(config),
      isBusy: this.#options.isBusy,
    });
    this.#limits = every(LIMITS_MS, adjust, { what: "adjust the limits of checks", log });
    void envoy.exited.then(() => this.#again(started));
  }

  /** Restarts Envoy after it has exited, with back-off while that fails. */
  async #again(started: number): Promise<void> {
    const { metrics, log, onEnvoyEnd } = this.#options;
    this.#envoy = undefined;
    void this.#limits?.close();
    onEnvoyEnd();
    if (this.#isClosing()) return;
    if (Date.now() - started > HEALTHY_MS) this.#backoff.succeeded();
    metrics.processRestarts.inc({ process: "envoy" });
    const pause = this.#backoff.failed();
    log.error({ retry_ms: pause }, "envoy exited; restarting");
    await sleep(pause);
    if (this.#isClosing()) return;
    this.#starting = this.#run();
    await this.#starting.catch((error: unknown) => {
      log.error({ err: error }, "could not start envoy");
      return this.#again(Date.now());
    });
  }

  /** A method, because the value may have changed during an `await`. */
  #isClosing(): boolean {
    return this.#closing;
  }
}

function writeToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A worker's address in the form that the Envoy configuration uses. */
export function toEndpoint(address: WorkerAddress): AuthzEndpoint {
  return "unix" in address ? { unixSocket: address.unix } : { address: address.host, port: address.port };
}

/** Certificate authorities for `https` peers, unless `gateway.backend_ca` is set. */
export function certificateAuthorities(): { caFile?: string } {
  const caFile = systemCertificateAuthorities();
  return caFile === undefined ? {} : { caFile };
}
