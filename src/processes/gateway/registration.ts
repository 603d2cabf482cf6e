import { hostname } from "node:os";
import type { GatewayConfig } from "../../config/index.ts";
import type { Snapshot } from "../../decision/policies/snapshot.ts";
import { ControlPlaneClient, Registrar, type RegisteredState } from "../../sync/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { controlPlaneKey } from "./control-plane-link.ts";

export interface RegistrationDependencies {
  readonly kind: "gateway" | "authz";
  readonly version: string;
  readonly address: () => string;
  readonly policies: () => {
    readonly stable: Snapshot | undefined;
    readonly rollout: RegisteredState["rollout"];
  };
  readonly workers: () => RegisteredState["workers"];
  readonly log: Log;
}

/** A fleet of a thousand gateways would not be asked more often. */
const LEAST_INTERVAL_MS = 1_000;

/** @returns `undefined` with `gateway.cluster.coordination: local` */
export function createRegistrar(
  config: GatewayConfig,
  { kind, version, address, policies, workers, log }: RegistrationDependencies,
): { start(): void; close(): Promise<void> } | undefined {
  const { gateway, control_plane } = config;
  const { coordination, health_check_interval: interval } = gateway.cluster;
  if (coordination !== "control_plane" || control_plane.url === undefined) return undefined;
  const apiKey = controlPlaneKey(config, log);
  const client = new ControlPlaneClient({ url: control_plane.url, apiKey });
  const registrar = new Registrar(
    {
      ...{ id: gatewayId(config, kind), kind, version, address },
      intervalMs: Math.max(LEAST_INTERVAL_MS, interval),
      state: () => {
        const { stable, rollout } = policies();
        return { policies: enforced(config, stable), rollout, workers: workers() };
      },
    },
    { client, log },
  );
  return {
    start() {
      registrar.start();
    },
    async close() {
      await registrar.close();
      apiKey.close();
      client.close();
    },
  };
}

/** @returns the id of this gateway among those of its key */
export function gatewayId({ gateway, authz }: GatewayConfig, kind: "gateway" | "authz"): string {
  if (gateway.cluster.id !== undefined) return gateway.cluster.id;
  // gateways of one machine listen on different ports
  const at = kind === "gateway" ? String(gateway.listen_port) : authz.listen;
  return `${hostname()}:${at}`.replaceAll(/[^\x21-\x7e]/g, "_").slice(0, 200);
}

function enforced({ policies }: GatewayConfig, stable: Snapshot | undefined): RegisteredState["policies"] {
  return {
    ...{ source: policies.source, set: policies.policy_set },
    ...{ version: stable?.ir.version ?? null, digest: stable?.digest ?? null },
  };
}
