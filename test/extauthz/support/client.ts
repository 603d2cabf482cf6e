import {
  Client,
  credentials,
  Metadata,
  type ChannelCredentials,
  type ClientOptions,
  type ServiceError,
  status,
} from "@grpc/grpc-js";

const same = (bytes: Buffer) => bytes;

interface CallOptions {
  readonly deadlineMs?: number;
  readonly cancel?: AbortSignal;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A gRPC client that speaks in bytes, over a connection of its own. */
export function connectClient(
  target: string,
  channel: ChannelCredentials = credentials.createInsecure(),
  options: ClientOptions = {},
) {
  const client = new Client(target, channel, {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": 64 * 1024 * 1024,
    "grpc.initial_reconnect_backoff_ms": 20,
    "grpc.max_reconnect_backoff_ms": 50,
    ...options,
  });
  const unary = (
    path: string,
    request: Buffer,
    { deadlineMs = 10_000, cancel, metadata = {} }: CallOptions = {},
  ) =>
    new Promise<Buffer>((resolve, reject) => {
      const call = client.makeUnaryRequest(
        path,
        same,
        same,
        request,
        Metadata.fromHttp2Headers(metadata),
        { deadline: Date.now() + deadlineMs },
        (error, answer) => {
          if (error) reject(error);
          else resolve(answer ?? Buffer.alloc(0));
        },
      );
      cancel?.addEventListener("abort", () => {
        call.cancel();
      });
    });
  return {
    check: (request: Buffer, options?: CallOptions) =>
      unary("/envoy.service.auth.v3.Authorization/Check", request, options),
    /** The serving status as a number: 1 serving, 2 not serving, 3 unknown. */
    health: async (service = "") => (await unary("/grpc.health.v1.Health/Check", healthRequest(service)))[1],
    watch: (service: string) =>
      client.makeServerStreamRequest("/grpc.health.v1.Health/Watch", same, same, healthRequest(service)),
    /** A stream of access logs; `ended` is the code it ends with. */
    accessLogs: () => {
      const { promise: ended, resolve } = Promise.withResolvers<status>();
      const stream = client.makeClientStreamRequest(
        "/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs",
        same,
        same,
        (error) => {
          resolve(error?.code ?? status.OK);
        },
      );
      stream.on("error", () => undefined);
      return { stream, ended };
    },
    call: unary,
    close: () => {
      client.close();
    },
  };
}

export type TestClient = ReturnType<typeof connectClient>;

const healthRequest = (service: string) =>
  Buffer.concat([Buffer.from([0x0a, service.length]), Buffer.from(service)]);

/** The gRPC status code that a call ended with. */
export async function codeOf(call: Promise<unknown>): Promise<status> {
  try {
    await call;
    return status.OK;
  } catch (error) {
    return (error as ServiceError).code;
  }
}

/** Waits until `condition` holds; fails after a minute. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what}: not within a minute`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
