import type { GatewayConfig } from "../config/index.ts";
import { credentialPatterns } from "../identity/index.ts";
import type { EnvoyJson } from "./envoy-json.ts";

/**
 * Header matchers that all hold for a request without any credential; whether a credential is good, the service says. Here
 * nobody knows who the peer is: where there are trusted proxies, `X-User-Token` counts from anybody.
 */
export function noCredential(config: GatewayConfig): readonly EnvoyJson[] {
  const { cookie } = config.identity;
  const credentials = credentialPatterns({
    trustedProxy: config.gateway.trusted_proxies.length > 0,
    ...(cookie !== undefined && { cookie }),
  });
  return credentials.map(({ header, pattern }) => ({
    name: header,
    string_match: { safe_regex: { regex: pattern } },
    treat_missing_header_as_empty: true,
    invert_match: true,
  }));
}
