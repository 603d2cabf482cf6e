import type { GatewayConfig } from "../config/index.ts";
import { parseSocketAddress } from "../config/index.ts";
import { clusters } from "./clusters.ts";
import type { AuthzEndpoint } from "./clusters.ts";
import { socketAddress } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";
import { listener } from "./listener.ts";
import { overloadManager } from "./overload.ts";

export interface BootstrapOptions {
  /** One per worker. */
  readonly authzEndpoints: readonly AuthzEndpoint[];
  /** PEM bundle for verifying `https` peers, if there are any; see `systemCertificateAuthorities`. */
  readonly caFile?: string;
  /** Absolute path of the admin interface's Unix socket, used if `gateway.envoy_admin` is `off`. */
  readonly adminSocket?: string;
  /** Path of the file with the CORS headers of Envoy's own responses; without it they have none. */
  readonly corsFile?: string;
  /** Another copy of `envoy/lua`. */
  readonly luaDirectory?: string;
}

/**
 * Requests of one connection that Envoy starts per event-loop iteration, so that a client that sends hundreds at once over
 * HTTP/2 does not delay others.
 */
const REQUESTS_PER_TURN = 1;

/** A complete Envoy configuration (`envoy.config.bootstrap.v3.Bootstrap` as JSON). */
export function envoyBootstrap(config: GatewayConfig, options: BootstrapOptions): EnvoyJson {
  const { authzEndpoints, luaDirectory, corsFile, caFile } = options;
  return {
    node: { id: "gatehouse-gateway", cluster: "gatehouse" },
    ...admin(config, options.adminSocket),
    overload_manager: overloadManager(config),
    layered_runtime: {
      layers: [
        { name: "gateway", static_layer: { "http.max_requests_per_io_cycle": REQUESTS_PER_TURN } },
        // the limits of checks (check-limits.ts)
        { name: "admin", admin_layer: {} },
      ],
    },
    static_resources: {
      listeners: [listener(config, { luaDirectory, corsFile })],
      clusters: clusters(config, authzEndpoints, caFile),
    },
  };
}

function admin(config: GatewayConfig, socket: string | undefined): EnvoyJson {
  const tcp = parseSocketAddress(config.gateway.envoy_admin);
  if (tcp !== undefined) return { admin: { address: socketAddress(tcp.address, tcp.port) } };
  if (socket === undefined) return {};
  // accessible to the owner only
  return { admin: { address: { pipe: { path: socket, mode: 0o600 } } } };
}
