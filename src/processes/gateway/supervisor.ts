import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { assertAuditStartable, AUDIT_FILE_MODE } from "../../audit/index.ts";
import { parseSocketAddress, type GatewayConfig } from "../../config/index.ts";
import {
  isConnectionMessage,
  type ConnectionMessage,
} from "../../decision/connections/connection-messages.ts";
import { isUndecidedMessage } from "../../extauthz/undecided-requests.ts";
import { readPolicyFolder } from "../../decision/policies/policy-folder.ts";
import { startWorkerPool, type WorkerPool } from "./worker-pool.ts";
import { createInputHash } from "../../decision/inputs/index.ts";
import { EnvoyKeeper } from "./envoy-keeper.ts";
import { assertApiKey } from "../../sync/index.ts";
import { createRegistrar, gatewayId } from "./registration.ts";
import { createPolicyPublishing, type PolicyPublishing } from "./publish-policies.ts";
import {
  assertFileHolds,
  assertFileIsWritable,
  assertFolderIsWritable,
  assertPortIsFree,
  cannotListen,
  hostPort,
} from "../../startup/index.ts";
import type { TlsFiles } from "../../runtime/tls-files.ts";
import { startAdminServer, type Readiness } from "../../telemetry/admin-server.ts";
import { aggregateMetrics, type MetricsJson, type WorkerMetrics } from "../../telemetry/aggregate.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import { createLog } from "../../telemetry/log.ts";
import { createMetrics, startAtZero, type Metrics } from "../../telemetry/metrics.ts";
import { watchRollout, type ConfigFile } from "./watch-config.ts";
import type { WorkerAddress, WorkerPlan } from "./worker.ts";
import { readRolloutMemory } from "./rollout-memory.ts";
import { rolloutRecord, type RolloutChangeMessage } from "./rollout-changes.ts";
import { WorkerLoads } from "./worker-load.ts";
import { WorkerReadiness } from "./worker-readiness.ts";

/** A running gateway or decision service. */
export interface Supervisor {
  /** Resolves when every worker serves and, if there is one, Envoy responds. */
  ready(): Promise<void>;
  /** Where requests are accepted: the gateway's URL, or the workers' addresses. */
  readonly addresses: () => readonly string[];
  readonly adminUrl: string;
  /** Stops accepting requests, lets current ones finish, and stops every process. */
  close(): Promise<void>;
}

/**
 * Starts the worker processes and, for a gateway, Envoy; keeps them running; aggregates their metrics.
 *
 * @param options.envoy - path of the Envoy binary; without it only the gRPC service runs
 * @param options.metrics - a registry that other parts of this process also use
 * @param options.file - where the configuration comes from; its section `rollout` is followed
 * @throws Error with a one-line message if a port is in use, or records could not be written
 */
