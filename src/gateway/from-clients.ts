import { DEFAULT_IDENTITY_HEADERS, type GatewayConfig } from "../config/index.ts";

/** Headers by which some applications take a request for another path than was asked for. */
const OF_ANOTHER_PATH = ["x-original-url", "x-rewrite-url"];
/** What begins so, the gateway and Envoy say to each other and to applications. */
export const OWN_PREFIXES: readonly string[] = ["x-gatehouse-", "x-envoy-"];

/** Names of headers, in lower case, that Envoy takes from every client's request before anybody is asked. */
export function namesNotFromClients({ identity }: GatewayConfig): ReadonlySet<string> {
  return new Set([
    ...Object.keys(identity.headers),
    ...Object.keys(DEFAULT_IDENTITY_HEADERS),
    ...OF_ANOTHER_PATH,
  ]);
}

/** Whether the gateway's listener speaks TLS. */
export function speaksTls({ gateway: { security } }: GatewayConfig): boolean {
  return security.tls_certificate !== undefined && security.tls_private_key !== undefined;
}
