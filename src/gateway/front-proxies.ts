import type { GatewayConfig } from "../config/index.ts";
import { extension, overwrite } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";

/** Whether the service believes what some peers say about a request in its headers. */
export function believesHeaders({ gateway }: GatewayConfig): boolean {
  return gateway.trusted_proxies.length > 0 && gateway.proxy_protocol !== "tcp";
}

/** Whether Envoy alone knows who the client is, because no header that a peer sends can say it. */
export function knowsClient(config: GatewayConfig): boolean {
  return !believesHeaders(config) || config.gateway.proxy_protocol === "http";
}

/** The other end of the connection or, with the PROXY protocol, what that says. Envoy has not read X-Forwarded-For yet. */
export const CLIENT_ADDRESS: EnvoyJson = {
  append: overwrite({ key: "x-forwarded-for", value: "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%" }),
};

/** With `proxy_protocol`, connections without a PROXY header, version 1 or 2, are closed. */
export function proxyProtocol({ gateway }: GatewayConfig): EnvoyJson {
  if (gateway.proxy_protocol === "off") return {};
  const name = "envoy.filters.listener.proxy_protocol";
  const type = "envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol";
  return { listener_filters: [extension(name, type, {})] };
}

/**
 * With `proxy_protocol`, no filter chain matches connections of other peers, so Envoy closes them: otherwise they could say
 * anything about who they are. The direct source is the connection's real other end, whatever the PROXY header says.
 */
export function onlyFromProxies({ gateway }: GatewayConfig): EnvoyJson {
  if (gateway.proxy_protocol === "off") return {};
  return { filter_chain_match: { direct_source_prefix_ranges: gateway.trusted_proxies.map(range) } };
}

function range(cidr: string): EnvoyJson {
  const [address = "", bits] = cidr.split("/");
  return { address_prefix: address, prefix_len: Number(bits ?? (address.includes(":") ? 128 : 32)) };
}
