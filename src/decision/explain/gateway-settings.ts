import { createOriginCheck } from "../decide/origin-check.ts";
import { createForgedHeaders, withoutHeaders, type ForgedHeadersOptions } from "../headers/forged-headers.ts";
import type { RawRequest } from "../../request/index.ts";
import type { OfflineSettings } from "./offline.ts";
import { throughEnvoy, type EnvoySettings, type ThroughEnvoy } from "./through-envoy.ts";

/** The settings of a gateway, as far as a decision depends on them. */
export interface GatewaySettings {
  readonly envoy: EnvoySettings;
  /** The headers that no client may send. */
  readonly forged: ForgedHeadersOptions;
  readonly decisions: OfflineSettings;
  /** Paths that differ only in letter case are different. */
  readonly caseSensitive: boolean;
}

/** What rules see of a request that a client sends: Envoy changes or refuses it, and forged headers are removed. */
export function receive(sent: RawRequest, { envoy, forged }: GatewaySettings, peer: string): ThroughEnvoy {
  const through = throughEnvoy(sent, envoy, peer);
  if (!through.ok) return through;
  const { raw } = through;
  return { ok: true, raw: withoutHeaders(raw, createForgedHeaders(forged)(raw.headers)) };
}

const IDENTITY_HEADERS = [
  "x-user-id",
  "x-user-email",
  "x-user-role",
  "x-user-permissions",
  "x-user-department",
  "x-customer-id",
];

/**
 * A gateway without settings of its own, for where there is no `gateway.yaml` to read: in a browser. A test compares it with
 * the defaults of the configuration.
 */
export const USUAL_GATEWAY: GatewaySettings = {
  envoy: {
    tls: false,
    believesHeaders: false,
    removed: [...IDENTITY_HEADERS, "x-original-url", "x-rewrite-url"],
    removedPrefixes: ["x-gatehouse-", "x-envoy-"],
    largestRequest: 10_000_000,
  },
  forged: { names: IDENTITY_HEADERS, prefixes: ["x-user-", "x-customer-"], accepted: [], read: [] },
  decisions: {
    frontProxy: {
      trustedProxies: [],
      backends: [],
      forwardedHeaders: ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"],
      clientHeaders: [],
    },
    originCheck: createOriginCheck([]),
    tokens: {},
    accept: { switchedOff: new Set(), under: [] },
    environment: "production",
    limits: { response: 10_000_000, message: 1_000_000 },
    routes: { usual: [30_000, 86_400_000, 60_000, 300_000, 300_000, 10_000_000, 10_000_000], routes: [] },
  },
  caseSensitive: false,
};
