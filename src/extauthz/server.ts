import { createServer, type Socket } from "node:net";
import { Server, status as GrpcStatus, type handleUnaryCall, type ServerOptions } from "@grpc/grpc-js";
import { GIVEN_UP, type IdentifyConnection } from "../decision/point/index.ts";
import { CALL_HEADER } from "../envoy-contract.ts";
import type { JobLog } from "../runtime/every.ts";
import { inTime } from "../runtime/in-time.ts";
import type { AccessLogHandler } from "./access-log.ts";
import { createAccessLogService } from "./access-log-service.ts";
import { allowCancelledCalls } from "./cancelled-calls.ts";
import { CONNECTION_SERVICE, identifyHandler } from "./connection-service.ts";
import { createHealthService, type HealthState } from "./health.ts";
import { loadServerCredentials, type TlsFiles } from "./server-credentials.ts";
import { AUTHORIZATION_SERVICE, loadDefinitions } from "./server-definitions.ts";
import { listen, type ListenAddress } from "./server-socket.ts";

export type { TlsFiles } from "./server-credentials.ts";
export type { ListenAddress } from "./server-socket.ts";

/** Metadata of the call. */
export interface CheckContext {
  /** Deadline; Unix ms, or Infinity. */
  readonly deadline: number;
  /** W3C trace context of the call itself: Envoy's span for this call, if it traces. */
  readonly traceparent?: string;
  /** Whether the caller has cancelled the call. */
  readonly isCancelled?: () => boolean;
  /** Milliseconds from the start of the request to the call; only from our own Envoy, on this machine. */
  readonly askedAfter?: number;
}

/** Answers one check: CheckRequest bytes in, CheckResponse bytes out. */
export type CheckHandler = (bytes: Buffer, context: CheckContext) => CheckAnswer | Promise<CheckAnswer>;
export type CheckAnswer = Buffer | typeof GIVEN_UP;

export interface AuthzServerOptions {
  readonly listen: ListenAddress;
  readonly tls?: TlsFiles;
  readonly check: CheckHandler;
  /** Without it the server has no access log service. */
  readonly accessLog?: AccessLogHandler;
  /** Identifies the clients of connections by their first messages; only if nobody but our Envoy can reach the server. */
  readonly identify?: IdentifyConnection;
  readonly health: HealthState;
  readonly log: JobLog;
  /** How often the TLS files are reloaded; ms. */
  readonly tlsRefreshMs?: number;
}

export interface AuthzServer {
  /** IP address, or the socket's absolute path. */
  readonly address: string;
  /** 0 on a Unix socket. */
  readonly port: number;
  /**
   * Reports NOT_SERVING, keeps answering for up to `graceMs` (less if every client disconnects), then accepts no more and
   * gives current checks another second.
   */
  close(graceMs: number): Promise<void>;
}

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** How long current checks may take once no new ones are accepted. */
const FINISH_MS = 1_000;

const OPTIONS: ServerOptions = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  // Detects a peer that vanished without closing, and closes its streams.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // Book-keeping for a debugging service that this server does not offer.
  "grpc.enable_channelz": 0,
};

/**
 * Serves envoy.service.auth.v3.Authorization, envoy.service.accesslog.v3.AccessLogService and grpc.health.v1.Health.
 *
 * Sockets are accepted here and handed to grpc-js, so that a Unix socket has its mode from the start, and shutdown knows
 * when the last client has disconnected.
 *
 * @throws if it cannot listen there, or the TLS files are not usable
 */
