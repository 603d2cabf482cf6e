import { startEnvoy, type EnvoyProcess } from "../../../src/gateway/envoy-process.ts";
import { envoyBinary } from "../../support/envoy.ts";

const TYPE = "type.googleapis.com/envoy.extensions";

/**
 * An Envoy whose Lua notes what a request's `x-note` says (`<filter> <key> <value>`, one a line), answers `hello`, and
 * whose access log goes to a Unix socket.
 */
export async function startLoggingEnvoy(socket: string, runtimeDirectory: string): Promise<EnvoyProcess> {
  const silent = () => undefined;
  return startEnvoy({
    binary: await envoyBinary(),
    runtimeDirectory,
    concurrency: 1,
    log: { info: silent, warn: silent, error: silent },
    bootstrap: bootstrap(socket),
  });
}

const NOTE = `
function envoy_on_request(handle)
  local metadata = handle:streamInfo():dynamicMetadata()
  local notes = handle:headers():getAtIndex("x-note", 0) or ""
  for filter, key, value in notes:gmatch("(%S+) (%S+) ([^|]*)|") do metadata:set(filter, key, value) end
end
`;

function bootstrap(socket: string) {
  const manager = {
    "@type": `${TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "logging",
    access_log: [
      {
        name: "envoy.access_loggers.http_grpc",
        typed_config: {
          "@type": `${TYPE}.access_loggers.grpc.v3.HttpGrpcAccessLogConfig`,
          common_config: {
            log_name: "gatehouse",
            transport_api_version: "V3",
            grpc_service: { envoy_grpc: { cluster_name: "service" } },
            buffer_flush_interval: "0.020s",
          },
        },
      },
    ],
    http_filters: [
      {
        name: "envoy.filters.http.lua",
        typed_config: {
          "@type": `${TYPE}.filters.http.lua.v3.Lua`,
          default_source_code: { inline_string: NOTE },
        },
      },
      {
        name: "envoy.filters.http.router",
        typed_config: { "@type": `${TYPE}.filters.http.router.v3.Router` },
      },
    ],
    route_config: {
      virtual_hosts: [
        {
          name: "all",
          domains: ["*"],
          routes: [
            {
              match: { prefix: "/" },
              direct_response: { status: 418, body: { inline_string: "hello" } },
            },
          ],
        },
      ],
    },
  };
  return {
    static_resources: {
      listeners: [
        {
          name: "gateway",
          address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
          filter_chains: [
            { filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }] },
          ],
        },
      ],
      clusters: [
        {
          name: "service",
          type: "STATIC",
          load_assignment: {
            cluster_name: "service",
            endpoints: [{ lb_endpoints: [{ endpoint: { address: { pipe: { path: socket } } } }] }],
          },
          typed_extension_protocol_options: {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
              "@type": `${TYPE}.upstreams.http.v3.HttpProtocolOptions`,
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
        },
      ],
    },
  };
}
