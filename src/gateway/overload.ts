import { totalmem } from "node:os";
import type { GatewayConfig } from "../config/index.ts";
import { extension, typed } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";

/** Maximum number of client connections; further ones are rejected, so that existing ones are still served. */
const MOST_CONNECTIONS = 50_000;

const MIB = 1024 * 1024;

/** Fraction of the memory of the machine or control group: the workers, the control plane and the application use the rest. */
const SHARE = 0.25;
const LEAST_HEAP = 256 * MIB;
const MOST_HEAP = 4096 * MIB;

/** Streams that use fewer bytes than this power of two are not tracked. */
const TRACKED_POWER_OF_TWO = 16;

const HEAP = "envoy.resource_monitors.fixed_heap";

/**
 * What Envoy does when its heap approaches the limit, so that clients cannot exhaust it: first it shortens the timeouts of slow
 * clients and resets the streams that use most memory, then it refuses new requests (503), and finally it closes connections
 * that still send data. Without a limit, 100 streams on each of 50,000 connections could each make it buffer 1 MiB or more.
 */
export function overloadManager(config: GatewayConfig): EnvoyJson {
  const limit = heapOf(config);
  return {
    // data that arrives between two checks adds to the limit
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
    // streams accepted earlier may keep sending: checked whenever a connection receives data
    loadshed_points: [
      action("load_shed_points.http1_server_abort_dispatch", { threshold: { value: 0.95 } }),
      action("load_shed_points.http2_server_go_away_and_close_on_dispatch", { threshold: { value: 0.95 } }),
    ],
  };
}

/** The heap that Envoy may use, in bytes. */
export function heapOf(config: GatewayConfig): number {
  return config.gateway.performance.proxy_memory_limit ?? heapLimit();
}

function action(
  name: string,
  trigger: EnvoyJson,
): { readonly name: string; readonly triggers: readonly EnvoyJson[] } {
  return { name: `envoy.${name}`, triggers: [{ name: HEAP, ...trigger }] };
}

/** A fraction of the memory available to this process and its siblings. */
export function heapLimit(constrained = process.constrainedMemory(), machine = totalmem()): number {
  // 0, or more than the machine has, means that no limit is set
  const memory = constrained > 0 ? Math.min(constrained, machine) : machine;
  return Math.round(Math.min(MOST_HEAP, Math.max(LEAST_HEAP, memory * SHARE)));
}
