import { status as GrpcStatus, type handleServerStreamingCall, type handleUnaryCall } from "@grpc/grpc-js";

/** Whether this process accepts checks. Initially false. */
export class HealthState {
  #serving = false;
  readonly #watchers = new Set<(serving: boolean) => void>();

  get serving(): boolean {
    return this.#serving;
  }

  set(serving: boolean): void {
    if (serving === this.#serving) return;
    this.#serving = serving;
    for (const watcher of [...this.#watchers]) watcher(serving);
  }

  /** Calls `watcher` at every change. Returns a function that removes it. */
  watch(watcher: (serving: boolean) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }
}

export interface HealthRequest {
  readonly service: string;
}
export interface HealthResponse {
  readonly status: "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";
}

/** grpc.health.v1.Health over a {@link HealthState}. */
export interface HealthService {
  readonly check: handleUnaryCall<HealthRequest, HealthResponse>;
  readonly watch: handleServerStreamingCall<HealthRequest, HealthResponse>;
  /** Ends every watch: a server with an open stream would never finish closing. */
  readonly end: () => void;
}

/** @param services - the known service names */
export function createHealthService(state: HealthState, services: readonly string[]): HealthService {
  const current = (): HealthResponse => ({ status: state.serving ? "SERVING" : "NOT_SERVING" });
  const endings = new Set<() => void>();
  return {
    check: ({ request }, callback) => {
      if (services.includes(request.service)) callback(null, current());
      else callback({ code: GrpcStatus.NOT_FOUND, details: "unknown service" });
    },
    watch: (call) => {
      const known = services.includes(call.request.service);
      const unwatch = known ? state.watch(() => call.write(current())) : () => undefined;
      const stop = () => {
        unwatch();
        endings.delete(end);
      };
      const end = () => {
        stop();
        call.end();
      };
      endings.add(end);
      call.on("cancelled", stop);
      call.write(known ? current() : { status: "SERVICE_UNKNOWN" });
    },
    end: () => {
      for (const end of [...endings]) end();
    },
  };
}