export async function startSupervisor(
  config: GatewayConfig,
  options: {
    readonly envoy?: string;
    readonly metrics?: Metrics;
    readonly file?: ConfigFile;
    /** Of this release, for the control plane. */
    readonly version?: string;
  },
): Promise<Supervisor> {
  const log = createLog({ level: config.telemetry.log_level, name: "supervisor" });
  const { metrics = createMetrics() } = options;
  startAtZero(metrics);
  await assertStartable(config, { hasEnvoy: options.envoy !== undefined });
  const kind = options.envoy === undefined ? "authz" : "gateway";
  const runtime = mkdtempSync(join(tmpdir(), "gatehouse-"));
  const listen = options.envoy === undefined ? authzAddresses(config) : socketAddresses(config, runtime);
  const planFile = join(runtime, "worker.json");
  const corsFile = join(runtime, "cors.json");
  const shared = {
    config,
    listen,
    httpListen: portsFrom("authz.http_listen", config),
    spopListen: portsFrom("authz.spop_listen", config),
    stateDirectory: config.authz.state_directory ?? join(runtime, "connections"),
  };
  writeFileSync(
    planFile,
    JSON.stringify({ ...shared, ...tls(config, options.envoy === undefined), ...httpTls(config) }),
    {
      mode: 0o600,
    },
  );

  const pool = startWorkerPool({
    count: listen.length,
    entry: new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url),
    argsFor: (index) => [planFile, String(index)],
    log,
    metrics,
  });
  // one worker's messages about connections are for the worker that tracks them
  pool.onMessage((worker, event) => {
    if (isConnectionMessage(event)) pool.broadcast(event);
    else if (isUndecidedMessage(event)) {
      if (event.type === "requests_decided") pool.send(event.to, event);
      else pool.broadcast(event);
    } else if (!loads.take(worker, event) && !readiness.take(worker, event)) policies.take(worker, event);
  });
  const loads = new WorkerLoads();
  const readiness = new WorkerReadiness(listen.length, (message) => {
    pool.broadcast(message);
  });
  const policies = createPolicyPublishing(config, {
    ...{ workers: pool, runtime, corsFile, metrics, log },
    gateway: gatewayId(config, kind),
    rolloutChanged: (change, rollout) => {
      const message: RolloutChangeMessage = {
        type: "rollout_changed",
        record: rolloutRecord(change, rollout),
      };
      // any worker can write the record
      listen.some((_, worker) => pool.send(worker, message));
    },
  });
  const following =
    options.file &&
    watchRollout(options.file, config, { apply: (rollout) => policies.applyRollout(rollout), log });
  pool.onChange(({ index, pid }) => {
    if (pid !== undefined) return;
    policies.workerEnded(index);
    readiness.ended(index);
    loads.ended(index);
  });
  const onEnvoyEnd = () => {
    const message: ConnectionMessage = { type: "connections_ended_all" };
    pool.broadcast(message);
  };
  const keeper =
    options.envoy === undefined
      ? undefined
      : new EnvoyKeeper(config, {
          binary: options.envoy,
          runtime,
          endpoints: listen,
          corsFile,
          log,
          metrics,
          onEnvoyEnd,
          isBusy: () => loads.busy,
        });

  const addresses = () => (keeper === undefined ? listen.map(describeAddress) : [keeper.url]);
  const registrar = createRegistrar(config, {
    kind,
    version: options.version ?? "unknown",
    address: () => addresses()[0] ?? "",
    policies: () => {
      const { stable, candidate, decisions } = policies.inForce();
      const { set, mode, percentage = 0 } = candidate ?? {};
      return { stable, rollout: set && mode ? { digest: set.digest, mode, percentage, decisions } : null };
    },
    workers: () => ({ expected: listen.length, ready: readiness.ready }),
    log,
  });

  const ready = (): Readiness => {
    const envoy = keeper && { ok: keeper.running, detail: keeper.running ? "running" : "not running" };
    const checks = { ...(envoy && { envoy }), ...withSupervisors(readiness.checks(), policies.status()) };
    return { ready: readiness.ready > 0 && envoy?.ok !== false, checks };
  };
  const admin = await startAdminServer({
    address: config.telemetry.listen_address,
    port: config.telemetry.port,
    metrics: async () => {
      metrics.checkOk.reset();
      metrics.workers.set({ state: "configured" }, listen.length);
      metrics.workers.set({ state: "ready" }, readiness.ready);
      for (const [check, { ok }] of Object.entries(ready().checks))
        metrics.checkOk.set({ check }, ok ? 1 : 0);
      return {
        contentType: metrics.registry.contentType,
        body: await aggregateMetrics(
          await workerMetrics(pool),
          metrics.registry,
          await keeper?.upstreamMetrics(),
        ),
      };
    },
    health: () => true,
    ready,
    log,
  }).catch(async (error: unknown) => {
    // workers left running would keep this process alive
    await pool.close(0);
    rmSync(runtime, { recursive: true, force: true });
    const { listen_address: host, port } = config.telemetry;
    throw await cannotListen({ setting: "telemetry.port", host, port }, error);
  });
  const adminUrl = `http://${hostPort(config.telemetry.listen_address, admin.port)}`;
  log.info({ admin: adminUrl }, "serving metrics and health");

  return {
    adminUrl,
    addresses,
    async ready() {
      await Promise.all([policies.start(), pool.ready(), keeper?.start()]);
      registrar?.start();
      await keeper?.seesWorkers();
    },
    async close() {
      pool.retire();
      await registrar?.close();
      await following?.close();
      policies.close();
      await keeper?.close();
      await pool.close(config.authz.drain_timeout);
      await admin.close();
      rmSync(runtime, { recursive: true, force: true });
    },
  };
}

/** Checks the ports and files that the configuration needs, so that `ready` can be relied on. */
async function assertStartable(
  config: GatewayConfig,
  { hasEnvoy }: { readonly hasEnvoy: boolean },
): Promise<void> {
  const { audit, authz, control_plane, gateway } = config;
  if (control_plane.url !== undefined && control_plane.api_key_file !== undefined)
    await assertFileHolds("control_plane.api_key_file", control_plane.api_key_file, (text) => {
      assertApiKey(text.trim());
    });
  await assertAuditStartable(audit);
  if (audit.inputs_others === "hash" && audit.inputs_key_file !== undefined && audit.inputs && audit.enabled)
    await assertFileHolds("audit.inputs_key_file", audit.inputs_key_file, (text) => {
      createInputHash(text.trim());
    });
  if (config.rollout.stable === "none") await assertNoStableSet(config);
  const { state_file: memory } = config.rollout;
  if (memory !== undefined) {
    await assertFolderIsWritable("the folder of rollout.state_file", dirname(memory));
    readRolloutMemory(memory);
  }
  if (authz.state_directory !== undefined)
    await assertFolderIsWritable("authz.state_directory", authz.state_directory);
  for (const setting of ["authz.http_listen", "authz.spop_listen"] as const)
    for (const address of portsFrom(setting, config)) await assertPortIsFree({ setting, ...address });
  if (!hasEnvoy) {
    for (const address of authzAddresses(config))
      if (!("unix" in address)) await assertPortIsFree({ setting: "authz.listen", ...address });
    return;
  }
  const { listen_address: host, listen_port: port, access_log: accessLog } = gateway;
  if (accessLog !== "off" && accessLog !== "stderr")
    await assertFileIsWritable("gateway.access_log", accessLog, AUDIT_FILE_MODE);
  await assertPortIsFree({ setting: "gateway.listen_port", host, port });
  const admin = parseSocketAddress(gateway.envoy_admin);
  if (admin !== undefined)
    await assertPortIsFree({ setting: "gateway.envoy_admin", host: admin.address, port: admin.port });
}