export async function startAuthzServer(options: AuthzServerOptions): Promise<AuthzServer> {
  const { health, log } = options;
  // over a Unix socket: an Envoy on another machine would have another clock
  const checks = new Checks(options, options.accessLog !== undefined && "unix" in options.listen);
  const healthService = createHealthService(health, ["", AUTHORIZATION_SERVICE]);
  const accessLogService = options.accessLog && createAccessLogService(options.accessLog);
  const definitions = loadDefinitions();
  const { credentials, stop: stopCredentials } = await loadServerCredentials(
    options.tls,
    log,
    options.tlsRefreshMs,
  );

  const grpc = new Server(OPTIONS);
  allowCancelledCalls(grpc);
  grpc.addService(definitions.authorization, { Check: checks.handle });
  if (accessLogService) grpc.addService(definitions.accessLog, { StreamAccessLogs: accessLogService.stream });
  if (options.identify) grpc.addService(CONNECTION_SERVICE, { Identify: identifyHandler(options.identify) });
  grpc.addService(definitions.health, { Check: healthService.check, Watch: healthService.watch });
  const injector = grpc.createConnectionInjector(credentials);
  const connections = new Set<Socket>();
  let lastGone = (): void => undefined;
  // A client that has closed its half, or was killed, does not wait for a response: close the connection.
  const listener = createServer({ allowHalfOpen: false, noDelay: true }, (socket) => {
    connections.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      connections.delete(socket);
      if (connections.size === 0) lastGone();
    });
    injector.injectConnection(socket);
  });

  const destroy = () => {
    stopCredentials();
    grpc.forceShutdown();
    for (const socket of connections) socket.destroy();
  };
  let bound: { address: string; port: number };
  try {
    bound = await listen(listener, options.listen);
  } catch (error) {
    destroy();
    throw error;
  }

  const whenLastGone = () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    lastGone = () => {
      resolve(undefined);
    };
    if (connections.size === 0) lastGone();
    return promise;
  };
  const drain = async (graceMs: number): Promise<void> => {
    health.set(false);
    await inTime(whenLastGone(), graceMs, undefined);
    listener.close();
    checks.refuse();
    const gone = whenLastGone();
    healthService.end();
    accessLogService?.end();
    // Each session closes when its streams have ended. grpc-js would call back earlier: on Node 24, closing an HTTP/2 server
    // marks its sessions closed at once.
    grpc.tryShutdown(() => undefined);
    await inTime(gone, FINISH_MS, undefined);
    destroy();
  };
  let closing: Promise<void> | undefined;
  return { ...bound, close: (graceMs) => (closing ??= drain(graceMs)) };
}

/** Runs checks. Each call ends with the check's response or with an error, which Envoy treats as a denial. */
class Checks {
  readonly #check: CheckHandler;
  readonly #log: AuthzServerOptions["log"];
  /** The caller is our own Envoy, whose access log this server receives. */
  readonly #trusted: boolean;
  #refusing = false;

  constructor({ check, log }: Pick<AuthzServerOptions, "check" | "log">, trusted: boolean) {
    this.#check = check;
    this.#log = log;
    this.#trusted = trusted;
  }

  refuse(): void {
    this.#refusing = true;
  }

  readonly handle: handleUnaryCall<Buffer, Buffer> = (call, callback) => {
    if (this.#refusing) {
      callback({ code: GrpcStatus.UNAVAILABLE, details: "the service is stopping" });
      return;
    }
    const fail = (error: unknown) => {
      this.#log.error({ err: error }, "a check failed without a response");
      callback({ code: GrpcStatus.INTERNAL, details: "the check failed" });
    };
    const reply = (answer: CheckAnswer) => {
      if (answer === GIVEN_UP) {
        callback({ code: GrpcStatus.DEADLINE_EXCEEDED, details: "nobody waits for the answer" });
        return;
      }
      // Empty bytes are a valid CheckResponse without a status, which permits the request.
      if (!Buffer.isBuffer(answer) || answer.length === 0)
        fail(new Error("the check returned an empty response"));
      else callback(null, answer);
    };
    try {
      const deadline = Number(call.getDeadline());
      const [traceparent] = call.metadata.get("traceparent");
      const isCancelled = () => call.cancelled;
      const askedAfter = this.#trusted ? call.metadata.get(CALL_HEADER.askedAfter)[0] : undefined;
      const context = {
        deadline,
        isCancelled,
        ...(typeof traceparent === "string" && { traceparent }),
        ...(typeof askedAfter === "string" &&
          /^\d{1,12}$/.test(askedAfter) && { askedAfter: Number(askedAfter) }),
      };
      const answer = this.#check(call.request, context);
      if (answer instanceof Promise) answer.then(reply, fail);
      else reply(answer);
    } catch (error) {
      fail(error);
    }
  };
}
