import type { GatewayConfig } from "../../config/index.ts";
import { folderSource, type PolicySource } from "../../decision/policies/policy-source.ts";
import {
  apiKeyInFile,
  ControlPlaneClient,
  controlPlaneSource,
  fixedApiKey,
  StateFeed,
  type ApiKey,
} from "../../sync/index.ts";
import { provisionsOf } from "./provisions.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

/** A gateway process's link to the control plane that it syncs with. */
export interface ControlPlaneLink {
  readonly client: ControlPlaneClient;
  readonly feed: StateFeed;
  /** Starts syncing. Never rejects. */
  start(): Promise<void>;
  close(): void;
}

/** @returns `undefined` if no control plane is configured */
export function createControlPlaneLink(
  config: GatewayConfig,
  {
    metrics,
    log,
    waitSeconds,
  }: {
    readonly metrics: Metrics;
    readonly log: Log;
    /** How long the control plane may hold a response without news. */
    readonly waitSeconds?: number;
  },
): ControlPlaneLink | undefined {
  const { control_plane } = config;
  if (control_plane.url === undefined) return undefined;
  const apiKey = controlPlaneKey(config, log);
  const client = new ControlPlaneClient({ url: control_plane.url, apiKey });
  const { max_stale: maxStaleMs, key_refused_grace: keyRefusedGraceMs } = control_plane;
  const feed = new StateFeed(
    { maxStaleMs, keyRefusedGraceMs, ...(waitSeconds !== undefined && { waitSeconds }) },
    { client, metrics, log },
  );
  apiKey.onChange(() => {
    feed.askNow();
  });
  return {
    client,
    feed,
    start: () => feed.start(),
    close() {
      feed.close();
      apiKey.close();
      client.close();
    },
  };
}

/** Options of the supervisor's policy store. */
export function storeOptions(config: GatewayConfig, link: ControlPlaneLink | undefined) {
  const { policies } = config;
  return {
    source: policySource(config, link),
    policySet: policies.policy_set,
    refreshIntervalMs: policies.refresh_interval,
    caseSensitive: caseSensitive(config),
    provisions: provisionsOf(config),
  };
}

function policySource({ policies }: GatewayConfig, link: ControlPlaneLink | undefined): PolicySource {
  return policies.source === "control_plane" && link !== undefined
    ? controlPlaneSource(link.client, link.feed)
    : folderSource(policies.directory);
}

export function caseSensitive({ gateway }: GatewayConfig): boolean {
  return gateway.accept_ambiguous.some((entry) => entry === "letter_case");
}

/** @throws Error if the file is not readable; there is no sync without the key */
export function controlPlaneKey({ control_plane }: GatewayConfig, log: Log): ApiKey {
  const { api_key: key, api_key_file: file } = control_plane;
  return file === undefined ? fixedApiKey(key ?? "") : apiKeyInFile(file, log);
}
