import { totalmem } from "node:os";
import type { GatewayConfig } from "../config/index.ts";
import { extension, typed } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";

/** Clients that may be connected at once; further ones are turned away, so that those who are there stay served. */
const MOST_CONNECTIONS = 50_000;

const MIB = 1024 * 1024;

/** Of the machine's memory, or of the control group's: the workers, the control plane and the application take the rest. */
const SHARE = 0.25;
const LEAST_HEAP = 256 * MIB;
const MOST_HEAP = 4096 * MIB;

/** Streams that hold less than this power of two of bytes are not looked for. */
const TRACKED_POWER_OF_TWO = 16;

const HEAP = "envoy.resource_monitors.fixed_heap";

/**
 * What Envoy does when its heap comes near its limit, so that no caller can make it hold more: first it waits less for slow
 * clients and ends the streams that hold most, then it takes no further request (503), and at last it ends connections that
 * still deliver something. Without a limit, 100 streams of each of 50,000 connections could have it hold 1 MiB each and more.
 */
export function overloadManager(config: GatewayConfig): EnvoyJson {
  const limit = config.gateway.performance.proxy_memory_limit ?? heapLimit();
  return {
    // what arrives between two looks comes on top of the limit
    refresh_interval: "0.050s",
    buffer_factory_config: { minimum_account_to_track_power_of_two: TRACKED_POWER_OF_TWO },
    resource_monitors: [
      extension(HEAP, "envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig", {
        max_heap_size_bytes: limit,
      }),
      extension(
        "envoy.resource_monitors.global_downstream_max_connections",
        "envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
        { max_active_downstream_connections: MOST_CONNECTIONS },
      ),
    ],
    actions: [
      {
        ...action("overload_actions.reduce_timeouts", {
          scaled: { scaling_threshold: 0.6, saturation_threshold: 0.9 },
        }),
        typed_config: typed("envoy.config.overload.v3.ScaleTimersOverloadActionConfig", {
          timer_scale_factors: [
            { timer: "HTTP_DOWNSTREAM_CONNECTION_IDLE", min_timeout: "1s" },
            { timer: "HTTP_DOWNSTREAM_STREAM_IDLE", min_timeout: "2s" },
            { timer: "TRANSPORT_SOCKET_CONNECT", min_timeout: "1s" },
          ],
        }),
      },
      action("overload_actions.reset_high_memory_stream", {
        scaled: { scaling_threshold: 0.6, saturation_threshold: 0.95 },
      }),
      action("overload_actions.shrink_heap", { threshold: { value: 0.8 } }),
      action("overload_actions.disable_http_keepalive", { threshold: { value: 0.85 } }),
      action("overload_actions.stop_accepting_requests", { threshold: { value: 0.9 } }),
    ],
    // streams that were accepted before may go on sending: looked at whenever a connection delivers something
    loadshed_points: [
      action("load_shed_points.http1_server_abort_dispatch", { threshold: { value: 0.95 } }),
      action("load_shed_points.http2_server_go_away_and_close_on_dispatch", { threshold: { value: 0.95 } }),
    ],
  };
}

function action(
  name: string,
  trigger: EnvoyJson,
): { readonly name: string; readonly triggers: readonly EnvoyJson[] } {
  return { name: `envoy.${name}`, triggers: [{ name: HEAP, ...trigger }] };
}

/** A share of what there is for this process and its neighbours. */
export function heapLimit(constrained = process.constrainedMemory(), machine = totalmem()): number {
  // 0, or more than the machine has: no limit is set
  const memory = constrained > 0 ? Math.min(constrained, machine) : machine;
  return Math.round(Math.min(MOST_HEAP, Math.max(LEAST_HEAP, memory * SHARE)));
}
