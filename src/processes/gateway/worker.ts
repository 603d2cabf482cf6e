import { readFileSync } from "node:fs";
import type { GatewayConfig } from "../../config/index.ts";
import { HealthState } from "../../extauthz/health.ts";
import { startAuthzServer, type AuthzServer } from "../../extauthz/server.ts";
import { connectToSupervisor } from "./worker-channel.ts";
import { createLoadReporter } from "./worker-load.ts";
import { every } from "../../runtime/every.ts";
import { createService } from "./service.ts";
import {
  AUTHORIZER_REFUSALS,
  callersByPath,
  startAuthorizers,
  startSpop,
  type AuthorizerRefusal,
  type Authorizers,
} from "../../authorizers/index.ts";
import type { TlsFiles } from "../../runtime/tls-files.ts";
import { createLog } from "../../telemetry/log.ts";
import { createMetrics, startAtZero } from "../../telemetry/metrics.ts";
import { isReady, isReadyWorkers, takesRequests, type ReadinessReport } from "./worker-readiness.ts";

/** The address on which one worker listens. */
export type WorkerAddress = { readonly unix: string } | { readonly host: string; readonly port: number };

/** What the supervisor passes to its workers, as one JSON file that only its user can read. */
export interface WorkerPlan {
  readonly config: GatewayConfig;
  /** Folder for the state of open connections, one file per worker. */
  readonly stateDirectory: string;
  /** Indexed by worker. */
  readonly listen: readonly WorkerAddress[];
  readonly tls?: TlsFiles;
  /** Where workers answer over HTTP, indexed by worker; empty: nowhere. */
  readonly httpListen: readonly { readonly host: string; readonly port: number }[];
  readonly httpTls?: TlsFiles;
  /** Where workers answer HAProxy, indexed by worker; empty: nowhere. */
  readonly spopListen: readonly { readonly host: string; readonly port: number }[];
}

/** How often readiness is checked; policies and keys change on their own. */
const READINESS_MS = 100;
/** How often the load is reported. */
const LOAD_MS = 250;

/**
 * One worker process: the decision service behind a gRPC server. It accepts no connection before it can decide (see
 * `takesRequests`), because Envoy would send requests before its health check fails. It reports NOT_SERVING when it can no
 * longer decide, and exits when its supervisor has exited.
 */
async function runWorker(planFile: string, index: number): Promise<void> {
  const plan = JSON.parse(readFileSync(planFile, "utf8")) as WorkerPlan;
  const listen = plan.listen[index];
  if (listen === undefined) throw new Error(`the plan has no worker ${index}`);
  const log = createLog({ level: plan.config.telemetry.log_level, name: `worker-${index}` });
  const metrics = createMetrics();
  startAtZero(metrics);
  const service = await createService(plan.config, {
    metrics,
    log,
    worker: index,
    stateDirectory: plan.stateDirectory,
    hearsEnvoy: isOurs(listen, plan.tls),
    broadcast: (message) => {
      channel.send(message);
    },
    sendRelease: (report) => {
      channel.send(report);
    },
    sendCounts: (message) => {
      channel.send(message);
    },
  });
  const health = new HealthState();
  let server: Promise<AuthzServer> | undefined;
  const startServer = () =>
    startAuthzServer({
      listen,
      check: service.check,
      ...(isOurs(listen, plan.tls) && {
        accessLog: service.accessLog,
        ...(service.identify && { identify: service.identify }),
      }),
      health,
      log,
      ...(plan.tls && { tls: plan.tls }),
    });

  let authorizers: Promise<readonly Authorizers[]> | undefined;
  const http = plan.httpListen[index];
  const spop = plan.spopListen[index];
  // the first refusal is an increase
  if (http !== undefined)
    for (const cause of AUTHORIZER_REFUSALS) metrics.authorizersRefused.inc({ cause }, 0);
  const { haproxy, ...httpDoorCallers } = plan.config.authz.http_door_callers;
  const startOthers = (): Promise<readonly Authorizers[]> => {
    const shared = {
      callers: plan.config.authz.http_callers,
      decisionTimeout: plan.config.authz.decision_timeout,
      log,
      refused: (cause: AuthorizerRefusal) => {
        metrics.authorizersRefused.inc({ cause });
      },
    };
    const tls = plan.httpTls && { tls: plan.httpTls };
    return Promise.all([
      ...(http
        ? [
            startAuthorizers({
              ...shared,
              ...tls,
              listen: http,
              callersByPath: callersByPath(httpDoorCallers),
              doors: service.httpDoors,
              apis: service.httpApis,
            }),
          ]
        : []),
      ...(spop
        ? [
            startSpop({
              ...{ ...shared, listen: spop, ask: service.askHaproxy },
              ...(haproxy !== undefined && { doorCallers: haproxy }),
            }),
          ]
        : []),
    ]);
  };

  const channel = connectToSupervisor({
    metrics: () => metrics.registry.getMetricsAsJSON(),
    log,
    onMessage: (message) => {
      if (isReadyWorkers(message)) {
        anyReady = message.any;
        void look();
      } else service.onMessage(message);
    },
    async drain(graceMs) {
      clearInterval(timer);
      await Promise.all([
        server?.then((started) => started.close(graceMs)),
        authorizers?.then((started) => Promise.all(started.map((one) => one.close(graceMs)))),
      ]);
      await service.close();
    },
  });
  let [started, serving, ready, looking] = [false, false, false, false];
  let anyReady: boolean | undefined;
  let reported = "";
  const look = async () => {
    // not reported until the server listens
    if (looking) return;
    looking = true;
    const checks = service.readiness();
    const takes = takesRequests(checks, started, anyReady);
    if (takes !== serving) {
      if (takes) {
        await (server ??= startServer());
        await (authorizers ??= startOthers());
      }
      void authorizers?.then((started) => {
        for (const one of started) one.serve(takes);
      });
      serving = takes;
      health.set(serving);
    }
    looking = false;
    if (isReady(checks) !== ready) {
      ready = !ready;
      channel.serving(ready);
      if (ready) log.info({ checks }, "ready");
      else log.error({ checks, takes_requests: serving }, "not ready");
    }
    const report: ReadinessReport = { type: "readiness", checks };
    const text = JSON.stringify(report);
    if (text === reported) return;
    reported = text;
    channel.send(report);
  };
  // a server that fails to start ends the process, and the supervisor logs it
  // eslint-disable-next-line no-restricted-globals -- what fails here ends the process
  const timer = setInterval(() => void look(), READINESS_MS);
  const reportLoad = createLoadReporter((message) => {
    channel.send(message);
  });
  every(LOAD_MS, reportLoad, { what: "report the load", log });
  await service.start();
  started = true;
  const checks = service.readiness();
  // the supervisor supplies policies and logs itself why they are missing
  if (!isReady({ ...checks, policies: { ok: true, detail: "" } })) log.warn({ checks }, "not ready yet");
  await look();
}

/** Whether only our Envoy can reach the server: access-log entries from other callers are not trusted. */
function isOurs(listen: WorkerAddress, tls: WorkerPlan["tls"]): boolean {
  if ("unix" in listen || tls?.clientCa !== undefined) return true;
  return listen.host === "::1" || listen.host.startsWith("127.");
}

const [planFile, index] = process.argv.slice(2);
if (planFile === undefined || index === undefined)
  throw new Error("a worker can only be started by its supervisor");
await runWorker(planFile, Number(index));
