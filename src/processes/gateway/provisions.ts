import { DEFAULT_IDENTITY_HEADERS, tokenSources, type GatewayConfig } from "../../config/index.ts";
import type { ForgedHeadersOptions } from "../../decision/headers/forged-headers.ts";
import type { Provisions } from "../../decision/policies/not-provided.ts";
import { DEFAULT_CLAIMS, tokenHeaders } from "../../identity/index.ts";

/** The attributes and headers that the configuration provides for policy sets. */
export function provisionsOf(config: GatewayConfig): Provisions {
  const { identity, attribute_sources } = config;
  return {
    sources: Object.keys(attribute_sources),
    claims: [...new Set([...Object.keys(DEFAULT_CLAIMS), ...Object.keys(identity.claims)])],
    headers: forgedHeadersOf(config),
    identityHeaders: identity.headers,
  };
}

/** The headers that no client may send. */
export function forgedHeadersOf(config: GatewayConfig): ForgedHeadersOptions {
  const { identity } = config;
  return {
    names: [...Object.keys(identity.headers), ...Object.keys(DEFAULT_IDENTITY_HEADERS)],
    prefixes: identity.header_prefixes,
    accepted: identity.client_headers,
    read: tokenHeaders(tokenSources(config)),
  };
}