/** `rollout.stable: none` lets requests pass: it must not switch off a set that is there. */
async function assertNoStableSet({ policies }: GatewayConfig): Promise<void> {
  const { diagnostics } = await readPolicyFolder(policies.directory, policies.policy_set);
  if (diagnostics.some(({ code }) => code === "no-policy-set")) return;
  throw new Error(
    `rollout.stable is \`none\`, but ${policies.directory} has the policy set \`${policies.policy_set}\`: remove \`rollout.stable\`, and the set decides`,
  );
}

/** While the workers have the supervisor's policies, its status says more than theirs. */
function withSupervisors(
  ofWorkers: Readonly<Record<string, CheckStatus>>,
  { policies, ...others }: ReturnType<PolicyPublishing["status"]>,
): Readonly<Record<string, CheckStatus>> {
  const loaded = ofWorkers["policies"];
  const isWorkers = policies.ok && loaded?.ok === false;
  return { ...ofWorkers, policies: isWorkers ? loaded : policies, ...others };
}

/** The workers' reports are JSON of our own registry. */
async function workerMetrics(pool: WorkerPool): Promise<WorkerMetrics[]> {
  const parts = await pool.collectMetrics();
  return parts.map(({ worker, metrics }) => ({ worker: String(worker), metrics: metrics as MetricsJson }));
}

/** Behind our own Envoy the workers listen on sockets that only our user can open. */
function tls(config: GatewayConfig, reachable: boolean): Pick<WorkerPlan, "tls"> {
  const files = reachable ? tlsFiles(config) : undefined;
  return files === undefined ? {} : { tls: files };
}

/** The HTTP service can be reached in front of our own Envoy, too. */
function httpTls(config: GatewayConfig): Pick<WorkerPlan, "httpTls"> {
  const files = tlsFiles(config);
  return files === undefined ? {} : { httpTls: files };
}

function tlsFiles({ authz }: GatewayConfig): TlsFiles | undefined {
  const { certificate, private_key, client_ca } = authz.tls;
  if (certificate === undefined || private_key === undefined) return undefined;
  const files = { certificate, privateKey: private_key };
  return { ...files, ...(client_ca !== undefined && { clientCa: client_ca }) };
}

/** The configured address for the first worker, the next ports for the others; none if it is off. */
function portsFrom(
  setting: "authz.http_listen" | "authz.spop_listen",
  { authz, gateway }: GatewayConfig,
): { host: string; port: number }[] {
  const listen = setting === "authz.http_listen" ? authz.http_listen : authz.spop_listen;
  if (listen === undefined) return [];
  const first = parseSocketAddress(listen);
  if (first === undefined) throw new Error(`${setting}: \`${listen}\` is not a valid address`);
  return Array.from({ length: gateway.cluster.nodes }, (_, index) => ({
    host: first.address,
    port: first.port + index,
  }));
}

/** Behind Envoy each worker has its own socket, because Envoy keeps one connection per endpoint. */
function socketAddresses(config: GatewayConfig, runtime: string): WorkerAddress[] {
  return Array.from({ length: config.gateway.cluster.nodes }, (_, index) => ({
    unix: join(runtime, `authz-${index}.sock`),
  }));
}

/** For other proxies: the configured address for the first worker, the next ports or numbered sockets for the others. */
export function authzAddresses(config: GatewayConfig): WorkerAddress[] {
  const { listen } = config.authz;
  return Array.from({ length: config.gateway.cluster.nodes }, (_, index) => {
    if (listen.startsWith("unix:")) {
      const path = listen.slice("unix:".length);
      return { unix: index === 0 ? path : `${path}.${index}` };
    }
    const tcp = parseSocketAddress(listen);
    if (tcp === undefined) throw new Error(`authz.listen: \`${listen}\` is not a valid address`);
    return { host: tcp.address, port: tcp.port + index };
  });
}

function describeAddress(address: WorkerAddress): string {
  return "unix" in address ? `unix:${address.unix}` : hostPort(address.host, address.port);
}
