import { DEFAULT_IDENTITY_HEADERS, type GatewayConfig } from "../config/index.ts";

/** Headers with which some applications replace the requested path. */
const OF_ANOTHER_PATH = ["x-original-url", "x-rewrite-url"];
/** Prefixes of headers that only the gateway and Envoy set, for each other and for applications. */
export const OWN_PREFIXES: readonly string[] = ["x-gatehouse-", "x-envoy-"];

/** Header names, in lower case, that Envoy removes from every client request before the check. */
export function namesNotFromClients({ identity }: GatewayConfig): ReadonlySet<string> {
  return new Set([
    ...Object.keys(identity.headers),
    ...Object.keys(DEFAULT_IDENTITY_HEADERS),
    ...OF_ANOTHER_PATH,
  ]);
}

/** Whether the gateway's listener uses TLS. */
export function speaksTls({ gateway: { security } }: GatewayConfig): boolean {
  return security.tls_certificate !== undefined && security.tls_private_key !== undefined;
}
