import { Command } from "commander";
import { startControlPlane, type ControlPlane } from "../processes/control-plane/start.ts";
import { serveControlPlaneMetrics } from "../processes/control-plane/metrics.ts";
import { controlPlaneLog } from "./control-plane-log.ts";
import { ownerLines } from "./owner-link.ts";
import { CONFIG_OPTION, DATA_DIR_OPTION, loadConfig, portOption } from "./options.ts";
import { untilSignal } from "./run.ts";

interface ControlPlaneOptions {
  readonly config?: string;
  readonly port?: number;
  readonly sandboxPort?: number;
  readonly adminPort?: number;
  readonly dataDir?: string;
}

/** `gatehouse control-plane`: the REST API for production and sandbox. */
export function controlPlaneCommand(): Command {
  return new Command("control-plane")
    .description("run the control plane: the REST API, for production and sandbox")
    .option(...CONFIG_OPTION)
    .option(
      "--port <port>",
      "port of the production environment (default: 8080; 0: any free port)",
      portOption,
    )
    .option("--sandbox-port <port>", "port of the sandbox environment (default: 8081)", portOption)
    .option("--admin-port <port>", "port of the metrics endpoint (default: 9091)", portOption)
    .option(...DATA_DIR_OPTION)
    .action(async (options: ControlPlaneOptions) => {
      const config = loadConfig(options.config, [], {
        "api.port": options.port,
        "api.sandbox_port": options.sandboxPort,
        "telemetry.control_plane_port": options.adminPort,
        "api.data_directory": options.dataDir,
      });
      const stopped = untilSignal();
      const log = controlPlaneLog(config);
      const served = await serveControlPlaneMetrics(config, log);
      try {
        const controlPlane = await startControlPlane(config, { log, metrics: served.metrics });
        process.stdout.write(announcement(controlPlane, options));
        await stopped;
        await controlPlane.close();
      } finally {
        await served.close();
      }
    });
}

/** The ready line, and the setup link until the environment has an owner. */
function announcement({ environments }: ControlPlane, options: ControlPlaneOptions): string {
  const addresses = environments.map(({ url, environment }) => `${url} (${environment})`).join(", ");
  const lines = ownerLines(environments, options);
  return [`gatehouse control plane ready on ${addresses}`, ...lines, ""].join("\n");
}
