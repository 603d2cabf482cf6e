import { tokenSources, type GatewayConfig } from "../config/index.ts";
import { credentialPatterns } from "../identity/index.ts";
import type { EnvoyJson } from "./envoy-json.ts";

/**
 * Header matchers that all match a request without any credential; the service decides whether a credential is valid. The peer
 * is not known here: if there are trusted proxies, `X-User-Token` from any client counts as a credential.
 */
export function noCredential(config: GatewayConfig): readonly EnvoyJson[] {
  const credentials = credentialPatterns({
    trustedProxy: config.gateway.trusted_proxies.length > 0,
    ...tokenSources(config),
  });
  return credentials.map(({ header, pattern }) => ({
    name: header,
    string_match: { safe_regex: { regex: pattern } },
    treat_missing_header_as_empty: true,
    invert_match: true,
  }));
}
