import type { GatewayConfig } from "../../config/index.ts";
import { cannotListen, hostPort } from "../../startup/index.ts";
import { startAdminServer } from "../../telemetry/admin-server.ts";
import type { Log } from "../../telemetry/log.ts";
import {
  createControlPlaneMetrics,
  type ControlPlaneMetrics,
} from "../../telemetry/control-plane-metrics.ts";

/** The metrics of a control plane that runs alone. Beside a gateway, the gateway's supervisor serves them. */
export interface ServedMetrics {
  readonly metrics: ControlPlaneMetrics;
  /** Base URL of `/metrics`. */
  readonly url: string;
  close(): Promise<void>;
}

/** @throws Error with a one-line message if the port is in use */
export async function serveControlPlaneMetrics(
  { telemetry }: Pick<GatewayConfig, "telemetry">,
  log: Log,
): Promise<ServedMetrics> {
  const { listen_address: host, control_plane_port: port } = telemetry;
  const { registry, ...metrics } = createControlPlaneMetrics();
  const server = await startAdminServer({
    address: host,
    port,
    metrics: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
    log,
  }).catch(async (error: unknown) => {
    throw await cannotListen({ setting: "telemetry.control_plane_port", host, port }, error);
  });
  const url = `http://${hostPort(host, server.port)}`;
  log.info({ admin: url }, "metrics");
  return { metrics, url, close: () => server.close() };
}
