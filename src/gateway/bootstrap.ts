import type { GatewayConfig } from "../config/index.ts";
import { parseSocketAddress } from "../config/index.ts";
import { clusters } from "./clusters.ts";
import type { AuthzEndpoint } from "./clusters.ts";
import { extension, socketAddress } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";
import { listener } from "./listener.ts";

export interface BootstrapOptions {
  /** One a worker. */
  readonly authzEndpoints: readonly AuthzEndpoint[];
  /** Absolute path of a file made by `writeRoutes`, which Envoy watches. Absent: routes that never hand over a body. */
  readonly routesFile?: string;
  /** PEM bundle to verify `https` peers with, where there are any; see `systemCertificateAuthorities`. */
  readonly caFile?: string;
  /** Absolute path of the admin interface's Unix socket, used where `gateway.envoy_admin` is `off`. */
  readonly adminSocket?: string;
  /** Another copy of `envoy/lua`. */
  readonly luaDirectory?: string;
}

/** Clients that may be connected at once; further ones are turned away, so that those who are there stay served. */
const MOST_CONNECTIONS = 50_000;

/** A complete Envoy configuration (`envoy.config.bootstrap.v3.Bootstrap` as JSON). */
export function envoyBootstrap(config: GatewayConfig, options: BootstrapOptions): EnvoyJson {
  const { authzEndpoints, routesFile, luaDirectory, caFile } = options;
  return {
    node: { id: "gatehouse-gateway", cluster: "gatehouse" },
    ...admin(config, options.adminSocket),
    overload_manager: {
      resource_monitors: [
        extension(
          "envoy.resource_monitors.global_downstream_max_connections",
          "envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
          { max_active_downstream_connections: MOST_CONNECTIONS },
        ),
      ],
    },
    static_resources: {
      listeners: [listener(config, { routesFile, luaDirectory })],
      clusters: clusters(config, authzEndpoints, caFile),
    },
  };
}

function admin(config: GatewayConfig, socket: string | undefined): EnvoyJson {
  const tcp = parseSocketAddress(config.gateway.envoy_admin);
  if (tcp !== undefined) return { admin: { address: socketAddress(tcp.address, tcp.port) } };
  if (socket === undefined) return {};
  // the owner only: 0600
  return { admin: { address: { pipe: { path: socket, mode: 0o600 } } } };
}
